/** Common parts of editors: places of values and of refusals. */
import type { Refusal } from "../engine/engine";
import type { Json, Path } from "./path";
import { keyOf } from "./path";

type Shown = (refusal: Refusal | undefined) => void;

/** An editor's access to the values; its fields show refusals. */
export class Editing {
  private readonly shown = new Map<string, Shown>();
  private readonly last: { key: string } = { key: "" };

  /**
   * @param read returns the value at a path
   * @param write sets the value there; undefined removes it
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

  /** Registers how a field shows a refusal of the value at `path`. */
  register(path: Path, show: Shown): void {
    this.shown.set(keyOf(path), show);
  }

  /** Called before fields are rebuilt. */
  forget(): void {
    this.shown.clear();
  }

  /**
   * Shows a refusal at the field that it names, else at the next field above or below, else at the field edited last.
   * Returns whether there was a refusal.
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
