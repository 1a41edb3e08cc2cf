/** Selections from long arrays, without an object or a call for each entry. */

/** The numbers from 0 to `count`, exclusive, for which `wanted` is true. */
export function chosen(count: number, wanted: (i: number) => boolean): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(count);
  let found = 0;
  for (let i = 0; i < count; i++) if (wanted(i)) all[found++] = i;
  return found === count ? all : all.slice(0, found);
}

/** The positions at which a list of bytes has this value. */
export function positions(bytes: Uint8Array, value: number): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(bytes.length);
  let found = 0;
  // Most values that are sought are rare, and a browser finds the first far faster than a loop.
  const first = bytes.indexOf(value);
  for (let i = first < 0 ? bytes.length : first; i < bytes.length; i++) if (bytes[i] === value) all[found++] = i;
  return found === all.length ? all : all.slice(0, found);
}

/** The entries of `values` at `index`, which ascends. If these are all, it is `values` itself: nobody writes into a chart's numbers. */
export function gather(values: ArrayLike<number>, index: Uint32Array): Float64Array {
  if (values instanceof Float64Array && index.length === values.length) return values;
  const found = new Float64Array(index.length);
  for (let n = 0; n < index.length; n++) found[n] = values[index[n]];
  return found;
}
