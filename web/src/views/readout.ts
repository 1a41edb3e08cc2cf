/** The parts that move with the pointer over a graph: the values at the cursor, and a frame around a packet. */

import type { Sight } from "../chart/bars";
import { BASE_PX, type Box, type Headline } from "../chart/frame";
import { Coords, type Surface } from "../chart/surface";
import type { Theme } from "../chart/theme";
import type { Hit } from "./chart";

/** Writes the values at the cursor above the plot, or in it where there is no room above. */
export function drawReadout(surface: Surface, text: string, plot: Box, { from, to }: Headline, theme: Theme): void {
  const right = plot.x + plot.width;
  const writing = { colour: theme.ink, align: "right" } as const;
  const width = surface.measure(text, writing);
  if (width < to - from) {
    surface.text(text, to, BASE_PX, writing);
    return;
  }
  const ground = new Coords();
  ground.box(right - width - 6, plot.y + 2, width + 6, 16);
  surface.boxes(ground, theme.paper, 0.85);
  surface.text(text, right - 3, plot.y + 14, writing);
}

/** A frame around the packet that is looked at. */
export function outline(surface: Surface, hit: Hit, sight: Sight, { ink }: Theme): void {
  const x = sight.x.at(hit.time);
  const top = sight.y.at(hit.high) - 5;
  const bottom = sight.y.at(hit.low) + 5;
  const line = new Coords();
  for (const [dx, y] of [
    [-6, top],
    [6, top],
    [6, bottom],
    [-6, bottom],
    [-6, top],
  ])
    line.point(x + dx, y);
  surface.line(line, { colour: ink, width: 1.5 });
}
