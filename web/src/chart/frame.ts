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
  /** Whether it counts things, so that fractions mean nothing. */
  readonly whole?: boolean;
}

const LEFT_PX = 52;
const RIGHT_PX = 12;
const TOP_PX = 24;
const BOTTOM_PX = 20;
const TITLED_PX = 16;
/** The titles of the axes of values need no more room. */
const TITLE_PX = 138;
const EACH_X_PX = 76;
const EACH_Y_PX = 38;

/** Where the plot stands in a panel; `titled` if its axis of time has its title below. */
export function plotBox(width: number, height: number, titled: boolean): Box {
  const bottom = BOTTOM_PX + (titled ? TITLED_PX : 0);
  return {
    x: LEFT_PX,
    y: TOP_PX,
    width: Math.max(width - LEFT_PX - RIGHT_PX, 1),
    height: Math.max(height - TOP_PX - bottom, 1),
  };
}

/** `text`, cut short so that it is at most `width` px wide. */
export function fitted(surface: Surface, text: string, width: number, writing: Writing): string {
  if (surface.measure(text, writing) <= width) return text;
  let length = text.length - 1;
  while (length > 1 && surface.measure(`${text.slice(0, length)}…`, writing) > width) length--;
  return `${text.slice(0, length).trimEnd()}…`;
}

/** How a panel's heading is written, and how wide it may be in a panel of `width` px. */
export function headingStyle({ ink }: Theme, width: number): { writing: Writing; width: number } {
  return { writing: { colour: ink, bold: true, align: "right", size: FONT_SIZE + 1 }, width: width - TITLE_PX };
}

/** Height of a panel whose plot is `plot` px high. */
export function panelHeight(plot: number, titled: boolean): number {
  return plot + TOP_PX + BOTTOM_PX + (titled ? TITLED_PX : 0);
}

/** Draws what lies below the data: grid, ticks and titles; `heading` stands above the plot at its right end. */
export function drawFrame(
  surface: Surface,
  plot: Box,
  theme: Theme,
  time: Scale,
  left: Axis,
  heading: string,
  titled: boolean,
): void {
  const { pixel } = surface;
  const bottom = plot.y + plot.height;
  const right = plot.x + plot.width;
  const snap = (at: number) => Math.round(at / pixel) * pixel;
  const unit = timeUnit(time.from, time.to);
  const across = ticks(time.from, time.to, plot.width / EACH_X_PX, unit);
  const { scale } = left;
  const up = ticks(scale.from, scale.to, plot.height / EACH_Y_PX, left.unit, left.whole);
  const grid = new Coords();
  for (const { value } of across) grid.box(snap(time.at(value)), plot.y, pixel, plot.height);
  for (const { value } of up) grid.box(plot.x, snap(scale.at(value)), plot.width, pixel);
  surface.boxes(grid, theme.grid);
  const rules = new Coords();
  rules.box(snap(plot.x) - pixel, plot.y, pixel, plot.height + pixel);
  rules.box(snap(plot.x), snap(bottom), plot.width, pixel);
  for (const { value } of across) rules.box(snap(time.at(value)), snap(bottom), pixel, 4);
  surface.boxes(rules, theme.rule);
  for (const { value, label } of across) {
    const writing = { colour: theme.muted, align: "center", baseline: "top" } as const;
    // The last one must not be cut off by the panel's edge.
    const most = right + RIGHT_PX - surface.measure(label, writing) / 2;
    surface.text(label, Math.min(time.at(value), most), bottom + 6, writing);
  }
  for (const { value, label } of up)
    surface.text(label, plot.x - 6, scale.at(value), { colour: theme.muted, align: "right", baseline: "middle" });
  const title = { colour: theme.muted } as const;
  surface.text(left.unit.name ? `${left.title} (${left.unit.name})` : left.title, 4, FONT_SIZE + 3, title);
  const { writing, width } = headingStyle(theme, right);
  surface.text(fitted(surface, heading, width, writing), right, FONT_SIZE + 3, writing);
  if (titled)
    surface.text(`time (${unit.name})`, right, bottom + 6 + TITLED_PX, { ...title, align: "right", baseline: "top" });
}
