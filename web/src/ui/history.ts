/**
 * Undo, redo and the browser's Back.
 *
 * All three use the browser's history: each edit is an entry whose address holds the whole state, and undo goes back in
 * it.
 */

import { debounce, h } from "../dom";
import { iconButton } from "./buttons";

/** The page's actions for its history. */
interface Hooks {
  /** The edited state; a new object after each edit. */
  edited: () => unknown;
  /** The fragment that holds the whole state, without `#`. */
  fragment: () => Promise<string>;
  /** Shows the state in the address; `mine` if an edit on this page wrote it. */
  restore: (mine: boolean) => void;
}

/** Edits that follow each other within this time count as one, ms. */
const PAUSE = 300;

export class Edits {
  readonly buttons: HTMLElement;
  private readonly back: HTMLButtonElement;
  private readonly on: HTMLButtonElement;
  private readonly soon = debounce(PAUSE, () => void this.write());
  private recorded: unknown;
  /** This entry's place among those of the page, and the last place. */
  private at: number;
  private top: number;
  /** How often the browser went to another entry. */
  private moves = 0;
  /** Entries are written one after the other. */
  private writing: Promise<void> = Promise.resolve();
  /** The address that was restored last: browsers report a change of the fragment twice. */
  private restored = location.href;

  constructor(private readonly hooks: Hooks) {
    this.at = place() ?? 0;
    this.top = this.at;
    history.replaceState({ at: this.at }, "");
    this.back = button("undo", "Undo (Ctrl-Z)", () => void this.undo());
    this.on = button("redo", "Redo (Ctrl-Shift-Z)", () => void this.redo());
    this.buttons = h("span", { class: "line edits" }, this.back, this.on);
    window.addEventListener("popstate", () => this.moved());
    window.addEventListener("hashchange", () => this.moved());
    shortcuts(this);
    this.mark();
  }

  /** Updates the address soon, after an edit or a change of the view. */
  follow(): void {
    this.soon.call();
  }

  /** The current state came from the address. */
  take(): void {
    this.soon.cancel();
    this.recorded = this.hooks.edited();
    this.restored = location.href;
  }

  /** Writes the address now. */
  write(): Promise<void> {
    this.soon.cancel();
    this.writing = this.writing.then(async () => {
      const edited = this.hooks.edited();
      const { moves } = this;
      const url = `#${await this.hooks.fragment()}`;
      if (moves !== this.moves) return; // the browser is at another entry by now
      // The browser tells its other processes about each entry, so an equal one is not written.
      if (edited === this.recorded && url === location.hash) return;
      if (edited === this.recorded) history.replaceState({ at: this.at }, "", url);
      else {
        this.recorded = edited;
        this.at += 1;
        this.top = this.at;
        history.pushState({ at: this.at }, "", url);
      }
      this.restored = location.href;
      this.mark();
    });
    return this.writing;
  }

  /** Undoes the last edit. */
  async undo(): Promise<void> {
    if (this.pending) await this.write();
    if (this.at > 0) history.back();
  }

  /** Redoes the last undone edit. */
  async redo(): Promise<void> {
    if (!this.pending && this.at < this.top) history.forward();
  }

  private get pending(): boolean {
    return this.hooks.edited() !== this.recorded;
  }

  /** The browser went to another entry: an entry of the page, or one that a link created. */
  private moved(): void {
    if (location.href === this.restored) return;
    this.restored = location.href;
    this.moves += 1;
    this.soon.cancel();
    const mine = place();
    this.at = mine ?? this.at + 1;
    this.top = mine === undefined ? this.at : Math.max(this.top, this.at);
    if (mine === undefined) history.replaceState({ at: this.at }, "");
    this.mark();
    this.hooks.restore(mine !== undefined);
  }

  private mark(): void {
    this.back.disabled = this.at === 0;
    this.on.disabled = this.at >= this.top;
  }
}

/** The place that this page gave to the browser's entry. */
function place(): number | undefined {
  const state = history.state as { at?: unknown } | null;
  return typeof state?.at === "number" ? state.at : undefined;
}

function button(what: "undo" | "redo", says: string, onclick: () => void): HTMLButtonElement {
  return iconButton(what, says.replace(/ \(.*/, ""), onclick, { class: `bare ${what}`, title: says });
}

/** Ctrl-Z and Ctrl-Shift-Z; in a field with uncommitted text they belong to the browser. */
function shortcuts(edits: Edits): void {
  let typed: EventTarget | null = null;
  window.addEventListener("input", ({ target }) => {
    typed = target;
  });
  window.addEventListener("change", () => {
    typed = null;
  });
  window.addEventListener("keydown", (event) => {
    const { key, target } = event;
    const asked = (event.ctrlKey || event.metaKey) && !event.altKey && key.toLowerCase() === "z";
    if (!asked || document.querySelector("dialog[open]")) return;
    const text = target instanceof HTMLElement && target.matches("input:not([type=range],[type=checkbox]), textarea");
    if (text && target === typed) return;
    event.preventDefault();
    void (event.shiftKey ? edits.redo() : edits.undo());
  });
}
