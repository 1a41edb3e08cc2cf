/** Round numbers for an axis, and their format. */

/** The format of a quantity on an axis: the label's unit, and its size in base units (s, B). */
export interface Unit {
  readonly name: string;
  readonly size: number;
}

export interface Tick {
  readonly value: number;
  readonly label: string;
}

const THIN = "\u2009";

/** The smallest of 1, 2, 5 times a power of ten that divides `span` into at most `most` parts. */
export function niceStep(span: number, most: number): number {
  const least = span / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(least));
  for (const digit of [1, 2, 5]) if (digit * power >= least * (1 - 1e-9)) return digit * power;
  return 10 * power;
}

/** Round values from `from` to `to` in `unit`, at most `most` steps; `whole` allows no fractions. */
export function ticks(from: number, to: number, most: number, unit: Unit, whole = false): Tick[] {
  const low = from / unit.size;
  const high = to / unit.size;
  if (!(high > low)) return [];
  const step = Math.max(niceStep(high - low, most), whole ? 1 : 0);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found: Tick[] = [];
  const last = Math.floor(high / step + 1e-9);
  // Multiplied, not added up: a sum of steps drifts away from round numbers.
  for (let n = Math.ceil(low / step - 1e-9); n <= last; n++)
    found.push({ value: n * step * unit.size, label: grouped(n * step, digits) });
  return found;
}

/** The unit that gives a window's times the shortest text. */
export function timeUnit(from: number, to: number): Unit {
  if (to < 0.01 && to - from < 0.001) return { name: "µs", size: 1e-6 };
  if (to < 10 && to - from < 0.5) return { name: "ms", size: 1e-3 };
  return { name: "s", size: 1 };
}

/** The unit for bytes up to `top`; 1 kB is 1000 B. */
export function byteUnit(top: number): Unit {
  if (top >= 2e7) return { name: "MB", size: 1e6 };
  return top >= 2e3 ? { name: "kB", size: 1e3 } : { name: "B", size: 1 };
}

/** The unit of counts. */
export function countUnit(name: string): Unit {
  return { name, size: 1 };
}

/** A number with thin spaces between thousands. */
export function grouped(value: number, digits = 0): string {
  const [whole, rest] = Math.abs(value).toFixed(digits).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, whole.length > 4 ? THIN : "");
  const sign = value < 0 && Number(text.replaceAll(THIN, "") + (rest ?? "")) !== 0 ? "−" : "";
  return sign + text + (rest === undefined ? "" : `.${rest}`);
}

/** A number with about three significant digits, for people. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "–";
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return grouped(value, digits);
}

/** Bytes with their unit. */
export function bytes(value: number): string {
  if (!Number.isFinite(value)) return short(value);
  if (Math.abs(value) < 1e4) return `${grouped(value)} B`;
  return Math.abs(value) < 1e7 ? `${short(value / 1e3)} kB` : `${short(value / 1e6)} MB`;
}

/** A point in time, to the microsecond. */
export function moment(seconds: number): string {
  return `${seconds.toFixed(6).replace(/0{1,3}$/, "")} s`;
}

/** A duration with a suitable unit. */
export function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size >= 1 || size === 0) return `${short(seconds)} s`;
  return size >= 1e-3 ? `${short(seconds * 1e3)} ms` : `${short(seconds * 1e6)} µs`;
}
