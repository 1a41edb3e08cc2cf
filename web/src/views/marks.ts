/** The user's additions to the graphs: marks with notes at instants, and the two points of a measurement. */

import type { Sight } from "../chart/bars";
import type { Box } from "../chart/frame";
import { fitted } from "../chart/frame";
import { Coords, type Surface } from "../chart/surface";
import type { Theme } from "../chart/theme";

/** An instant with a note. */
export interface Mark {
  readonly time: number;
  readonly note: string;
}

/** A point of the graph of one run. */
export interface Point {
  readonly run: number;
  readonly view: string;
  readonly time: number;
  readonly value: number;
}

const NOTE_PX = 140;
const DOT_PX = 9;

/** A line at each mark; with `noted` its number and note beside it. */
export function drawMarks(
  surface: Surface,
  marks: readonly Mark[],
  sight: Sight,
  plot: Box,
  theme: Theme,
  noted: boolean,
): void {
  const { x, pixel } = sight;
  const lines = new Coords();
  for (const [i, { time, note }] of marks.entries()) {
    if (time < x.from || time > x.to) continue;
    const at = Math.round(x.at(time) / pixel) * pixel;
    lines.box(at, plot.y, pixel * 1.5, plot.height);
    if (!noted) continue;
    const writing = { colour: theme.dsack, bold: true } as const;
    const text = fitted(surface, `${i + 1} ${note}`.trim(), NOTE_PX, writing);
    const width = surface.measure(text, writing);
    const left = Math.min(at + 4, plot.x + plot.width - width - 4);
    const ground = new Coords();
    ground.box(left - 2, plot.y + 2, width + 4, 15);
    surface.boxes(ground, theme.paper, 0.85);
    surface.text(text, left, plot.y + 13, writing);
  }
  surface.boxes(lines, theme.dsack, 0.9);
}

/** The points of a measurement, and the line between them. */
export function drawMeasure(surface: Surface, points: readonly Point[], { x, y }: Sight, theme: Theme): void {
  const places = new Coords();
  for (const { time, value } of points) places.point(x.at(time), y.at(value));
  if (points.length > 1) surface.line(places, { colour: theme.dsack, width: 1.5, dash: [4, 3] });
  if (points.length > 0) surface.signs(places, "disc", { colour: theme.dsack, size: DOT_PX, rim: theme.paper });
}
