import { slants } from "./canvas";
import {
  type Coords,
  FONT,
  FONT_SIZE,
  OUTLINES,
  type Shape,
  type Stroke,
  type Style,
  type Surface,
  type Writing,
} from "./surface";

/** A surface that writes SVG: true vectors, coordinates to a tenth of a pixel. */
export class SvgSurface implements Surface {
  /** A drawing is thinned to the details that half a pixel can show. */
  readonly pixel = 0.5;
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  /** The file. */
  toString(title: string, paper: string): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="${FONT}"><title>${escaped(title)}</title><rect width="100%" height="100%" fill="${paper}"/>${this.parts.join("")}</svg>\n`;
  }

  move(x: number, y: number, draw: () => void): void {
    this.parts.push(`<g transform="translate(${n(x)} ${n(y)})">`);
    draw();
    this.parts.push("</g>");
  }

  clip(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `clip${this.clips++}`;
    this.parts.push(
      `<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}"/></clipPath><g clip-path="url(#${id})">`,
    );
    draw();
    this.parts.push("</g>");
  }

  boxes(boxes: Coords, colour: string, opacity = 1): void {
    let path = "";
    const { data } = boxes;
    for (let i = 0; i < boxes.length; i += 4) {
      const width = n(data[i + 2]);
      path += `M${n(data[i])} ${n(data[i + 1])}h${width}v${n(data[i + 3])}h-${width}z`;
    }
    if (path) this.parts.push(`<path d="${path}" fill="${colour}"${opacity < 1 ? ` fill-opacity="${opacity}"` : ""}/>`);
  }

  line(corners: Coords, stroke: Stroke): void {
    let path = "";
    for (let i = 0; i < corners.length; i += 2)
      path += `${i === 0 ? "M" : "L"}${n(corners.data[i])} ${n(corners.data[i + 1])}`;
    const dash = stroke.dash ? ` stroke-dasharray="${stroke.dash.join(" ")}"` : "";
    if (path)
      this.parts.push(
        `<path d="${path}" fill="none" stroke="${stroke.colour}" stroke-width="${n(stroke.width)}"${dash}/>`,
      );
  }

  steps(corners: Coords, stroke: Stroke): void {
    this.line(corners, stroke);
  }

  signs(places: Coords, shape: Shape, style: Style): void {
    const { lines, area } = OUTLINES[shape];
    let path = "";
    for (let i = 0; i < places.length; i += 2) {
      for (const line of lines) {
        for (let j = 0; j < line.length; j += 2) {
          const x = places.data[i] + (style.size / 2) * line[j];
          const y = places.data[i + 1] + (style.size / 2) * line[j + 1];
          path += `${j === 0 ? "M" : "L"}${n(x)} ${n(y)}`;
        }
        if (area) path += "z";
      }
    }
    if (!path) return;
    if (style.rim !== undefined)
      this.parts.push(`<path d="${path}" fill="none" stroke="${style.rim}" stroke-width="${area ? 1.5 : 3.5}"/>`);
    const paint = area ? `fill="${style.colour}"` : `fill="none" stroke="${style.colour}" stroke-width="1.5"`;
    this.parts.push(`<path d="${path}" ${paint}/>`);
  }

  text(text: string, x: number, y: number, writing: Writing): void {
    const anchor = { left: "start", center: "middle", right: "end" }[writing.align ?? "left"];
    const size = writing.size ?? FONT_SIZE;
    // Not every reader of SVG knows dominant-baseline.
    const drop = { top: 0.8, middle: 0.35, alphabetic: 0 }[writing.baseline ?? "alphabetic"] * size;
    const weight = writing.bold ? ' font-weight="600"' : "";
    this.parts.push(
      `<text x="${n(x)}" y="${n(y + drop)}" font-size="${size}"${weight} text-anchor="${anchor}" fill="${writing.colour}">${escaped(text)}</text>`,
    );
  }

  measure(text: string, writing: Writing): number {
    return text.length * (writing.size ?? FONT_SIZE) * (writing.bold ? 0.58 : 0.54);
  }

  hatch(x: number, y: number, width: number, height: number, colour: string): void {
    let path = "";
    for (const at of slants(x, width, height)) path += `M${n(at)} ${n(y + height)}L${n(at + height)} ${n(y)}`;
    this.clip(x, y, width, height, () => this.parts.push(`<path d="${path}" fill="none" stroke="${colour}"/>`));
  }
}

function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
