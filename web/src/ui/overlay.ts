/** Overlays: sheets, menus at a point, and short messages. */

import { h } from "../dom";
import { iconButton } from "./buttons";
import { type Icon, icon } from "./icons";

/** A sheet with a title; Escape or a click beside it closes it. */
export function sheet(title: string, className: string, ...children: (Node | string | null)[]): HTMLDialogElement {
  const close = iconButton("remove", "Close", () => dialog.close());
  const head = h("header", { class: "line head" }, h("h2", {}, title), close);
  const dialog = h("dialog", { class: `sheet ${className}`, "aria-label": title }, head, ...children);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  // The first action gets the focus before the close button.
  dialog.querySelector<HTMLElement>(":scope > :not(header) :is(button, input, select)")?.focus();
  return dialog;
}

export interface Entry {
  says: string;
  /** Smaller, below. */
  more?: string;
  icon?: Icon;
  disabled?: boolean;
  click: () => void;
}

/** A menu at a point of the page, operated by arrow keys. */
export function menu(
  x: number,
  y: number,
  title: string,
  entries: readonly Entry[],
  below?: HTMLElement,
): HTMLDialogElement {
  const list = h("div", { role: "menu", "aria-label": title });
  const box = h("dialog", { class: "menu" }, h("p", { class: "label" }, title), list, below ?? null);
  for (const entry of entries) {
    const choose = () => {
      box.close();
      entry.click();
    };
    const more = entry.more ? h("span", { class: "hint" }, entry.more) : null;
    const mark = entry.icon ? icon(entry.icon) : null;
    const attributes = { type: "button", role: "menuitem", disabled: entry.disabled ?? false, onclick: choose };
    list.append(h("button", attributes, mark, h("span", {}, entry.says, more)));
  }
  box.addEventListener("keydown", (event) => walk(list, event));
  box.addEventListener("click", (event) => {
    if (event.target === box) box.close();
  });
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`;
  box.style.top = `${Math.max(8, Math.min(y, innerHeight - height - 8))}px`;
  list.querySelector<HTMLElement>("button:enabled")?.focus();
  return box;
}

/** Moves up and down among the buttons of `list`. */
export function walk(list: HTMLElement, event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const buttons = [...list.querySelectorAll<HTMLElement>("button:enabled:not([hidden])")];
  const at = buttons.indexOf(document.activeElement as HTMLElement);
  buttons[(at + step + buttons.length) % buttons.length]?.focus();
  event.preventDefault();
}

let shown: HTMLElement | undefined;

/** A message that disappears by itself; an error stays until it is closed. */
export function notice(text: string, bad = false): HTMLElement {
  shown?.remove();
  const close = iconButton("remove", "Close", () => box.remove());
  const box = h(
    "div",
    { class: bad ? "notice bad" : "notice", role: bad ? "alert" : "status" },
    h("p", {}, text),
    close,
  );
  shown = box;
  document.body.append(box);
  if (!bad) window.setTimeout(() => box.remove(), 4000);
  return box;
}
