/** Quantities as scenario files write them: a number and a unit. */

export type Dimension = "time" | "rate" | "size" | "packets";

/** The units of each dimension, the base first, with their sizes in the base unit. */
export const UNITS: Readonly<Record<Dimension, Readonly<Record<string, number>>>> = {
  time: { s: 1, ns: 1e-9, us: 1e-6, ms: 1e-3, min: 60 },
  rate: { bps: 1, kbps: 1e3, Mbps: 1e6, Gbps: 1e9, "B/s": 8, "kB/s": 8e3, "MB/s": 8e6, "GB/s": 8e9 },
  size: { B: 1, kB: 1e3, KiB: 1024, MB: 1e6, MiB: 1024 ** 2, GB: 1e9 },
  packets: { packets: 1, packet: 1 },
};

/** The unit of values that a slider sets. */
const WRITTEN: Readonly<Record<Dimension, readonly string[]>> = {
  time: ["ns", "us", "ms", "s"],
  rate: ["bps", "kbps", "Mbps", "Gbps"],
  size: ["B", "kB", "MB"],
  packets: ["packets"],
};

/** The range of a slider, in the base unit. */
export const SPAN: Readonly<Record<Dimension, readonly [number, number]>> = {
  time: [1e-4, 10],
  rate: [1e5, 1e10],
  size: [100, 1e6],
  packets: [1, 2000],
};

export interface Quantity {
  value: number;
  dimension: Dimension;
}

/** The value of `text` in the base unit of the first of `dimensions` that has its unit; undefined if it is not a quantity. */
export function parse(text: string, dimensions: readonly Dimension[]): Quantity | undefined {
  const [, number, unit] = /^\s*(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)\s*(\S+)\s*$/.exec(text) ?? [];
  if (number === undefined || unit === undefined) return undefined;
  const dimension = dimensions.find((d) => unit.replace("µ", "u") in UNITS[d]);
  if (dimension === undefined) return undefined;
  const factor = UNITS[dimension][unit.replace("µ", "u")] ?? 1;
  return { value: Number(number.replaceAll("_", "")) * factor, dimension };
}

/** `value` with three digits in a suitable unit. */
export function write({ value, dimension }: Quantity): string {
  if (dimension === "packets") return `${Math.max(1, Math.round(rounded(value)))} packets`;
  const units = WRITTEN[dimension];
  const fits = (unit: string) => rounded(value) >= (UNITS[dimension][unit] ?? 1) * 0.9999;
  const unit = [...units].reverse().find(fits) ?? units[0] ?? "";
  const number = Number((rounded(value) / (UNITS[dimension][unit] ?? 1)).toPrecision(3));
  return `${dimension === "size" && unit === "B" ? Math.round(number) : number} ${unit}`;
}

/** Rounded to two digits, three between 1 and 2, so that a slider stops at simple numbers. */
export function rounded(value: number): number {
  if (value === 0) return 0;
  const digits = value.toExponential().startsWith("1") ? 3 : 2;
  return Number(value.toPrecision(digits));
}
