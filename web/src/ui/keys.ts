/** Keyboard shortcuts, and the sheet that lists them. */
import { h } from "../dom";
import { sheet } from "./overlay";

export interface Shortcut {
  key: string;
  says: string;
  do: () => void;
}

/** Listens for the keys, except while the user types. */
export function listen(shortcuts: readonly Shortcut[]): void {
  window.addEventListener("keydown", (event) => {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      typing(event.target) ||
      document.querySelector("dialog[open]")
    )
      return;
    const shortcut = shortcuts.find((s) => s.key === event.key);
    if (!shortcut) return;
    event.preventDefault();
    shortcut.do();
  });
}

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.matches("input:not([type=range],[type=checkbox]), select, textarea") || target.isContentEditable)
  );
}

/** The list; `others` are gestures that the views understand. */
export function help(shortcuts: readonly Shortcut[], others: readonly (readonly [string, string])[]): void {
  const rows = [...shortcuts.map((s) => [s.key, s.says] as const), ...others];
  const list = rows.map(([key, says]) => h("div", {}, h("dt", {}, h("kbd", {}, name(key))), h("dd", {}, says)));
  sheet("Keyboard and gestures", "help-sheet", h("dl", { class: "keys" }, ...list));
}

function name(key: string): string {
  return key === " " ? "Space" : key;
}
