/** The lab: one state, its runs, the views of them, and all that changes it. */
import { parse, stringify } from "smol-toml";
import { type Engine, load } from "./engine/client";
import type { FlowTrace, RunTrace } from "./engine/trace";
import { PRESETS } from "./scenario/presets";
import { debounce, fill } from "./ui/dom";
import { downloads } from "./ui/downloads";
import { dropped, pick } from "./ui/files";
import { type Frame, frame } from "./ui/frame";
import { Header } from "./ui/header";
import { help, listen, type Shortcut } from "./ui/keys";
import { flowsOf } from "./ui/links";
import { notice } from "./ui/overlay";
import { packetMenu } from "./ui/packetMenu";
import { SidePanel } from "./ui/panel";
import type { Table } from "./ui/path";
import { presetMenu } from "./ui/presetMenu";
import { Schema } from "./ui/schema";
import { type Lab, type Progress, type Refused, Session } from "./ui/session";
import { type Known, label, type StackChoice, written } from "./ui/stack";
import { type StallPanel, stallPanel, type Told } from "./ui/stallPanel";
import { follow, toggle } from "./ui/theme";
import { type Step, tour } from "./ui/tour";
import { createViews, type ViewName, type Views } from "./views/views";
import "./style/base.css";
import "./style/controls.css";
import "./style/layout.css";
import "./style/overlay.css";

const GRAPHS: readonly (readonly [ViewName, string])[] = [
  ["sequence", "Time sequence"],
  ["window", "Window"],
  ["dupthresh", "Duplicate threshold"],
  ["rto", "Retransmission timeout"],
  ["queue", "Queue"],
  ["path", "Packets on the path"],
  ["table", "Results"],
];

/** Gestures that the views understand, for the sheet of help. */
const GESTURES = [
  ["Wheel, pinch", "zoom in time; with Shift the values"],
  ["Drag", "move; with Shift choose a part"],
  ["Double click", "show all"],
  ["Click a packet", "drop, delay or duplicate it"],
  ["← → + − 0", "in a graph: move, zoom, show all"],
  ["n p Enter", "in a graph: next packet, previous, choose"],
] as const;

/** Where less than this share of a run is busy, the rest is not shown at first. */
const BUSY = 0.8;
const MARGIN = 1.04;

class App {
  private readonly session: Session;
  private readonly header: Header;
  private readonly panel: SidePanel;
  private readonly stall: StallPanel;
  private readonly views: Views;
  private readonly parts: Frame;
  private runs: readonly RunTrace[] = [];
  private pointer = { x: 0, y: 0 };
  private shown = 0;
  private readonly remember = debounce(300, () => undefined);

  constructor(
    private readonly engine: Engine,
    private readonly known: Known,
    schema: Schema,
    lab: Lab,
  ) {
    this.session = new Session(lab, (what, i, signal, progress) => this.runOne(what, i, signal, progress), {
      progress: (progress) => this.progress(progress),
      done: (runs, of) => this.show(runs, of),
      refused: (refused) => this.refuse(refused),
      failed: (message) => notice(message, true),
    });
    const shortcuts = this.shortcuts();
    this.header = new Header({
      presets: () => this.presets(),
      run: () => void this.session.run(),
      stop: () => this.session.stop(),
      seed: (seed) => this.session.change({ seed }),
      tour: () => this.tour(),
      share: () => void this.share(),
      download: () => this.download(),
      open: () => pick((file) => void this.open(file)),
      theme: toggle,
      help: () => help(shortcuts, GESTURES),
      drawer: () => document.body.classList.toggle("drawer"),
    });
    this.panel = new SidePanel(this.session, schema, known);
    this.stall = stallPanel((pause) => pause && this.views.setWindow(pause.from, pause.to));
    this.parts = frame(this.header.element, this.panel.element, this.stall.element);
    this.views = createViews(this.parts.views, {
      views: ["table", "sequence", "window", "dupthresh", "rto", "queue", "path"],
    });
    listen(shortcuts);
    this.listen();
    this.panel.draw();
  }

  /** Runs what there is. */
  async begin(): Promise<void> {
    await this.session.run();
    this.whole();
  }

  private runOne(lab: Lab, i: number, signal: AbortSignal, progress: (share: number) => void): Promise<RunTrace> {
    return this.engine.run({ scenario: this.toml(lab, i), seed: lab.seed }, { signal, progress });
  }

  /** The scenario with the i-th stack in it. */
  private toml(lab: Lab, i: number): string {
    return stringify(written(lab.scenario, lab.stacks[i] as StackChoice, this.known));
  }

  private names(lab: Lab): string[] {
    const own = String(flowsOf(lab.scenario)[0]?.stack ?? "");
    return lab.stacks.map((stack) => label(stack, own));
  }

  private progress(progress: Progress): void {
    this.header.progress(progress);
    if (progress.running) document.documentElement.dataset.lab = "running";
  }

  private show(runs: RunTrace[], lab: Lab): void {
    this.runs = runs;
    const names = this.names(lab);
    const named = (flow: FlowTrace, i: number) => ({ ...flow, stack: names[i] ?? flow.stack });
    // A scenario whose flows have several stacks says itself which is which.
    const own = (i: number) => lab.stacks[i]?.name === null && Object.keys(lab.stacks[i]?.set ?? {}).length === 0;
    const shown = runs.map((run, i) => (own(i) ? run : { ...run, flows: run.flows.map((flow) => named(flow, i)) }));
    this.views.setRuns(shown);
    this.stall.show(
      shown.flatMap((run, i) => pauses(run, i)),
      names,
    );
    this.parts.stale.hidden = true;
    this.panel.drawHand();
    this.title(lab);
    this.remember.call();
    this.shown += 1;
    document.documentElement.dataset.runs = String(this.shown);
    document.documentElement.dataset.lab = "shown";
  }

  private refuse(refused: Refused | undefined): void {
    const placed = this.panel.refuse(refused);
    if (!refused) return;
    document.documentElement.dataset.lab = "refused";
    this.parts.stale.hidden = false;
    fill(
      this.parts.stale,
      placed ? "Refused at the left; the graphs show the scenario before." : refused.refusal.message,
    );
  }

  private title(lab: Lab): void {
    const name = String(lab.scenario.name ?? "Scenario");
    this.header.show(name, lab.seed);
    document.title = `${name} – Ackclock lab`;
  }

  /** Another state as a whole, drawn and run. */
  private async take(lab: Lab): Promise<void> {
    this.session.change(lab);
    this.panel.draw();
    this.title(lab);
    await this.session.run();
  }

  private presets(): void {
    const now = String(this.session.lab.scenario.name ?? "");
    const current = PRESETS.find((p) => nameOf(p.toml) === now)?.id;
    presetMenu(PRESETS, current, (id) => void this.take(ofPreset(id)).then(() => this.whole()));
  }

  /** Shows all in which something happens. */
  private whole(): void {
    const { end } = this.views.timeline;
    const last = Math.max(...this.runs.flatMap(({ flows }) => flows.map(lastMoment)));
    this.views.setWindow(0, last < BUSY * end ? last * MARGIN : end);
  }

  private tour(): void {
    const go = async (step: Step, stacks: StackChoice[]) => {
      const lab = ofPreset(step.preset);
      const run = { ...(lab.scenario.run as Table), ...(step.duration ? { duration: step.duration } : {}) };
      await this.take({ ...lab, scenario: { ...lab.scenario, run }, stacks });
      this.whole();
      if (step.stall) this.stall.step(1);
    };
    tour({ go });
  }

  private async share(): Promise<void> {
    this.remember.now();
    try {
      await navigator.clipboard.writeText(location.href);
      notice("The link is copied. It holds path, stacks, seed and view.");
    } catch {
      notice("This browser does not let the page copy. The link is in the address bar.", true);
    }
  }

  private download(): void {
    const { lab } = this.session;
    const names = this.names(lab);
    const items = this.runs.map((run, i) => {
      const scenario = this.toml(lab, i);
      return { name: names[i] ?? "", run, toml: scenario, csv: () => this.engine.csv({ scenario, seed: lab.seed }) };
    });
    const stem = String(lab.scenario.name ?? "scenario")
      .replace(/[^\w]+/g, "-")
      .toLowerCase();
    const picture = (view: string, kind: "svg" | "png") => this.views.export(view as ViewName, kind);
    downloads(stem, lab.seed, items, { views: GRAPHS, picture });
  }

  private async open(file: File): Promise<void> {
    const text = await file.text();
    try {
      const scenario = parse(text) as Table;
      const seed = Number((scenario.run as Table | undefined)?.seed ?? 1);
      await this.take({ scenario, stacks: [{ name: null, set: {} }], seed });
      this.whole();
    } catch (error) {
      notice(`${file.name}: ${(error as Error).message}`, true);
    }
  }

  private listen(): void {
    follow((now) => this.header.dark(now === "dark"));
    dropped((file) => void this.open(file));
    window.addEventListener("pointerdown", ({ clientX: x, clientY: y }) => (this.pointer = { x, y }), true);
    this.views.on("window", () => this.remember.call());
    this.views.on("packet", ({ run, flow, kind, index }) => {
      const trace = this.runs[run];
      if (kind !== "data" || !trace) return;
      const change = (scenario: Table) => {
        this.session.change({ scenario });
        this.panel.draw();
      };
      packetMenu(this.pointer, trace, { flow, index }, this.session.lab.scenario, change);
    });
  }

  private shortcuts(): Shortcut[] {
    return [
      { key: "r", says: "run again", do: () => void this.session.run() },
      { key: "Escape", says: "stop the run", do: () => this.session.stop() },
      { key: "e", says: "experiments", do: () => this.presets() },
      { key: ".", says: "next pause", do: () => this.stall.step(1) },
      { key: ",", says: "longer pause", do: () => this.stall.step(-1) },
      { key: "s", says: "copy the link", do: () => void this.share() },
      { key: "d", says: "download", do: () => this.download() },
      { key: "o", says: "open a file", do: () => pick((file) => void this.open(file)) },
      { key: "t", says: "dark or light", do: toggle },
      { key: "?", says: "this sheet", do: () => help(this.shortcuts(), GESTURES) },
    ];
  }
}

/** When a flow's last packet was sent or acknowledged. */
function lastMoment({ sends, acks }: FlowTrace): number {
  return Math.max(sends.time.at(-1) ?? 0, acks.time.at(-1) || 0);
}

function nameOf(toml: string): string {
  return String(parse(toml).name ?? "");
}

function ofPreset(id: string): Lab {
  const preset = PRESETS.find((p) => p.id === id) ?? PRESETS[0];
  const scenario = parse(preset?.toml ?? "") as Table;
  return { scenario, stacks: preset?.stacks.map((name) => ({ name, set: {} })) ?? [], seed: 1 };
}

function pauses(_run: RunTrace, _i: number): Told[] {
  return [];
}

/** Makes the page. */
export async function app(): Promise<void> {
  const engine = await load();
  const [named, schema] = await Promise.all([engine.stacks(), engine.schema()]);
  const shapes = new Schema(schema);
  const made = new App(
    engine,
    { named: named as unknown as Table[], slots: shapes.slots() },
    shapes,
    ofPreset("hoe-1995/every"),
  );
  await made.begin();
}
