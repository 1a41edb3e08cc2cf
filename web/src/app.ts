/** The lab: one state, its runs and views, and everything that changes it. */
import { load } from "./engine/client";
import type { Engine } from "./engine/engine";
import type { RunTrace } from "./engine/trace";
import { type Preset, presets } from "./scenario/presets";
import { decode, encode, type StackChoice, type State } from "./scenario/state";
import { fromToml, type Table } from "./scenario/toml";
import { type Caption, caption, heading, type Origin } from "./ui/caption";
import { CapturePanel } from "./ui/capturePanel";
import { columns } from "./ui/columns";
import { Compared } from "./ui/compared";
import { downloads, itemOf } from "./ui/downloads";
import { failure } from "./ui/failed";
import { dropped, kindOf, picker, textOf } from "./ui/files";
import { FlowPicker } from "./ui/flows";
import { type Frame, frame } from "./ui/frame";
import { busy, fromFirst, GESTURES, GRAPHS } from "./ui/graphs";
import { Guest, type Shown } from "./ui/guest";
import { type Actions, Header } from "./ui/header";
import { Edits } from "./ui/history";
import { Instants } from "./ui/instants";
import { help, listen } from "./ui/keys";
import { flowOf, ofPreset, type Span, seedOf, spanOf } from "./ui/labs";
import { lasting } from "./ui/links";
import { notice } from "./ui/overlay";
import { packetMenu } from "./ui/packetMenu";
import { SidePanel } from "./ui/panel";
import { presetMenu } from "./ui/presetMenu";
import { RepeatPanel } from "./ui/repeatPanel";
import { Schema } from "./ui/schema";
import { type Lab, type Progress, type Refused, Session } from "./ui/session";
import { share } from "./ui/share";
import { shortcutsOf } from "./ui/shortcuts";
import type { Known } from "./ui/stack";
import { around, type Pause, pausesOf, type StallPanel, stallPanel } from "./ui/stallPanel";
import { follow, toggle } from "./ui/theme";
import { type Step, stepOf, tour } from "./ui/tour";
import { TraceFile } from "./ui/traceFile";
import type { PacketRef } from "./views/chart";
import type { ViewName } from "./views/fold";
import { Views } from "./views/views";
import "./style/base.css";
import "./style/controls.css";
import "./style/layout.css";
import "./style/overlay.css";

/** The initial state if the address has none. */
const FIRST = "hoe-1995/fig5-7";

/** Parts of the state that a new state does not inherit. */
const NOTHING = { other: undefined, marks: undefined };

class App {
  private readonly session: Session;
  private readonly header: Header;
  private readonly panel: SidePanel;
  private readonly stall: StallPanel;
  private readonly capture: CapturePanel;
  private readonly compared: Compared;
  private readonly guest: Guest;
  private readonly repeats: RepeatPanel;
  private readonly instants: Instants;
  private readonly views: Views;
  private readonly parts: Frame;
  private readonly pick: () => void;
  private runs: readonly RunTrace[] = [];
  private simulated: Shown = { runs: [], names: [] };
  private readonly flows = new FlowPicker((flow) => this.lookAt(flow));
  /** The origin of the current state. */
  private origin: Origin | undefined;
  private readonly caption: Caption;
  private readonly file: TraceFile;
  /** The view to show when the first runs of a new state are ready. */
  private next: { span: Span | undefined } | undefined;
  /** Counts readings of the address, so that an older one never replaces a newer one. */
  private readings = 0;
  private readonly edits: Edits;

  constructor(
    private readonly engine: Engine,
    known: Known,
    private readonly prepared: readonly Preset[],
    schema: Schema,
  ) {
    this.compared = new Compared(known, () => this.flows.flow);
    const lab = ofPreset(this.preset(FIRST));
    this.session = new Session(lab, (what, i, options) => this.compared.run(engine, what, i, options), {
      changed: () => this.edits.follow(),
      progress: (progress) => this.progress(progress),
      done: (runs, of) => this.show(runs, of),
      refused: (refused) => this.refuse(refused),
      failed: (error) => this.failed(error),
      stale: (is) => this.parts.stale(is),
    });
    this.edits = new Edits({
      edited: () => this.session.lab,
      fragment: () => this.fragment(),
      restore: (mine) => void this.begin(mine),
    });
    this.instants = new Instants(this.session, () => this.views);
    const deeds: Omit<Actions, "help"> = {
      presets: () => this.menu(),
      run: () => {
        this.stop();
        void this.session.run();
      },
      stop: () => this.stop(),
      seed: (seed) => this.session.change({ seed }),
      tour: () => this.tour(),
      share: () => void share(this.edits.write()),
      download: () => this.download(),
      open: () => this.pick(),
      theme: toggle,
      drawer: () => document.body.classList.toggle("drawer"),
    };
    const shortcuts = shortcutsOf(deeds, {
      leave: () => this.stop(),
      pause: (by) => this.stall.step(by),
      more: this.instants.shortcuts,
    });
    this.header = new Header({ ...deeds, help: () => help(shortcuts, GESTURES) }, this.edits.buttons);
    this.panel = new SidePanel(this.session, schema, known);
    this.stall = stallPanel((pause) => this.point(pause));
    this.file = new TraceFile(engine, (progress) => this.progress(progress));
    this.capture = new CapturePanel(engine, {
      progress: (progress) => this.progress(progress),
      stop: () => this.stop(),
      draw: (run, name) => this.captured(run, name),
      scenario: (toml) => {
        this.guest.join();
        return this.scenario(toml);
      },
      left: () => this.guest.close(),
      say: (text, bad) => this.parts.say(text, bad),
    });
    this.caption = caption(() => this.tour());
    this.guest = new Guest(() => this.display());
    this.repeats = new RepeatPanel(engine, {
      asked: () => this.compared.all(this.session.lab),
      show: (repeated) => this.views.setRepeated(repeated),
    });
    const { stall, instants } = this;
    const cards = [this.caption, this.capture, this.guest, stall, instants].map(({ element }) => element);
    this.parts = frame(this.header.element, this.panel.element, this.flows.element, ...cards);
    this.views = new Views(this.parts.views, this.repeats.element, {
      measured: (points) => this.instants.measured(points),
      window: () => this.edits.follow(),
      packet: (packet) => this.change(packet),
    });
    listen(shortcuts);
    this.pick = picker((file) => void this.bring(file));
    this.listen();
  }

  /** Shows the state in the address; `edited` if it is an earlier or later state of this page. */
  async begin(edited = false): Promise<void> {
    this.readings += 1;
    const mine = this.readings;
    const asked = await decode(location.hash);
    if (mine !== this.readings) return;
    if (asked.what === "state") {
      const { view, preset: id, ...lab } = asked.state;
      const preset = this.prepared.find((p) => p.id === id);
      this.origin = { lab: preset ? ofPreset(preset) : lab, preset };
      this.flows.flow = flowOf(view);
      try {
        return await this.restore(lab, spanOf(view), edited);
      } catch (error) {
        notice(`This link cannot be opened: ${(error as Error).message}.`, true);
      }
    }
    if (asked.what === "bad") notice(asked.message, true);
    const id = asked.what === "preset" ? asked.id : FIRST;
    if (!this.prepared.some((p) => p.id === id)) notice(`There is no experiment "${id}".`, true);
    const preset = this.preset(id);
    const lab = ofPreset(preset);
    this.origin = { lab, preset };
    await this.restore(lab, preset.span ?? undefined);
  }

  /** Shows a state that the address holds. */
  private restore(lab: Lab, span?: Span, edited = false): Promise<void> {
    const before = this.session.lab;
    this.session.set({ ...NOTHING, ...lab });
    this.edits.take();
    return this.draw(before, span, edited);
  }

  private preset(id: string): Preset {
    return (this.prepared.find((p) => p.id === id) ?? this.prepared[0]) as Preset;
  }

  private progress(progress: Progress): void {
    this.header.progress(progress);
    document.documentElement.dataset.lab = progress.running ? "running" : "idle";
  }

  private show(runs: RunTrace[], lab: Lab): void {
    this.simulated = { runs: this.compared.named(runs, lab), names: this.compared.names(lab) };
    this.guest.renewed();
    this.display();
    if (this.next) this.views.setWindow(...(this.next.span ?? ([0, busy(runs)] as const)));
    this.next = undefined;
    if (!this.guest.here) this.capture.left();
    this.parts.say();
    this.panel.drawHand();
    this.title(lab);
    this.edits.follow();
  }

  /** Draws the simulated runs, the guest, or both. */
  private display(): void {
    const { runs, names } = this.guest.with(this.simulated);
    this.runs = runs;
    this.parts.stale(false);
    this.repeats.left(this.guest.simulated);
    this.flows.show(runs);
    this.views.setRuns(runs, this.flows.flow);
    this.stall.show(pausesOf(runs), names);
    this.instants.renew();
    const { dataset } = document.documentElement;
    dataset.runs = String(Number(dataset.runs ?? 0) + 1);
    dataset.lab = "shown";
  }

  private refuse(refused: Refused | undefined): void {
    const placed = this.panel.refuse(refused);
    if (!refused) return;
    document.documentElement.dataset.lab = "refused";
    const { message } = refused.refusal;
    const says = placed ? "The engine refuses a value in the panel. The graphs still show the previous run." : message;
    this.parts.say(says, true);
    const { lab } = this.session;
    void this.compared
      .repairs(this.engine, lab, refused, (next) => this.edit(next))
      .then((deeds) => {
        if (lab === this.session.lab) this.parts.say(says, true, ...deeds);
      });
  }

  /** Applies an edit that was not made in the panel. */
  private edit(next: Partial<Lab>): void {
    this.session.change(next);
    this.panel.draw();
  }

  private failed(error: Error): void {
    document.documentElement.dataset.lab = "refused";
    const shorter = (duration: string) => this.edit({ scenario: lasting(this.session.lab.scenario, duration) });
    const [why, ...deeds] = failure(error, shorter);
    this.parts.say(why, true, ...deeds);
  }

  private title(lab: Lab): void {
    const name = heading(this.origin, lab);
    this.caption.show(this.origin, lab);
    this.header.show(name, lab.seed);
    document.title = `${name} – Ackclock lab`;
  }

  /** Replaces the whole state, draws it and runs it. */
  private async take(lab: Lab, span?: Span): Promise<void> {
    const before = this.session.lab;
    this.session.change({ ...NOTHING, ...lab });
    await this.draw(before, span);
  }

  /** Draws and runs the session's state. Default for `span`: the whole span with events. */
  private async draw(before: Lab, span?: Span, folded = false): Promise<void> {
    const { lab } = this.session;
    try {
      if (folded) this.panel.draw();
      else this.panel.renew();
    } catch {
      // A form that the panel cannot show is not a valid scenario; the engine's refusal says why.
      this.session.set(before);
      this.panel.renew();
      await this.engine.check({ scenario: this.compared.toml(lab, 0) });
      throw new Error("this page cannot show its scenario");
    }
    this.title(lab);
    this.next = { span };
    await this.session.run();
  }

  private open(preset: Preset): Promise<void> {
    const lab = ofPreset(preset);
    this.origin = { lab, preset };
    this.flows.flow = 0;
    return this.take(lab, preset.span ?? undefined);
  }

  private menu(): void {
    presetMenu(this.prepared, this.origin?.preset?.id, (id) => void this.open(this.preset(id)));
  }

  private lookAt(flow: number): void {
    this.flows.flow = flow;
    this.views.setFlow(flow);
    this.edits.follow();
  }

  /** Shows and marks a pause. Without one the view is unchanged. */
  private point(pause: Pause | undefined): void {
    this.views.mark(pause && { run: pause.run, t0: pause.from, t1: pause.to });
    if (!pause) return;
    this.lookAt(pause.flow);
    this.views.setWindow(...around(pause));
  }

  private tour(): void {
    const go = async (step: Step, stacks: StackChoice[]) => {
      const lab = stepOf(step, stacks, ofPreset(this.preset(step.preset)));
      this.origin = { lab };
      await this.take(lab, step.span);
      if (step.stall) this.stall.step(1);
    };
    tour({ go });
  }

  /** The whole state, as the address holds it. */
  private fragment(): Promise<string> {
    const { t0, t1 } = this.views.timeline.span;
    const span = this.views.timeline.whole ? {} : { from: t0, to: t1 };
    const view = { ...span, ...(this.flows.flow > 0 ? { flow: this.flows.flow } : {}) };
    const preset = this.origin?.preset?.id;
    return encode({ ...this.session.lab, view, preset } satisfies State);
  }

  private download(): void {
    const { lab } = this.session;
    const names = this.compared.names(lab);
    const item = (run: RunTrace, i: number) =>
      itemOf(this.engine, run, names[i] ?? "", this.compared.toml(lab, i), lab.seed);
    const items = this.simulated.runs.map(item);
    const picture = (view: string, kind: "svg" | "png") => this.views.export(view as ViewName, kind);
    downloads(String(lab.scenario.name ?? "scenario"), lab.seed, items, { views: GRAPHS, picture });
  }

  /** Opens a file: a scenario, a trace or a capture. */
  private async bring(file: File): Promise<void> {
    try {
      const kind = await kindOf(file);
      if (kind === "capture") return await this.capture.open(file);
      if (kind !== "scenario") return await this.trace(file, kind);
      await this.scenario(await textOf(file));
    } catch (error) {
      notice(`${file.name}: ${(error as Error).message.replace(/^scenario\.toml:(\d+):/, "line $1:")}`, true);
    }
  }

  /** Takes the text of a scenario. */
  private async scenario(text: string): Promise<void> {
    const scenario = fromToml(text);
    await this.engine.check({ scenario: text }); // its line refers to the file, not to the text that the page writes
    const lab = { scenario, stacks: [{ name: null, set: {} }], seed: seedOf(scenario) };
    this.origin = { lab };
    this.flows.flow = 0;
    await this.take(lab);
  }

  /** Shows a flow of a capture, from its first packet on; the scenario at the left stays. */
  private captured(run: RunTrace, name: string): void {
    this.guest.bring(run, name);
    this.display();
    if (!this.guest.simulated) this.views.setWindow(...fromFirst(run));
  }

  /** Shows a run from elsewhere. The scenario at the left is unchanged. */
  private async trace(file: File, kind: "csv" | "parquet"): Promise<void> {
    this.stop();
    const run = await this.file.read(file, kind);
    if (!run) return;
    this.capture.left();
    this.guest.bring(run, file.name);
    this.display();
    this.views.setWindow(0, busy(this.runs));
    this.parts.say(`The graphs show the trace ${file.name}. Run shows the scenario at the left again.`);
  }

  private listen(): void {
    follow((now) => this.header.dark(now === "dark"));
    dropped((file) => void this.bring(file));
  }

  /** Opens the menu of what can be changed about a packet. */
  private change(packet: PacketRef): void {
    const run = this.runs[packet.run];
    const column = this.guest.simulated ? columns(this.session.lab)[packet.run] : undefined;
    if (run) packetMenu(run, packet, column, (next) => this.edit(next));
  }

  private stop(): void {
    this.session.stop();
    this.capture.stop();
    this.file.stop();
    this.repeats.stop();
  }
}

/** Makes the page. */
export async function app(): Promise<void> {
  const engine = await load();
  const [named, schema, prepared] = await Promise.all([engine.stacks(), engine.schema(), presets()]);
  const shapes = new Schema(schema);
  await new App(engine, { named: named as unknown as Table[], slots: shapes.slots() }, prepared, shapes).begin();
}
