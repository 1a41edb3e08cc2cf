/** Buttons: a text, perhaps after an icon; or an icon alone. */
import { type Attributes, h } from "../dom";
import { type Icon, icon } from "./icons";

/** A small button with a text; `more` are further attributes. */
export function button(says: string, onclick: () => unknown, mark?: Icon, more: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", class: "small", onclick, ...more }, mark && icon(mark), says);
}

/** A button that is an icon; screen readers and the tooltip say its name. */
export function iconButton(mark: Icon, name: string, onclick: () => unknown, more: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", class: "bare", title: name, "aria-label": name, onclick, ...more }, icon(mark));
}
