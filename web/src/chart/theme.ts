/** The current colours of the page's style sheets (`palette.css`). */

const NAMES = [
  "paper",
  "ink",
  "muted",
  "rule",
  "grid",
  "first",
  "needed",
  "refused",
  "needless",
  "open",
  "dropped",
  "ack",
  "rwnd",
  "sack",
  "dsack",
  "cwnd",
  "ssthresh",
  "pipe",
  "queue",
  "cursor",
  "disorder",
  "recovery",
  "loss",
  "hatch",
] as const;

export type ColourName = (typeof NAMES)[number];
export type Theme = Readonly<Record<ColourName, string>>;

/** The colours in force at `element`. */
export function readTheme(element: HTMLElement): Theme {
  const probe = document.createElement("span");
  element.append(probe);
  // A custom property is returned as written, including `light-dark()`; a colour is returned resolved.
  const theme = Object.fromEntries(
    NAMES.map((name) => {
      probe.style.color = `var(--ak-${name})`;
      return [name, getComputedStyle(probe).color];
    }),
  );
  probe.remove();
  return theme as Theme;
}

/** Calls `changed` when the theme changes between light and dark. */
export function watchTheme(changed: () => void): void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class", "style"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}
