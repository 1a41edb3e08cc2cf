/** The relation between a slider's position, 0 to 1, and an exact field's text. */
import { parse, rounded, SPAN, write } from "./quantity";
import type { Shape } from "./schema";

export interface Scale {
  /** Position of the slider for a text; undefined if it has none. */
  share(text: string): number | undefined;
  /** The text for a position of the slider, in the form of the previous text. */
  write(share: number, before: string): string;
  /** The value for the scenario. Text that is not a number is kept, and the engine refuses it. */
  read(text: string): number | string;
}

type Ordered = Extract<Shape, { type: "quantity" | "number" }>;

export function scaleOf(shape: Ordered, standard: unknown): Scale {
  if (shape.type === "quantity") return quantities(shape.dimensions);
  const { whole, min = shape.above ?? 0, max } = shape;
  const most = max ?? Math.max(100, 20 * Number(standard ?? 1));
  // Most probabilities are small, and so are values without a default or with a small one.
  const small = !whole && most <= 1 && !(Number(standard) >= 0.05);
  const map = small
    ? logarithmic(1e-5, most, 0)
    : most - min > 200
      ? logarithmic(Math.max(min, 1), most, min)
      : linear(min, most);
  const tidy = (value: number) => (whole ? Math.round(value) : Number(value.toPrecision(2)));
  return {
    share: (text) => (text === "" || Number.isNaN(Number(text)) ? undefined : clamp(map.share(Number(text)))),
    write: (share) => String(tidy(map.value(share))),
    read: (text) => (text === "" || Number.isNaN(Number(text)) ? text : Number(text)),
  };
}

function quantities(dimensions: Extract<Shape, { type: "quantity" }>["dimensions"]): Scale {
  const dimensionOf = (text: string) => parse(text, dimensions)?.dimension ?? dimensions[0] ?? "time";
  return {
    share: (text) => {
      const q = parse(text, dimensions);
      if (!q) return undefined;
      const [least, most] = SPAN[q.dimension];
      return clamp(logarithmic(least, most, 0).share(q.value));
    },
    write: (share, before) => {
      const dimension = dimensionOf(before);
      const [least, most] = SPAN[dimension];
      return write({ value: rounded(logarithmic(least, most, least).value(share)), dimension });
    },
    read: (text) => text,
  };
}

interface Map {
  share: (value: number) => number;
  value: (share: number) => number;
}

function linear(least: number, most: number): Map {
  return { share: (v) => (v - least) / (most - least), value: (s) => least + s * (most - least) };
}

/** From `least` to `most`; the first position is `zero`. */
function logarithmic(least: number, most: number, zero: number): Map {
  const ratio = most / least;
  return {
    share: (v) => (v <= least ? 0 : Math.log(v / least) / Math.log(ratio)),
    value: (s) => (s <= 0.002 ? zero : least * ratio ** s),
  };
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}
