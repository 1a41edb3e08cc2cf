/** The primitives of a drawing. One drawing code serves the screen, PNG (`canvas.ts`) and SVG (`svg.ts`). */

/** A growing list of numbers: corners of a line, or boxes as x, y, width, height. It is refilled without allocating memory. */
export class Coords {
  data = new Float64Array(1024);
  length = 0;

  clear(): this {
    this.length = 0;
    return this;
  }

  point(x: number, y: number): void {
    this.grow(2);
    this.data[this.length++] = x;
    this.data[this.length++] = y;
  }

  box(x: number, y: number, width: number, height: number): void {
    this.grow(4);
    this.data[this.length++] = x;
    this.data[this.length++] = y;
    this.data[this.length++] = width;
    this.data[this.length++] = height;
  }

  private grow(more: number): void {
    if (this.length + more <= this.data.length) return;
    const larger = new Float64Array(this.data.length * 2);
    larger.set(this.data);
    this.data = larger;
  }
}

export interface Stroke {
  readonly colour: string;
  /** px. */
  readonly width: number;
  readonly dash?: readonly number[];
}

/** A symbol that distinguishes a kind of point without colour. */
export type Shape = "triangle" | "diamond" | "cross" | "tick" | "disc" | "square" | "ring" | "bolt" | "wedge";

export interface Style {
  readonly colour: string;
  /** Full width, px. */
  readonly size: number;
  /** A rim separates symbols from the content below. */
  readonly rim?: string;
}

export interface Writing {
  readonly colour: string;
  /** px. */
  readonly size?: number;
  readonly bold?: boolean;
  readonly align?: "left" | "center" | "right";
  readonly baseline?: "top" | "middle" | "alphabetic";
}

export interface Surface {
  /** Side of the smallest dot that it shows, px. */
  readonly pixel: number;
  /** Moves the output of `draw` to another place. */
  move(x: number, y: number, draw: () => void): void;
  /** Clips the output of `draw` to the box. */
  clip(x: number, y: number, width: number, height: number, draw: () => void): void;
  boxes(boxes: Coords, colour: string, opacity?: number): void;
  line(corners: Coords, stroke: Stroke): void;
  /** A line of horizontal and vertical pieces only. */
  steps(corners: Coords, stroke: Stroke): void;
  signs(places: Coords, shape: Shape, style: Style): void;
  text(text: string, x: number, y: number, writing: Writing): void;
  /** Width of `text`, px. */
  measure(text: string, writing: Writing): number;
  /** Slanted lines over the box, so that a shade is distinguishable without colour. */
  hatch(x: number, y: number, width: number, height: number, colour: string): void;
}

/** Corners of each shape in a square from -1 to 1; strokes are open, areas closed. */
export const OUTLINES: Readonly<
  Record<Shape, { readonly lines: readonly (readonly number[])[]; readonly area: boolean }>
> = {
  triangle: { lines: [[0, -1, 1, 0.8, -1, 0.8]], area: true },
  diamond: { lines: [[0, -1, 1, 0, 0, 1, -1, 0]], area: true },
  square: { lines: [[-0.8, -0.8, 0.8, -0.8, 0.8, 0.8, -0.8, 0.8]], area: true },
  disc: { lines: [polygon(12)], area: true },
  ring: { lines: [[...polygon(16), ...polygon(16).slice(0, 2)]], area: false },
  cross: {
    lines: [
      [-1, -1, 1, 1],
      [-1, 1, 1, -1],
    ],
    area: false,
  },
  tick: { lines: [[0, -1, 0, 1]], area: false },
  wedge: { lines: [[-1, -0.8, 1, -0.8, 0, 1]], area: true },
  bolt: { lines: [[0.3, -1, -0.8, 0.25, -0.1, 0.25, -0.3, 1, 0.8, -0.3, 0.1, -0.3]], area: true },
};

function polygon(corners: number): number[] {
  return Array.from({ length: 2 * corners }, (_, i) => {
    const turn = (Math.floor(i / 2) / corners) * 2 * Math.PI;
    return i % 2 === 0 ? Math.cos(turn) : Math.sin(turn);
  });
}

/** The font family of all text; tabular digits keep columns of numbers aligned. */
export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', 'DejaVu Sans', sans-serif";
export const FONT_SIZE = 11;
