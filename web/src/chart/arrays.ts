/** Selections from long arrays, without an object or a call for each entry. */

/** The numbers that `take` writes at the beginning of a list with `most` places; it returns how many they are. */
export function taken(most: number, take: (all: Uint32Array) => number): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(most);
  const found = take(all);
  return found === most ? all : all.slice(0, found);
}

/** The positions at which a list of bytes has this value. */
export function positions(bytes: Uint8Array, value: number): Uint32Array<ArrayBuffer> {
  // Most values that are sought are rare, and a browser finds the first far faster than a loop.
  const first = bytes.indexOf(value);
  if (first < 0) return new Uint32Array(0);
  return taken(bytes.length, (all) => {
    let found = 0;
    for (let i = first; i < bytes.length; i++) if (bytes[i] === value) all[found++] = i;
    return found;
  });
}

/** The entries of `values` at `index`, which ascends. If these are all, it is `values` itself: nobody writes into a chart's numbers. */
export function gather(values: ArrayLike<number>, index: Uint32Array): Float64Array {
  if (values instanceof Float64Array && index.length === values.length) return values;
  const found = new Float64Array(index.length);
  for (let n = 0; n < index.length; n++) found[n] = values[index[n]];
  return found;
}
