/** Selections from long arrays, without an object or a call for each entry. */

/** The numbers at the beginning of a list, without the room behind them. */
export function beginning(all: Uint32Array<ArrayBuffer>, count: number): Uint32Array<ArrayBuffer> {
  return count === all.length ? all : all.slice(0, count);
}

/** The positions at which a list of bytes has this value. */
export function positions(bytes: Uint8Array, value: number): Uint32Array<ArrayBuffer> {
  // Most values that are sought are rare, and a browser finds the first far faster than a loop.
  const first = bytes.indexOf(value);
  if (first < 0) return new Uint32Array(0);
  const all = new Uint32Array(bytes.length);
  return beginning(all, locate(bytes, value, first, all));
}

// Loops over all packets have a function of their own, with nothing behind them: a browser compiles such a loop once, while it
// runs. Functions of the module keep what is compiled; that of a function inside another is thrown away with it.
function locate(bytes: Uint8Array, value: number, from: number, all: Uint32Array): number {
  let found = 0;
  for (let i = from; i < bytes.length; i++) if (bytes[i] === value) all[found++] = i;
  return found;
}

/** The entries of `values` at `index`, which ascends. If these are all, it is `values` itself: nobody writes into a chart's numbers. */
export function gather(values: ArrayLike<number>, index: Uint32Array): Float64Array {
  if (values instanceof Float64Array && index.length === values.length) return values;
  const found = new Float64Array(index.length);
  for (let n = 0; n < index.length; n++) found[n] = values[index[n]];
  return found;
}

/** The same for whole numbers, in any order. */
export function select(values: Uint32Array, index: Uint32Array): Uint32Array<ArrayBuffer> {
  const found = new Uint32Array(index.length);
  for (let n = 0; n < index.length; n++) found[n] = values[index[n]];
  return found;
}
