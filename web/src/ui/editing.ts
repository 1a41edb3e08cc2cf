/** What editors share: where values stand, and where a refusal is shown. */
import type { Refusal } from "../engine/engine";
import type { Json, Path } from "./path";
import { keyOf } from "./path";

type Shown = (refusal: Refusal | undefined) => void;

/** An editor's way to the values; the fields that it made show what is refused. */
export class Editing {
  private readonly shown = new Map<string, Shown>();
  private readonly last: { key: string } = { key: "" };

  /**
   * @param read what stands at a path
   * @param write puts a value there; undefined takes it away
   * @param redraw draws the editor again, after its form has changed
   */
  constructor(
    readonly read: (path: Path) => Json | undefined,
    private readonly put: (path: Path, value: Json | undefined) => void,
    readonly redraw: () => void,
  ) {}

  write(path: Path, value: Json | undefined): void {
    this.last.key = keyOf(path);
    this.put(path, value);
  }

  /** A field says how it shows a refusal of what stands at `path`. */
  register(path: Path, show: Shown): void {
    this.shown.set(keyOf(path), show);
  }

  /** Before fields are made anew. */
  forget(): void {
    this.shown.clear();
  }

  /**
   * Shows a refusal at the field it names, else at the one next above or below, else at the one last written.
   * Answers whether there was one.
   */
  refuse(refusal: Refusal | undefined): boolean {
    for (const show of this.shown.values()) show(undefined);
    if (refusal === undefined) return true;
    const key = refusal.key ?? "";
    const near = [...this.shown.keys()].filter((k) => above(k, key) || above(key, k));
    const best = near.sort((a, b) => closeness(b, key) - closeness(a, key) || a.length - b.length)[0];
    const show = this.shown.get(best ?? this.last.key);
    show?.(refusal);
    return show !== undefined;
  }
}

function above(upper: string, lower: string): boolean {
  return lower === upper || (upper !== "" && lower.startsWith(upper) && /^[.[]/.test(lower.slice(upper.length)));
}

/** An exact match first, then the deepest place above, then places below. */
function closeness(candidate: string, key: string): number {
  if (candidate === key) return 1e6;
  return candidate.length < key.length ? candidate.length : -candidate.length;
}
