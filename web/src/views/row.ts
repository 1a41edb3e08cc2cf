/** A view over time: a panel for each run, side by side or one below the other, with one scale. */

import type { Range, Sight } from "../chart/bars";
import { type Axis, type Box, drawFrame, headline, panelHeight, plotBox } from "../chart/frame";
import { type Gestures, listen } from "../chart/gestures";
import { Panel, type Size } from "../chart/panel";
import { Scale } from "../chart/scale";
import { Coords, type Surface } from "../chart/surface";
import type { Theme } from "../chart/theme";
import { moment } from "../chart/ticks";
import type { Span, Timeline } from "../chart/timeline";
import type { Tooltip } from "../chart/tip";
import { h } from "../dom";
import type { Chart, Hit, LegendItem, Scene, Style } from "./chart";
import { legendButtons } from "./legend";
import { ListingTable } from "./listing";
import { drawMarks, drawMeasure, type Mark, type Point } from "./marks";
import { drawReadout, outline } from "./readout";

/** A range of time of one run. */
export interface Marked extends Span {
  readonly run: number;
}

/** The state that a row shares with the others. */
export interface Shared {
  readonly timeline: Timeline;
  readonly tooltip: Tooltip;
  readonly theme: () => Theme;
  /** Whether the pointer moves the cursor now. */
  readonly follows: () => boolean;
  readonly chosen: (run: number, hit: Hit) => void;
  /** Whether the packets of a run can be changed. */
  readonly changeable: (run: number) => boolean;
  /** A marked stretch of one run. */
  readonly marked: () => Marked | undefined;
  /** Marked instants, in all runs. */
  readonly marks: () => readonly Mark[];
  /** The points of the current measurement; undefined if a click adds none. */
  readonly measure: { points: () => readonly Point[] | undefined; add: (point: Point) => void };
}

const MARGIN = 0.05;
/** Width in a picture of a graph that was folded away since the page began. */
const UNSEEN_PX = 800;
const HEADROOM = 1.1;

export class Row {
  readonly element: HTMLElement;
  private readonly grid = h("div", { class: "ak-grid" });
  private readonly keys = h("div");
  private readonly lists: ListingTable[] = [];
  private readonly hidden = new Set<string>();
  private charts: readonly Chart[] = [];
  private headings: readonly string[] = [];
  private panels: Panel[] = [];
  /** The visible values, if the user has chosen them: their span, and the lowest value of each run. */
  private manual: { span: number; lows: number[] } | undefined;
  /** The ranges of values for the window that was asked for last. */
  private fitted: { span: Span; ranges: readonly Range[] } | undefined;
  private held: { run: number; hit: Hit } | undefined;
  private rubber: { run: number; box: readonly [number, number, number, number] } | undefined;

  constructor(
    readonly style: Style,
    private readonly titled: boolean,
    private readonly shared: Shared,
  ) {
    this.element = h("section", { class: "ak-view", "data-view": style.name, "aria-label": style.title });
    this.element.append(this.keys, this.grid);
  }

  /** Shows these charts, one for each run, under these headings. */
  set(charts: readonly Chart[], headings: readonly string[]): void {
    this.empty();
    this.charts = charts;
    this.headings = headings;
    this.element.hidden = charts.length === 0;
    this.panels = charts.map((_, run) => this.panel(run));
    this.grid.replaceChildren(...this.panels.map(({ element }) => element));
    this.enumerate();
    this.relabel();
  }

  /** Gives each chart with packets a table of them; those of the charts before serve again. */
  private enumerate(): void {
    const { timeline } = this.shared;
    const listed = [...this.charts.entries()].filter(([, chart]) => chart.list);
    for (const table of this.lists.splice(listed.length)) table.clear();
    for (const [nth, [run, chart]] of listed.entries()) {
      this.lists[nth] ??= new ListingTable(this.element);
      this.lists[nth].show(this.panels[run].element, () => chart.list?.(timeline.span.t0, timeline.span.t1));
    }
  }

  repaint(): void {
    this.fitted = undefined;
    for (const panel of this.panels) panel.repaint();
    for (const list of this.lists) list.update();
  }

  refresh(): void {
    for (const panel of this.panels) panel.refresh();
  }

  /** Redraws the legend, for example after a change of colours. */
  relabel(): void {
    const toggle = (key: string) => {
      if (!this.hidden.delete(key)) this.hidden.add(key);
      this.relabel();
      this.repaint();
    };
    const legend = this.legend();
    this.keys.replaceChildren(
      ...(legend.length > 0 ? [legendButtons(legend, this.shared.theme(), this.hidden, toggle)] : []),
    );
  }

  /** The content of all charts. */
  legend(): readonly LegendItem[] {
    return this.style.legend.filter(({ key }) => this.charts.some((chart) => chart.has?.(key) ?? true));
  }

  private empty(): void {
    for (const panel of this.panels) panel.destroy();
    this.panels = [];
    this.manual = undefined;
    this.fitted = undefined;
    this.held = undefined;
    this.rubber = undefined;
  }

  /** Sizes of the panels on the page, px. */
  sizes(): Size[] {
    return this.panels.map(({ width }) => ({
      width: width || UNSEEN_PX,
      height: panelHeight(this.style.height, true),
    }));
  }

  /** Draws a run's chart with its frame. */
  draw(surface: Surface, run: number, size: Size, titled: boolean): void {
    const theme = this.shared.theme();
    const plot = plotBox(size.width, size.height, titled);
    const sight = this.sight(run, plot, surface.pixel);
    const scene: Scene = { sight, plot, theme, hidden: this.hidden };
    const inside = (draw: () => void) => surface.clip(plot.x, plot.y, plot.width, plot.height, draw);
    inside(() => this.charts[run].ground(surface, scene));
    inside(() => this.mark(surface, run, sight, plot, theme));
    drawFrame(surface, plot, theme, sight.x, this.axis(run, sight), this.headings[run], titled);
    inside(() => this.charts[run].draw(surface, scene));
    inside(() => drawMarks(surface, this.shared.marks(), sight, plot, theme, this.style.own ?? false));
  }

  private axis(run: number, { y }: Sight): Axis {
    const { title, unit, whole } = this.style;
    return { title: this.charts[run].title ?? title, unit: unit(y.to), scale: y, ...(whole ? { whole } : {}) };
  }

  /** Shades the selection between two lines. */
  private mark(surface: Surface, run: number, { x, pixel }: Sight, plot: Box, { cursor }: Theme): void {
    const marked = this.shared.marked();
    if (marked?.run !== run) return;
    const [left, right] = [x.at(marked.t0), x.at(marked.t1)];
    const shade = new Coords();
    shade.box(left, plot.y, right - left, plot.height);
    surface.boxes(shade, cursor, 0.07);
    const edges = new Coords();
    for (const at of [left, right]) edges.box(Math.round(at / pixel) * pixel, plot.y, pixel, plot.height);
    surface.boxes(edges, cursor, 0.7);
  }

  /** Moves to the packet after the selected one, or before it. */
  step(run: number, by: 1 | -1): void {
    const chart = this.charts[run];
    const { timeline } = this.shared;
    const { span } = timeline;
    const start = this.held?.run === run ? this.held.hit : by > 0 ? span.t0 : span.t1;
    const hit = chart.next?.(start, by);
    if (!hit) return;
    timeline.reveal(hit.time);
    timeline.point(hit.time);
    this.hold(run, hit);
  }

  private panel(run: number): Panel {
    const { name, height, title } = this.style;
    const panel = new Panel(
      `${title}, ${this.headings[run] || "run"}. Arrows move, plus and minus zoom, 0 shows all, n and p go from packet to packet, Enter chooses.`,
      (surface, size) => this.draw(surface, run, size, this.titled),
      (surface, size) => this.overlay(surface, run, size),
      () =>
        this.shared.timeline.cursor !== undefined ||
        this.held?.run === run ||
        this.rubber?.run === run ||
        this.points(run).length > 0,
    );
    panel.element.dataset.view = name;
    panel.element.dataset.run = String(run);
    panel.element.style.height = `${panelHeight(height, this.titled)}px`;
    listen(panel.element, this.gestures(run));
    return panel;
  }

  private sight(run: number, plot: Box, pixel: number): Sight {
    const { t0, t1 } = this.shared.timeline.span;
    const { low, high } = this.heights()[run];
    return {
      x: new Scale(t0, t1, plot.x, plot.x + plot.width),
      y: new Scale(low, high, plot.y + plot.height, plot.y),
      pixel,
    };
  }

  /** The visible range of each run's values; its length is the same for all. */
  private heights(): readonly Range[] {
    const { span } = this.shared.timeline;
    if (this.fitted?.span !== span) this.fitted = { span, ranges: this.fit() };
    return this.fitted.ranges;
  }

  private fit(): Range[] {
    if (this.manual) {
      const { span, lows } = this.manual;
      return lows.map((low) => ({ low, high: low + span }));
    }
    const { t0, t1 } = this.shared.timeline.span;
    const fits = this.charts.map((chart) => chart.fit(t0, t1));
    const some = fits.filter(({ low, high }) => high >= low);
    if (!this.style.own) {
      const high = HEADROOM * some.reduce((most, fit) => Math.max(most, fit.high), 0) || 1;
      return fits.map(() => ({ low: 0, high }));
    }
    const span = some.reduce((most, { low, high }) => Math.max(most, high - low), 0) || 1;
    return fits.map((fit) => {
      const low = Math.max((Number.isFinite(fit.low) ? fit.low : 0) - MARGIN * span, 0);
      return { low, high: low + (1 + 2 * MARGIN) * span };
    });
  }

  private here(run: number): Sight {
    const { width, height } = this.panels[run];
    return this.sight(run, plotBox(width, height, this.titled), 1 / (window.devicePixelRatio || 1));
  }

  private overlay(surface: Surface, run: number, size: Size): void {
    const { theme, timeline } = this.shared;
    const colours = theme();
    const plot = plotBox(size.width, size.height, this.titled);
    const sight = this.sight(run, plot, surface.pixel);
    const { cursor } = timeline;
    if (cursor !== undefined && cursor >= sight.x.from && cursor <= sight.x.to) {
      const line = new Coords();
      line.box(Math.round(sight.x.at(cursor) / surface.pixel) * surface.pixel, plot.y, surface.pixel, plot.height);
      surface.boxes(line, colours.cursor, 0.6);
      const values = this.charts[run].read(cursor).map((pair) => pair.join(" ").trim());
      const text = [...(this.style.own ? [moment(cursor)] : []), ...values].join(" · ");
      drawReadout(
        surface,
        text,
        plot,
        headline(surface, this.axis(run, sight), this.headings[run], plot.x + plot.width),
        colours,
      );
    }
    const measured = this.points(run);
    if (measured.length > 0)
      surface.clip(plot.x, plot.y, plot.width, plot.height, () => drawMeasure(surface, measured, sight, colours));
    if (this.held?.run === run) outline(surface, this.held.hit, sight, colours);
    if (this.rubber?.run !== run) return;
    const [x0, y0, x1, y1] = this.rubber.box;
    const box = new Coords();
    box.box(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
    surface.boxes(box, colours.needless, 0.2);
  }

  private hold(run: number, hit: Hit | undefined, touched = false): void {
    const { tooltip, chosen, changeable } = this.shared;
    this.held = hit && { run, hit };
    const tip = hit && this.charts[run].tell?.(hit);
    if (hit && tip) {
      const sight = this.here(run);
      const box = this.panels[run].element.getBoundingClientRect();
      const [x, y] = [box.left + sight.x.at(hit.time), box.top + sight.y.at((hit.low + hit.high) / 2)];
      const choose = () => {
        tooltip.hide();
        chosen(run, hit);
      };
      tooltip.show(tip, x, y, touched && changeable(run) ? { says: "Change this packet", act: choose } : undefined);
    } else tooltip.hide();
    this.refresh();
  }

  private gestures(run: number): Gestures {
    const { timeline, follows, chosen, measure } = this.shared;
    const chart = this.charts[run];
    const find = (x: number, y: number) => chart.hit?.(this.here(run), x, y);
    return {
      zoom: (factor, x, y) => {
        const before = timeline.span;
        const { x: time, y: values } = this.here(run);
        this.stretch(factor, (y - values.end) / (values.start - values.end));
        timeline.zoom(factor, time.back(x));
        if (timeline.whole) this.manual = undefined;
        return timeline.span !== before;
      },
      pan: (dx, dy) => {
        const { x, y } = this.here(run);
        if (this.manual && dy !== 0) {
          const { span, lows } = this.manual;
          this.manual = { span, lows: lows.map((low) => low - dy / y.factor) };
          this.repaint();
        }
        timeline.pan(-dx / x.factor);
      },
      box: (x0, y0, x1, y1) => this.only(run, x0, y0, x1, y1),
      rubber: (box) => {
        this.rubber = box && { run, box };
        this.refresh();
      },
      hover: (x, y) => {
        const time = this.here(run).x.back(x);
        if (follows()) timeline.point(time);
        this.hold(run, find(x, y));
      },
      tap: (x, y) => {
        if (follows()) timeline.point(this.here(run).x.back(x));
        this.hold(run, find(x, y), true);
      },
      leave: () => this.hold(run, undefined),
      click: (x, y) => {
        const hit = find(x, y);
        if (measure.points()) measure.add(this.point(run, x, y, hit));
        else if (hit) chosen(run, hit);
      },
      reset: () => {
        this.manual = undefined;
        timeline.reset();
        this.repaint();
      },
      step: (by) => this.step(run, by),
      choose: () => {
        if (this.held?.run !== run) return;
        const { hit } = this.held;
        if (measure.points()) measure.add({ run, view: this.style.name, time: hit.time, value: hit.low });
        else chosen(run, hit);
      },
    };
  }

  /** A point for a measurement: the packet at the pointer, else the place. */
  private point(run: number, x: number, y: number, hit: Hit | undefined): Point {
    const sight = this.here(run);
    const place = { run, view: this.style.name };
    return hit
      ? { ...place, time: hit.time, value: hit.low }
      : { ...place, time: sight.x.back(x), value: sight.y.back(y) };
  }

  /** The points of the measurement that are in this panel. */
  private points(run: number): readonly Point[] {
    const points = this.shared.measure.points() ?? [];
    return points.filter((point) => point.run === run && point.view === this.style.name);
  }

  /** Scales the visible height by `factor`; the point at `share` of it from the top stays in place. */
  private stretch(factor: number, share: number): void {
    if (!this.manual) return;
    const { span, lows } = this.manual;
    this.manual = { span: span * factor, lows: lows.map((low) => low + (1 - share) * span * (1 - factor)) };
    this.repaint();
  }

  /** Zooms to the box of a run; the other runs get the same scale and keep their own origin. */
  private only(run: number, x0: number, y0: number, x1: number, y1: number): void {
    const { x, y } = this.here(run);
    const { timeline } = this.shared;
    const low = y.back(Math.max(y0, y1));
    const span = y.back(Math.min(y0, y1)) - low;
    this.manual = undefined;
    this.fitted = undefined;
    timeline.set(x.back(x0), x.back(x1));
    if (this.style.own && span * Math.abs(y.factor) > 8) {
      const lows = this.heights().map((range) => (range.low + range.high - span) / 2);
      lows[run] = low;
      this.manual = { span, lows };
    }
    this.repaint();
  }
}
