/** A drawing of one run over time: the interface for the row of its view. */

import type { Range, Sight } from "../chart/bars";
import type { Box } from "../chart/frame";
import type { Shape, Surface } from "../chart/surface";
import type { ColourName, Theme } from "../chart/theme";
import type { Unit } from "../chart/ticks";
import type { Tip } from "../chart/tip";
import type { Listing } from "./listing";

/** A packet of a run: data by its position in `Sends`, an ACK by its position in `Acks`. */
export interface PacketRef {
  readonly run: number;
  readonly flow: number;
  readonly kind: "data" | "ack";
  readonly index: number;
}

/** A packet in a chart: its position and its details. */
export interface Hit {
  readonly kind: PacketRef["kind"];
  readonly index: number;
  readonly time: number;
  readonly low: number;
  readonly high: number;
}

/** The place and the style of a chart. */
export interface Scene {
  readonly sight: Sight;
  readonly plot: Box;
  readonly theme: Theme;
  /** Keys of the legend that are switched off. */
  readonly hidden: ReadonlySet<string>;
}

export interface Chart {
  /** A description of its values, if it adds to the view's title. */
  readonly title?: string;
  /** Whether the run has data for a key of the legend. Default: always. */
  has?(key: string): boolean;
  /** The range of the values from `t0` to `t1`; low is above high if there are none. */
  fit(t0: number, t1: number): Range;
  /** Draws the layer below the grid: the phases. */
  ground(surface: Surface, scene: Scene): void;
  draw(surface: Surface, scene: Scene): void;
  /** The values at a moment, for the cursor, with their names; the name is empty if the title names the value. */
  read(time: number): readonly (readonly [string, string])[];
  /** The packet nearest to a place, if packets are drawn. */
  hit?(sight: Sight, x: number, y: number): Hit | undefined;
  /** The packet after or before another packet, or the packet nearest to a moment. */
  next?(from: Hit | number, by: 1 | -1): Hit | undefined;
  tell?(hit: Hit): Tip;
  /** The content from `t0` to `t1`, for screen readers. */
  list?(t0: number, t1: number): Listing;
}

/** The look of a view over time, the same for all runs. */
export interface Style {
  readonly name: string;
  readonly title: string;
  /** Height of the plot, px. */
  readonly height: number;
  readonly unit: (top: number) => Unit;
  readonly whole?: boolean;
  /** Whether each run has an origin of its own, with the same scale; else all begin at 0. */
  readonly own?: boolean;
  readonly legend: readonly LegendItem[];
}

/** An entry of a legend, which switches its layer on and off. */
export interface LegendItem {
  readonly key: string;
  readonly label: string;
  readonly colour: ColourName;
  readonly draw: "bar" | "line" | "sign" | "band";
  readonly shape?: Shape;
  readonly dash?: readonly number[];
}
