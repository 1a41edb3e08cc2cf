/** Elements without a framework: `h` makes an element, `fill` gives it new children. */

export type Child = Node | string | number | false | null | undefined;
/** Names and values of attributes, and listeners. */
export type Attributes = Readonly<Record<string, Value>>;
type Value = string | number | boolean | null | undefined | EventListener | ((event: never) => void);

/**
 * An element.
 *
 * A name that begins with `on` is a listener. A value of true or false is a boolean attribute, except for ARIA
 * attributes, which get the words. `null`, `undefined` and `false` leave an attribute out.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) set(element, name, value);
  append(element, children);
  return element;
}

function set(element: HTMLElement, name: string, value: Value): void {
  if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
  else if (value === true) element.setAttribute(name, name.startsWith("aria-") ? "true" : "");
  else if (value === false && name.startsWith("aria-")) element.setAttribute(name, "false");
  else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
}

/** Replaces all children. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

let last = 0;

/** An id that no other element of the page has. */
export function fresh(stem: string): string {
  last += 1;
  return `${stem}-${last}`;
}

/** Calls `then` once, when there has been no call for `ms` milliseconds. */
export function debounce(ms: number, then: () => void): { call: () => void; now: () => void; cancel: () => void } {
  let timer = 0;
  const cancel = () => window.clearTimeout(timer);
  const now = () => {
    cancel();
    then();
  };
  const call = () => {
    cancel();
    timer = window.setTimeout(then, ms);
  };
  return { call, now, cancel };
}

/** Text with `code` between backquotes, as in the sentences of the schema. */
export function prose(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const [i, part] of text.split("`").entries()) fragment.append(i % 2 ? h("code", {}, part) : part);
  return fragment;
}

/** Saves `content` as a file on the user's machine. */
export function download(name: string, content: Blob | string, type = "text/plain"): void {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h("a", { href: url, download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
