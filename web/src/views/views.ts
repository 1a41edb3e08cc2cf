/** All views of one to four runs, linked in time. */

import "../chart/palette.css";
import "./views.css";
import { readTheme, type Theme, watchTheme } from "../chart/theme";
import { Timeline } from "../chart/timeline";
import { Tooltip } from "../chart/tip";
import { h } from "../dom";
import type { Repeated } from "../engine/repeat";
import type { FlowTrace, RunTrace } from "../engine/trace";
import type { Chart, PacketRef } from "./chart";
import { type Picture, type PictureKind, picture } from "./export";
import { FLOWS, FlowsChart, sharesTable } from "./flows";
import { fold, type ViewName } from "./fold";
import type { Mark, Point } from "./marks";
import { PathView, ways } from "./path";
import { QUEUE, QueueChart, queuesOf } from "./queue";
import { type Marked, Row, type Shared } from "./row";
import { SEQUENCE, SequenceChart } from "./sequence";
import { course } from "./sequence/course";
import { STATE_VIEWS, StateChart, variables } from "./state";
import { drawTable, tableElement, tableLines, tableSize } from "./table";
import { Transport } from "./transport";

const ORDER: readonly ViewName[] = ["table", "sequence", "window", "dupthresh", "rto", "queue", "path", "flows"];

export interface Listeners {
  /** A packet was clicked, or chosen with Enter. */
  readonly packet: (packet: PacketRef) => void;
  /** The visible time has changed. */
  readonly window: () => void;
  /** The points of the measurement, one or two. */
  readonly measured: (points: readonly Point[]) => void;
}

/** Below this width per run, in px, runs are stacked vertically. */
const COLUMN_PX = 280;

export class Views {
  readonly element = h("div", { class: "ak-views" });
  readonly timeline = new Timeline();
  private readonly tooltip = new Tooltip();
  private readonly transport = new Transport(this.timeline);
  private readonly rows: readonly Row[];
  private readonly path: PathView;
  private readonly table = h("section", {
    class: "ak-view",
    "data-view": "table",
    "aria-label": "results",
  });
  private readonly tabled = h("div", { class: "ak-scroll" });
  /** Means over seeds of the values in the runs. */
  private repeated: Repeated | undefined;
  private readonly shares = h("div");
  private readonly queueChooser = chooser("Queue", (index) => {
    this.queue = queuesOf(this.runs)[index]?.link;
    this.fill();
  });
  private theme: Theme;
  private runs: readonly RunTrace[] = [];
  private flow = 0;
  /** The link whose queue is shown. Default: the longest queue. */
  private queue: number | undefined;
  /** Columns of runs. */
  private beside = 1;
  private marked: Marked | undefined;
  private marks: readonly Mark[] = [];
  /** The points of the current measurement; undefined if there is none. */
  private points: readonly Point[] | undefined;

  /** Puts the views into `container`, and `below` below the table of results. */
  constructor(
    container: HTMLElement,
    below: HTMLElement,
    private readonly listeners: Listeners,
  ) {
    container.append(this.element);
    this.theme = readTheme(this.element);
    const shared: Shared = {
      timeline: this.timeline,
      tooltip: this.tooltip,
      theme: () => this.theme,
      follows: () => !this.transport.playing,
      marked: () => this.marked,
      marks: () => this.marks,
      measure: { points: () => this.points, add: (point) => this.measure(point) },
      chosen: (run, hit) => listeners.packet({ run, flow: this.flow, kind: hit.kind, index: hit.index }),
      changeable: (run) => this.runs[run] !== undefined && this.flowOf(this.runs[run])?.captured === undefined,
    };
    const styles = [SEQUENCE, ...STATE_VIEWS.map(({ style }) => style), QUEUE, FLOWS];
    // The table is below the first graph, so the graph's time axis also has a title.
    const titled = new Set([styles[0], styles[styles.length - 1]]);
    this.rows = styles.map((style) => new Row(style, titled.has(style), shared));
    this.path = new PathView(shared);
    this.table.append(this.tabled, below);
    this.place();
    new ResizeObserver(() => this.columns()).observe(this.element);
    watchTheme(() => this.recolour());
    this.timeline.onWindow(() => {
      for (const row of this.rows) row.repaint();
      this.path.refresh();
      listeners.window();
    });
    this.timeline.onCursor(() => {
      for (const view of [...this.rows, this.path]) view.refresh();
    });
  }

  /** Shows a flow of these runs; the visible time stays, unless it covered all of the last runs. */
  setRuns(runs: readonly RunTrace[], flow = this.flow): void {
    this.transport.play(0);
    this.runs = runs;
    this.repeated = undefined;
    this.marked = undefined;
    this.flow = Math.min(flow, Math.max(...runs.map(({ flows }) => flows.length), 1) - 1);
    this.timeline.setEnd(Math.max(0, ...runs.map(({ durationS }) => durationS)));
    this.timeline.point(undefined);
    this.tooltip.hide();
    this.fill();
  }

  /** Shows another flow of the same runs. */
  setFlow(flow: number): void {
    this.flow = flow;
    this.fill();
  }

  /** Shows means over seeds in the table, or the runs' own numbers. */
  setRepeated(repeated: Repeated | undefined): void {
    this.repeated = repeated;
    this.drawTable();
  }

  /** Shows from `t0` to `t1`, s. */
  setWindow(t0: number, t1: number): void {
    this.timeline.set(t0, t1);
  }

  /** Marks a stretch of one run, or none. */
  mark(marked: Marked | undefined): void {
    this.marked = marked;
    for (const row of this.rows) row.repaint();
  }

  /** Shows marks at these instants in every graph over time. */
  setMarks(marks: readonly Mark[]): void {
    this.marks = marks;
    for (const row of this.rows) row.repaint();
  }

  /** Turns measuring on or off: while it is on, a click in a graph adds a point. */
  setMeasuring(on: boolean): void {
    this.points = on ? [] : undefined;
    for (const row of this.rows) row.refresh();
  }

  /** A third point begins a new measurement, and so does a point in another kind of graph. */
  private measure(point: Point): void {
    const [first, second] = this.points ?? [];
    this.points = first && !second && first.view === point.view ? [first, point] : [point];
    for (const row of this.rows) row.refresh();
    this.listeners.measured(this.points);
  }

  /** Moves the cursor to a moment, s, and makes it visible. */
  reveal(time: number): void {
    this.timeline.reveal(time);
    this.timeline.point(time);
  }

  /** The moment at the cursor, else the middle of the visible time, s. */
  get moment(): number {
    const { t0, t1 } = this.timeline.span;
    return this.timeline.cursor ?? (t0 + t1) / 2;
  }

  /** A view as a picture, as shown now. Rejects if it shows nothing or is larger than the browser can draw. */
  export(view: ViewName, kind: PictureKind): Promise<Blob> {
    return picture(this.pictured(view), this.theme, kind);
  }

  private place(): void {
    const places: Readonly<Record<string, HTMLElement>> = {
      ...Object.fromEntries(this.rows.map((row) => [row.style.name, row.element])),
      path: this.path.element,
      table: this.table,
    };
    this.rows.find(({ style }) => style === FLOWS)?.element.append(this.shares);
    this.rows.find(({ style }) => style === QUEUE)?.element.prepend(this.queueChooser);
    const folds = ORDER.map((name) => fold(name, places[name]));
    folds.splice(ORDER.indexOf("sequence"), 0, this.transport.element);
    this.element.replaceChildren(...folds, this.tooltip.element);
  }

  private headings(): string[] {
    return this.runs.map((run) => this.flowOf(run)?.stack ?? "");
  }

  /** The flow to show; the last one of a run with fewer flows. */
  private flowOf({ flows }: RunTrace): FlowTrace | undefined {
    return flows[Math.min(this.flow, flows.length - 1)];
  }

  /** The shown flow of each run, with the run's name if there are several. */
  get shown(): { flow: FlowTrace; name: string }[] {
    const headings = this.runs.length > 1 ? this.headings() : [];
    return this.runs.flatMap((run, i) => {
      const flow = this.flowOf(run);
      return flow ? [{ flow, name: headings[i] ?? "" }] : [];
    });
  }

  private fill(): void {
    const headings = this.headings();
    const queues = queuesOf(this.runs);
    const queue = queues.find(({ link }) => link === this.queue) ?? queues[0];
    offer(this.queueChooser, queues, queue ? queues.indexOf(queue) : -1);
    const flows = this.runs.flatMap((run) => this.flowOf(run) ?? []);
    const states = flows.map(variables);
    const charts: Record<string, Chart[]> = {
      sequence: flows.map((flow, i) => new SequenceChart(course(this.runs[i], flow), states[i])),
      queue: queue ? this.runs.map((run) => new QueueChart(run, queue)) : [],
    };
    const many = this.runs.some((run) => run.flows.length > 1);
    charts.flows = many ? this.runs.map((run) => new FlowsChart(run, () => this.theme)) : [];
    for (const { style, lines } of STATE_VIEWS) {
      const reported = states.some((state) => lines.some(({ key }) => state[key].length > 0));
      charts[style.name] = reported ? states.map((state, i) => new StateChart(state, flows[i].phases, lines)) : [];
    }
    for (const row of this.rows) row.set(charts[row.style.name], headings);
    this.path.set(
      this.runs.map((run, i) => flows[i] && ways(run, flows[i])),
      headings,
    );
    this.transport.suit(this.path.roundTrip());
    this.table.hidden = flows.length === 0;
    this.drawTable();
    this.shares.replaceChildren(...(many ? [sharesTable(this.runs, headings)] : []));
    this.columns();
  }

  private drawTable(): void {
    const lines = tableLines(this.runs, this.flow, this.repeated);
    this.tabled.replaceChildren(tableElement(lines, this.headings()));
  }

  private columns(): void {
    const runs = Math.max(this.runs.length, 1);
    const fits = (columns: number) => this.element.clientWidth >= COLUMN_PX * columns;
    // Four runs that do not fit side by side are arranged two by two.
    this.beside = [runs, Math.ceil(runs / 2)].find(fits) ?? 1;
    this.element.style.setProperty("--ak-columns", String(this.beside));
  }

  private recolour(): void {
    this.theme = readTheme(this.element);
    for (const row of this.rows) {
      row.relabel();
      row.repaint();
    }
    this.path.repaint();
  }

  private pictured(view: ViewName): Picture {
    const { beside } = this;
    const row = this.rows.find(({ style }) => style.name === view);
    if (row) {
      return {
        title: row.style.title,
        legend: row.legend(),
        beside,
        sizes: row.sizes(),
        draw: (...where) => row.draw(...where, true),
      };
    }
    if (view === "path")
      return {
        title: "packets on the path",
        legend: [],
        beside,
        sizes: this.path.sizes(),
        draw: (...where) => this.path.draw(...where),
      };
    const lines = tableLines(this.runs, this.flow, this.repeated);
    const headings = this.headings();
    return {
      title: "results",
      legend: [],
      beside: 1,
      sizes: [tableSize(lines, headings.length)],
      draw: (surface) => drawTable(surface, lines, headings, this.theme),
    };
  }
}

/** A list to choose from. */
function chooser(name: string, choose: (index: number) => void): HTMLLabelElement {
  const select = h("select");
  select.addEventListener("change", () => choose(select.selectedIndex));
  return h("label", { class: "ak-choice" }, `${name} `, select);
}

/** Fills the list; hides it if there is no choice. */
function offer(label: HTMLLabelElement, of: readonly { readonly name: string }[], index: number): void {
  const select = label.querySelector("select");
  select?.replaceChildren(...of.map(({ name }) => h("option", {}, name)));
  if (select) select.selectedIndex = index;
  label.hidden = of.length < 2;
}
