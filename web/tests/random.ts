/** Random values, the same in every run of a test. */

/** A generator of numbers from 0 up to 1 (mulberry32, public domain). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Replacements for a value. */
const ODD: readonly Json[] = [
  null,
  true,
  -1,
  0,
  1e308,
  0.5,
  "",
  "x",
  "1,5 Mbps",
  "unlimited",
  "39 hours",
  "1e9 Gbps",
  [],
  {},
  [null],
  [[]],
  { kind: "bernoulli" },
  "\u0000",
  "__proto__",
  ["a", 1, {}],
  "S",
  "99999999 s",
];

/** The value with one part of it changed, removed, repeated or moved. */
export function damaged(value: Json, next: () => number): Json {
  const places: [Json[] | { [key: string]: Json }, string][] = [];
  const copy = structuredClone(value);
  const walk = (at: Json) => {
    if (typeof at !== "object" || at === null) return;
    for (const key of Object.keys(at)) {
      places.push([at, key]);
      walk((at as { [key: string]: Json })[key] as Json);
    }
  };
  walk(copy);
  const pick = <T>(of: readonly T[]) => of[Math.floor(next() * of.length)] as T;
  for (let n = 1 + Math.floor(next() * 3); n > 0 && places.length > 0; n--) {
    const [at, key] = pick(places);
    const table = at as { [key: string]: Json };
    const how = next();
    if (how < 0.15) delete table[key];
    else if (how < 0.25) table[pick(["delay", "kind", "__proto__", "count", "elements", "x"])] = table[key] as Json;
    else if (how < 0.4) table[key] = structuredClone(table[pick(Object.keys(table))] ?? null);
    else table[key] = structuredClone(pick(ODD));
  }
  return copy;
}

/** Bytes with some of them changed, removed or repeated. */
export function broken(bytes: Uint8Array, next: () => number): Uint8Array {
  const at = () => Math.floor(next() * bytes.length);
  const how = next();
  if (how < 0.2) return bytes.slice(0, at());
  if (how < 0.3) return bytes.slice(at());
  const copy = bytes.slice();
  if (how < 0.4) {
    const [from, to, long] = [at(), at(), 1 + Math.floor(next() * 200)];
    copy.set(bytes.slice(from, Math.min(from + long, from + bytes.length - to)), to);
    return copy;
  }
  for (let n = 1 + Math.floor(next() * 30); n > 0; n--) {
    // Text is cut at its punctuation, whatever is between.
    copy[at()] =
      next() < 0.5 ? Math.floor(next() * 256) : (' ,.\n"[]={}-0919e'.charCodeAt(Math.floor(next() * 16)) ?? 0);
  }
  return copy;
}
