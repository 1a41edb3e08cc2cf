/** Legends: buttons on the page that switch layers, and text in an exported picture. */

import { Coords, FONT_SIZE, type Surface } from "../chart/surface";
import { SvgSurface } from "../chart/svg";
import type { Theme } from "../chart/theme";
import { h } from "../dom";
import type { LegendItem } from "./chart";

const SAMPLE_PX = 20;
const HIGH_PX = 14;
const GAP_PX = 5;
const APART_PX = 14;
const ROW_PX = 18;

/** A sample of the marks of `item`, in a box of 20 by 14 px. */
function sample(surface: Surface, item: LegendItem, theme: Theme): void {
  const colour = theme[item.colour];
  const middle = HIGH_PX / 2;
  const coords = new Coords();
  if (item.draw === "band") {
    coords.box(1, 1, SAMPLE_PX - 2, HIGH_PX - 2);
    surface.boxes(coords, colour);
    if (item.key === "loss") surface.hatch(1, 1, SAMPLE_PX - 2, HIGH_PX - 2, theme.hatch);
  } else if (item.draw === "line") {
    coords.point(0, middle);
    coords.point(SAMPLE_PX, middle);
    surface.line(coords, { colour, width: 1.5, ...(item.dash ? { dash: item.dash } : {}) });
  } else if (item.draw === "bar") {
    coords.box(SAMPLE_PX / 2 - 1, 1, 2, HIGH_PX - 2);
    surface.boxes(coords, colour);
  }
  if (!item.shape) return;
  coords.clear().point(SAMPLE_PX / 2, middle);
  surface.signs(coords, item.shape, { colour, size: 9, rim: theme.paper });
}

/** A row of switches; `toggle` is called with the entry that was pressed. */
export function legendButtons(
  items: readonly LegendItem[],
  theme: Theme,
  hidden: ReadonlySet<string>,
  toggle: (key: string) => void,
): HTMLElement {
  return h(
    "div",
    { class: "ak-legend" },
    ...items.map((item) => {
      const picture = new SvgSurface(SAMPLE_PX, HIGH_PX);
      sample(picture, item, theme);
      const icon = h("span", { class: "ak-sample", "aria-hidden": "true" });
      icon.innerHTML = picture.toString("", "none");
      const button = h("button", { type: "button", "aria-pressed": String(!hidden.has(item.key)) }, icon, item.label);
      button.addEventListener("click", () => toggle(item.key));
      return button;
    }),
  );
}

/** Draws the legend from (0, 0) on, `width` px wide; returns its height. `measureOnly` draws nothing. */
export function drawLegend(
  surface: Surface,
  items: readonly LegendItem[],
  theme: Theme,
  width: number,
  measureOnly = false,
): number {
  let x = 0;
  let y = 0;
  const writing = { colour: theme.ink, baseline: "middle" } as const;
  for (const item of items) {
    const long = SAMPLE_PX + GAP_PX + surface.measure(item.label, writing);
    if (x > 0 && x + long > width) {
      x = 0;
      y += ROW_PX;
    }
    if (!measureOnly) {
      surface.move(x, y + (ROW_PX - HIGH_PX) / 2, () => sample(surface, item, theme));
      surface.text(item.label, x + SAMPLE_PX + GAP_PX, y + ROW_PX / 2, { ...writing, size: FONT_SIZE });
    }
    x += long + APART_PX;
  }
  return items.length > 0 ? y + ROW_PX : 0;
}
