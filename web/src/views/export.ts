/** A view as a picture for a paper: its panels with their legend, as SVG or PNG. */

import { CanvasSurface } from "../chart/canvas";
import type { Size } from "../chart/panel";
import type { Surface } from "../chart/surface";
import { SvgSurface } from "../chart/svg";
import type { Theme } from "../chart/theme";
import type { LegendItem } from "./chart";
import { drawLegend } from "./legend";

export type PictureKind = "svg" | "png";

export interface Picture {
  readonly title: string;
  readonly legend: readonly LegendItem[];
  /** Number of panels side by side. */
  readonly beside: number;
  readonly sizes: readonly Size[];
  readonly draw: (surface: Surface, panel: number, size: Size) => void;
}

const EDGE_PX = 8;
const GAP_PX = 16;
/** Dots for each px of a PNG. */
const DENSITY = 2;

/** Draws `drawn` into a file. */
export async function picture(drawn: Picture, theme: Theme, kind: PictureKind): Promise<Blob> {
  const { sizes, beside } = drawn;
  if (sizes.length === 0) throw new Error(`There is no ${drawn.title} to draw in these runs.`);
  const cell = {
    width: Math.max(...sizes.map((size) => size.width)) + GAP_PX,
    height: Math.max(...sizes.map((size) => size.height)) + GAP_PX,
  };
  const width = cell.width * Math.min(beside, sizes.length) - GAP_PX;
  const legend = drawLegend(new SvgSurface(0, 0), drawn.legend, theme, width, true);
  const full = {
    width: Math.ceil(width + 2 * EDGE_PX),
    height: Math.ceil(cell.height * Math.ceil(sizes.length / beside) - GAP_PX + legend + 2 * EDGE_PX),
  };
  const compose = (surface: Surface) => {
    surface.move(EDGE_PX, EDGE_PX, () => drawLegend(surface, drawn.legend, theme, width));
    sizes.forEach((size, panel) => {
      const x = EDGE_PX + cell.width * (panel % beside);
      const y = EDGE_PX + legend + cell.height * Math.floor(panel / beside);
      surface.move(x, y, () => drawn.draw(surface, panel, size));
    });
  };
  if (kind === "svg") {
    const surface = new SvgSurface(full.width, full.height);
    compose(surface);
    return new Blob([surface.toString(drawn.title, theme.paper)], { type: "image/svg+xml" });
  }
  return raster(full, theme, compose);
}

async function raster({ width, height }: Size, theme: Theme, compose: (surface: Surface) => void): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = width * DENSITY;
  canvas.height = height * DENSITY;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This browser has no 2D canvas.");
  context.scale(DENSITY, DENSITY);
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, width, height);
  compose(new CanvasSurface(context, DENSITY));
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("The picture is too large for this browser.");
  return blob;
}
