/** Colours as the page's style sheets have them now (`palette.css`). */

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

/** The colours that hold at `element`. */
export function readTheme(element: HTMLElement): Theme {
  const probe = document.createElement("span");
  element.append(probe);
  // A property as such comes back as it was written, `light-dark()` and all; a colour comes back settled.
  const theme = Object.fromEntries(
    NAMES.map((name) => {
      probe.style.color = `var(--ak-${name})`;
      return [name, getComputedStyle(probe).color];
    }),
  );
  probe.remove();
  return theme as Theme;
}

/** Calls `changed` when light becomes dark or back; the answer ends that. */
export function watchTheme(changed: () => void): () => void {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class", "style"] });
  scheme.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    scheme.removeEventListener("change", changed);
  };
}
