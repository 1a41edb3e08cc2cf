/** Axes, grid and headings around a plot. */

import type { Scale } from "./scale";
import { Coords, FONT_SIZE, type Surface, type Writing } from "./surface";
import type { Theme } from "./theme";
import { ticks, timeUnit, type Unit } from "./ticks";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Axis {
  readonly title: string;
  readonly unit: Unit;
  readonly scale: Scale;
  /** Whether its values are counts, which have no fractions. */
  readonly whole?: boolean;
}

const LEFT_PX = 52;
const RIGHT_PX = 12;
const TOP_PX = 24;
const BOTTOM_PX = 20;
const TITLED_PX = 16;
const TITLE_X_PX = 4;
const APART_PX = 16;
/** Position of the text above a plot. */
export const BASE_PX = FONT_SIZE + 3;
/** The font of headings. */
export const HEADING: Writing = { colour: "", bold: true, align: "right", size: FONT_SIZE + 1 };
const EACH_X_PX = 60;
const EACH_Y_PX = 38;

/** Position of the plot in a panel; `titled` if its axis of time has its title below. */
export function plotBox(width: number, height: number, titled: boolean): Box {
  const bottom = BOTTOM_PX + (titled ? TITLED_PX : 0);
  return {
    x: LEFT_PX,
    y: TOP_PX,
    width: Math.max(width - LEFT_PX - RIGHT_PX, 1),
    height: Math.max(height - TOP_PX - bottom, 1),
  };
}

/** `text`, shortened to at most `width` px. */
export function fitted(surface: Surface, text: string, width: number, writing: Writing): string {
  if (surface.measure(text, writing) <= width) return text;
  let length = text.length - 1;
  while (length > 1 && surface.measure(`${text.slice(0, length)}…`, writing) > width) length--;
  return `${text.slice(0, length).trimEnd()}…`;
}

/** The line above a plot: the axis of values and its unit, the heading, and the limits of the room between them. */
export interface Headline {
  readonly title: string;
  readonly heading: string;
  readonly from: number;
  readonly to: number;
}

/** Fits a headline over a plot that ends at `right`. */
export function headline(surface: Surface, { title, unit }: Axis, heading: string, right: number): Headline {
  const named = unit.name ? `${title} (${unit.name})` : title;
  const from = TITLE_X_PX + surface.measure(named, { colour: "" }) + APART_PX;
  const short = fitted(surface, heading, right - from, HEADING);
  return { title: named, heading: short, from, to: right - surface.measure(short, HEADING) - APART_PX };
}

/** Height of a panel whose plot is `plot` px high. */
export function panelHeight(plot: number, titled: boolean): number {
  return plot + TOP_PX + BOTTOM_PX + (titled ? TITLED_PX : 0);
}

/** Draws the background of the data: grid, ticks and titles; `heading` is above the plot at its right end. */
export function drawFrame(
  surface: Surface,
  plot: Box,
  theme: Theme,
  time: Scale,
  left: Axis,
  heading: string,
  titled: boolean,
): void {
  const bottom = plot.y + plot.height;
  const right = plot.x + plot.width;
  const unit = timeUnit(time.from, time.to);
  const across = ticks(time.from, time.to, plot.width / EACH_X_PX, unit);
  const { scale } = left;
  const up = ticks(scale.from, scale.to, plot.height / EACH_Y_PX, left.unit, left.whole);
  drawRules(
    surface,
    plot,
    theme,
    across.map(({ value }) => time.at(value)),
    up.map(({ value }) => scale.at(value)),
  );
  for (const { value, label } of across) {
    const writing = { colour: theme.muted, align: "center", baseline: "top" } as const;
    // The last one must not be cut off by the panel's edge.
    const most = right + RIGHT_PX - surface.measure(label, writing) / 2;
    surface.text(label, Math.min(time.at(value), most), bottom + 6, writing);
  }
  for (const { value, label } of up)
    surface.text(label, plot.x - 6, scale.at(value), { colour: theme.muted, align: "right", baseline: "middle" });
  const above = headline(surface, left, heading, right);
  surface.text(above.title, TITLE_X_PX, BASE_PX, { colour: theme.muted });
  surface.text(above.heading, right, BASE_PX, { ...HEADING, colour: theme.ink });
  const below = { colour: theme.muted, align: "right", baseline: "top" } as const;
  if (titled) surface.text(`time (${unit.name})`, right, bottom + 6 + TITLED_PX, below);
}

/** Grid and axes, on whole pixels. */
function drawRules(surface: Surface, plot: Box, theme: Theme, across: readonly number[], up: readonly number[]): void {
  const { pixel } = surface;
  const snap = (at: number) => Math.round(at / pixel) * pixel;
  const bottom = snap(plot.y + plot.height);
  const grid = new Coords();
  for (const x of across) grid.box(snap(x), plot.y, pixel, plot.height);
  for (const y of up) grid.box(plot.x, snap(y), plot.width, pixel);
  surface.boxes(grid, theme.grid);
  const rules = new Coords();
  rules.box(snap(plot.x) - pixel, plot.y, pixel, plot.height + pixel);
  rules.box(snap(plot.x), bottom, plot.width, pixel);
  for (const x of across) rules.box(snap(x), bottom, pixel, 4);
  surface.boxes(rules, theme.rule);
}
