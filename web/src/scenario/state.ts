/** The state of the page in the fragment of its address: whole, compressed, with a version. */
import type { Json, Table } from "./toml";

/** A compared stack: a named one, or the scenario's own, with some parameters changed. */
export interface StackChoice {
  name: string | null;
  /** Changed parameters by path, as with `--set`. */
  set: { [path: string]: Json };
}

/** What a link holds. */
export interface State {
  scenario: Table;
  /** A second path, with which the first is compared. */
  other?: Table | undefined;
  stacks: StackChoice[];
  seed: number;
  /** Instants that are marked, each with its note. */
  marks?: readonly { readonly time: number; readonly note: string }[] | undefined;
  /** The view state, as the views keep it. */
  view?: Json | undefined;
  /** The id of the preset that it is based on. */
  preset?: string | undefined;
}

/** The content of a fragment. */
export type Asked =
  | { what: "nothing" }
  | { what: "preset"; id: string }
  | { what: "state"; state: State }
  /** A link cannot be read; the message says why. */
  | { what: "bad"; message: string };

const VERSION = 1;
const MOST_STACKS = 4;
/** The largest text that a fragment may expand to: a few kilobytes can hold gigabytes of zeros. */
const MOST_BYTES = 16 << 20;
/** Tables within tables; the engine's own scenarios have five. */
const DEEPEST = 32;

/** The fragment for a state, without `#`. */
export async function encode(state: State): Promise<string> {
  const { scenario, other, stacks, seed, marks, view, preset } = state;
  const noted = marks?.length ? marks : undefined;
  const json = JSON.stringify({ scenario, other, stacks, seed, marks: noted, view, preset });
  const packed = await through(new TextEncoder().encode(json), new CompressionStream("deflate-raw"));
  return `lab=${VERSION}.${base64url(packed)}`;
}

/** Reads a fragment, with or without `#`. Never rejects. */
export async function decode(fragment: string): Promise<Asked> {
  const text = fragment.replace(/^#/, "");
  if (text === "") return { what: "nothing" };
  const [, kind, value] = text.match(/^(preset|lab)=(.+)$/s) ?? [];
  if (kind === undefined || value === undefined) return bad("it names nothing that this page knows");
  if (kind === "preset") return { what: "preset", id: unescaped(value) };
  const [, version, packed] = value.match(/^(\d+)\.([\w-]*)$/) ?? [];
  if (version === undefined || packed === undefined) return bad(DAMAGED);
  if (Number(version) !== VERSION)
    return bad(`it was made by another version of this page (${version}, not ${VERSION})`);
  try {
    const json = await through(unbase64url(packed), new DecompressionStream("deflate-raw"));
    const reported: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json));
    const wrong = mistake(reported);
    return wrong === undefined ? { what: "state", state: reported as State } : bad(wrong);
  } catch {
    return bad(DAMAGED);
  }
}

const DAMAGED = "it is cut off or damaged";

const bad = (why: string): Asked => ({ what: "bad", message: `This link cannot be opened: ${why}.` });

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The fault in a state's form. The engine judges the meaning of the scenario. */
function mistake(reported: unknown): string | undefined {
  if (!isTable(reported)) return "it holds no state";
  if (!isTable(reported.scenario)) return "it holds no scenario";
  const { stacks, seed, other, marks } = reported;
  if (other !== undefined && !isTable(other)) return "its second path is not a scenario";
  const paths = [reported.scenario, ...(other === undefined ? [] : [other])];
  const lacks = paths.map((path) => unsaid(path as Json, "", 0)).find((wrong) => wrong !== undefined);
  if (lacks !== undefined) return `its scenario ${lacks}`;
  if (!Array.isArray(stacks) || stacks.length < 1 || stacks.length > MOST_STACKS) {
    return `it does not have 1 to ${MOST_STACKS} stacks`;
  }
  if (other !== undefined && stacks.length > MOST_STACKS / 2) return "it has two paths and more than two stacks";
  if (marks !== undefined && !(Array.isArray(marks) && marks.every(isMark))) return "its marks are invalid";
  const isChoice = (s: unknown) => isTable(s) && (s.name === null || typeof s.name === "string") && isTable(s.set);
  if (!stacks.every(isChoice)) return "one of its stacks has an unknown form";
  const set = stacks.map((stack) => unsaid(stack.set as Json, "", 0)).find((wrong) => wrong !== undefined);
  if (set !== undefined) return `the parameters of one of its stacks: it ${set}`;
  return Number.isSafeInteger(seed) && Number(seed) >= 0 ? undefined : "its seed is not a whole number from 0";
}

/** Finds a null or too deep nesting, which no scenario file can have, and returns its place. */
function unsaid(value: Json | undefined, at: string, depth: number): string | undefined {
  if (value === null || value === undefined) return `has no value at \`${at}\` (found null)`;
  if (typeof value !== "object") return undefined;
  if (depth > DEEPEST) return `is nested more than ${DEEPEST} levels deep`;
  const list = Array.isArray(value);
  for (const [key, inside] of Object.entries(value)) {
    const wrong = unsaid(inside, list ? `${at}[${key}]` : at === "" ? key : `${at}.${key}`, depth + 1);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function isMark(value: unknown): boolean {
  return isTable(value) && Number.isFinite(value.time) && typeof value.note === "string";
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The bytes that a stream produces from these, up to `MOST_BYTES`. */
async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: GenericTransformStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const readable = new Blob([bytes]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, BufferSource>);
  const reader = readable.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let length = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(pieces).arrayBuffer());
    length += value.length;
    if (length > MOST_BYTES) {
      await reader.cancel();
      throw new RangeError("too long");
    }
    pieces.push(value as Uint8Array<ArrayBuffer>);
  }
}

function base64url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function unbase64url(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(raw, (c) => c.charCodeAt(0));
}
