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

/** A stepped line with more numbers than this is not dashed. */
const DASHED = 1200;

/** A surface on a canvas whose context is scaled to CSS pixels. */
export class CanvasSurface implements Surface {
  readonly pixel: number;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    ratio: number,
  ) {
    this.pixel = 1 / ratio;
  }

  move(x: number, y: number, draw: () => void): void {
    this.context.save();
    this.context.translate(x, y);
    draw();
    this.context.restore();
  }

  clip(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }

  boxes(boxes: Coords, colour: string, opacity = 1): void {
    const { context } = this;
    context.globalAlpha = opacity;
    context.fillStyle = colour;
    const { data, length } = boxes;
    // One call per box: a path of thousands of boxes is far slower in a software rasteriser.
    for (let i = 0; i < length; i += 4) context.fillRect(data[i], data[i + 1], data[i + 2], data[i + 3]);
    context.globalAlpha = 1;
  }

  line(corners: Coords, stroke: Stroke): void {
    const { context } = this;
    context.strokeStyle = stroke.colour;
    context.lineWidth = stroke.width;
    context.lineJoin = "miter";
    context.lineCap = "butt";
    context.setLineDash(stroke.dash ? [...stroke.dash] : []);
    context.beginPath();
    // A path's first `lineTo` only moves.
    for (let i = 0; i < corners.length; i += 2) context.lineTo(corners.data[i], corners.data[i + 1]);
    context.stroke();
    context.setLineDash([]);
  }

  steps(corners: Coords, stroke: Stroke): void {
    const { context, pixel } = this;
    // With this many corners, dashes would not be visible, and boxes on whole pixels are several times faster than an antialiased path.
    if (stroke.dash && corners.length < DASHED) {
      this.move(pixel / 2, pixel / 2, () => this.line(corners, stroke));
      return;
    }
    const wide = Math.max(Math.round(stroke.width / pixel), 1) * pixel;
    const half = Math.floor(wide / pixel / 2) * pixel;
    const { data, length } = corners;
    context.fillStyle = stroke.colour;
    for (let i = 2; i < length; i += 2) {
      const left = Math.min(data[i - 2], data[i]) - half;
      const top = Math.min(data[i - 1], data[i + 1]) - half;
      context.fillRect(left, top, Math.abs(data[i] - data[i - 2]) + wide, Math.abs(data[i + 1] - data[i - 1]) + wide);
    }
  }

  signs(places: Coords, shape: Shape, style: Style): void {
    const { context, pixel } = this;
    const stamp = stampOf(shape, style, pixel);
    const side = stamp.width * pixel;
    const snap = (at: number) => Math.round((at - side / 2) / pixel) * pixel;
    for (let i = 0; i < places.length; i += 2)
      context.drawImage(stamp, snap(places.data[i]), snap(places.data[i + 1]), side, side);
  }

  text(text: string, x: number, y: number, writing: Writing): void {
    const { context } = this;
    context.font = font(writing);
    context.fillStyle = writing.colour;
    context.textAlign = writing.align ?? "left";
    context.textBaseline = writing.baseline ?? "alphabetic";
    context.fillText(text, x, y);
  }

  measure(text: string, writing: Writing): number {
    this.context.font = font(writing);
    return this.context.measureText(text).width;
  }

  hatch(x: number, y: number, width: number, height: number, colour: string): void {
    this.clip(x, y, width, height, () => {
      const { context } = this;
      context.strokeStyle = colour;
      context.lineWidth = 1;
      context.beginPath();
      for (const offset of slants(x, width, height)) {
        context.moveTo(offset, y + height);
        context.lineTo(offset + height, y);
      }
      context.stroke();
    });
  }
}

const SLANT_PX = 9;

/** Start of the slanted lines over a box. It does not depend on the box, so that neighbours match. */
export function* slants(x: number, width: number, height: number): Generator<number> {
  for (let at = Math.floor((x - height) / SLANT_PX) * SLANT_PX; at < x + width; at += SLANT_PX) yield at;
}

function font(writing: Writing): string {
  return `${writing.bold ? "600 " : ""}${writing.size ?? FONT_SIZE}px ${FONT}`;
}

const stamps = new Map<string, HTMLCanvasElement>();

/** A sign is drawn once: copying it is several times faster than filling its path again. */
function stampOf(shape: Shape, style: Style, pixel: number): HTMLCanvasElement {
  const key = `${shape} ${style.colour} ${style.size} ${style.rim} ${pixel}`;
  const known = stamps.get(key);
  if (known) return known;
  const { lines, area } = OUTLINES[shape];
  const stamp = document.createElement("canvas");
  const half = style.size / 2;
  const middle = half + 3;
  stamp.width = Math.ceil((2 * middle) / pixel);
  stamp.height = stamp.width;
  const context = stamp.getContext("2d");
  if (!context) return stamp;
  context.scale(1 / pixel, 1 / pixel);
  context.beginPath();
  for (const line of lines) {
    context.moveTo(middle + half * line[0], middle + half * line[1]);
    for (let j = 2; j < line.length; j += 2) context.lineTo(middle + half * line[j], middle + half * line[j + 1]);
    if (area) context.closePath();
  }
  if (style.rim !== undefined) {
    context.strokeStyle = style.rim;
    context.lineWidth = area ? 1.5 : 3.5;
    context.stroke();
  }
  context.fillStyle = style.colour;
  context.strokeStyle = style.colour;
  context.lineWidth = 1.5;
  if (area) context.fill();
  else context.stroke();
  stamps.set(key, stamp);
  return stamp;
}
