/** Selections from long arrays, without an object or a call for each entry. */

/** The numbers from 0 to `count`, exclusive, for which `wanted` is true. */
export function chosen(count: number, wanted: (i: number) => boolean): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(count);
  let found = 0;
  for (let i = 0; i < count; i++) if (wanted(i)) all[found++] = i;
  return found === count ? all : all.slice(0, found);
}

/** The entries of `values` at `index`, which ascends. If these are all, it is `values` itself: nobody writes into a chart's numbers. */
export function gather(values: ArrayLike<number>, index: Uint32Array): Float64Array {
  if (values instanceof Float64Array && index.length === values.length) return values;
  const found = new Float64Array(index.length);
  for (let n = 0; n < index.length; n++) found[n] = values[index[n]];
  return found;
}
