/** An opened capture: its flows, the flow that is drawn, and the path that explains it. */

import { grouped } from "../chart/ticks";
import { fill, h } from "../dom";
import type { At, Found } from "../engine/capture";
import type { CaptureFile, Engine, Options } from "../engine/engine";
import type { CapturedConnection, CapturedFlow } from "../engine/rows";
import type { RunTrace } from "../engine/trace";
import { button, iconButton } from "./buttons";
import { askedTable, captureTable, markFlow } from "./captureTable";
import { timeBar, timeOf, waitsOf } from "./captureTimes";
import { drawnFlow, fitted, MOST_BYTES, tooLarge } from "./captureWords";
import { notice } from "./overlay";
import type { Progress } from "./session";

/** The initial sender on a fitted path: the sender in most captures. */
const SENDER = "linux-2025";

/** Where it was captured, as offered to the user. */
const PLACES: readonly (readonly [At | "", string])[] = [
  ["", "found out"],
  ["sender", "at the sender"],
  ["receiver", "at the receiver"],
  ["middle", "on the way"],
];

/** The panel's actions on the page. */
export interface Hooks {
  progress: (progress: Progress) => void;
  /** Stops other activities. */
  stop: () => void;
  draw: (run: RunTrace, name: string) => void;
  /** The capture is closed. */
  left: () => void;
  /** Opens a scenario and runs it. */
  scenario: (toml: string) => Promise<void>;
  say: (text: string, bad?: boolean) => void;
}

export class CapturePanel {
  readonly element = h("section", { class: "card capture", "aria-label": "Capture", hidden: true });
  private readonly title = h("h2", {});
  private readonly answers = h("ul", { class: "answers", "aria-label": "The answer" });
  private readonly message = h("p", { class: "hint about" });
  private readonly flows = h("div", {});
  /** About the flow that is drawn. */
  private readonly chosen = h("div", {});
  private readonly asked = h("div", {});
  private readonly place = h("select", { "aria-label": "Where it was captured" });
  private readonly other: HTMLButtonElement;
  private of: CaptureFile | undefined;
  private drawn: CapturedFlow | undefined;
  private reading: AbortController | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly hooks: Hooks,
  ) {
    for (const [value, says] of PLACES) this.place.append(h("option", { value }, says));
    this.place.addEventListener("change", () => void this.again());
    this.other = button("Try another sender", () => this.fit());
    const close = iconButton("remove", "Close the capture", () => this.close());
    const where = h("label", { class: "hint" }, "Captured ", this.place);
    const line = h("div", { class: "line" }, this.title, h("span", { class: "spacer" }), where, this.other, close);
    this.element.append(line, this.answers, this.message, this.flows, this.chosen, this.asked);
  }

  /** Reads a file and draws its largest flow. */
  async open(file: File): Promise<void> {
    if (file.size > MOST_BYTES) notice(tooLarge(file.name, file.size), true);
    else await this.survey({ file, name: file.name });
  }

  stop(): void {
    if (!this.reading) return;
    this.hooks.say("");
    this.reading.abort();
    this.reading = undefined;
  }

  /** The page now draws something else. */
  left(): void {
    this.drawn = undefined;
    fill(this.chosen);
    markFlow(this.flows, undefined);
    this.other.disabled = true;
  }

  private close(): void {
    this.stop();
    this.of = undefined;
    this.element.hidden = true;
    this.hooks.left();
  }

  private async again(): Promise<void> {
    if (!this.of) return;
    const at = (this.place.value || undefined) as At | undefined;
    await this.survey({ ...this.of, at });
  }

  private async survey(of: CaptureFile): Promise<void> {
    const found = await this.read(`Reading ${of.name}`, (options) => this.engine.capture(of, options), refused(of));
    if (!found) return;
    const before = this.drawn;
    this.of = of;
    this.show(of, found);
    const same = (flow: CapturedFlow) => flow.flow === before?.flow && flow.connection === before.connection;
    const largest = found.flows.toSorted((a, b) => b.bytes - a.bytes)[0];
    const next = found.flows.find(same) ?? largest;
    if (next) await this.choose(next);
  }

  private show(of: CaptureFile, { answers, remarks, files: [file], flows, connections }: Found): void {
    this.element.hidden = false;
    this.title.textContent = of.name;
    this.place.value = of.at ?? "";
    fill(this.answers, ...answers.map((answer) => h("li", {}, answer)));
    this.answers.hidden = answers.length === 0;
    this.message.textContent = [...remarks, ...file.remarks].join(" ");
    const main = flows.filter((flow) => flow.main);
    fill(
      this.flows,
      main.length > 1 && timeBar(`The time of all ${grouped(main.length)} flows`, timeOf(main)),
      flows.length > 0 && captureTable(flows, (flow) => void this.choose(flow)),
    );
    const asked = connections.filter(({ exchanges }) => exchanges > 0);
    fill(this.asked, asked.length > 0 && askedDetails(asked));
    this.left();
  }

  private async choose(flow: CapturedFlow): Promise<void> {
    const { of } = this;
    if (!of) return;
    const asked = (options: Options) => this.engine.captureFlow(of, flow, options);
    const run = await this.read(`Reading ${flow.flow}`, asked, refused(of));
    const captured = run?.flows[0]?.captured;
    if (!run || !captured) return;
    this.hooks.draw(run, flow.flow);
    this.hooks.say(drawnFlow(captured));
    this.drawn = flow;
    const isTold = [...this.answers.children].some(({ textContent }) => textContent === flow.answer);
    fill(
      this.chosen,
      !isTold && flow.answer !== null && h("p", {}, flow.answer),
      timeBar(`The time of ${flow.flow}`, flow.time_by_cause_s),
    );
    this.other.disabled = false;
    markFlow(this.flows, flow);
  }

  /** Opens the path that explains the flow as the page's scenario. */
  private async fit(): Promise<void> {
    const { of, drawn } = this;
    if (!of || !drawn) return;
    const asked = (options: Options) => this.engine.captureFit(of, drawn, SENDER, options);
    const failed = (why: string) => this.hooks.say(`No path can be fitted. ${why}.`, true);
    const fit = await this.read(`Fitting a path to ${drawn.flow}`, asked, failed);
    if (!fit) return;
    await this.hooks.scenario(fit.scenarios[0] ?? "");
    this.hooks.say(fitted(fit));
  }

  /** Asks the engine and shows its progress. Returns undefined if it was stopped or failed. */
  private async read<T>(
    what: string,
    ask: (options: Options) => Promise<T>,
    failed: (why: string) => void,
  ): Promise<T | undefined> {
    this.hooks.stop();
    const mine = new AbortController();
    this.reading = mine;
    const progress = (share: number) => {
      if (this.reading === mine) this.hooks.progress({ running: true, share });
    };
    progress(0);
    this.hooks.say(`${what} …`);
    try {
      return await ask({ signal: mine.signal, progress });
    } catch (error) {
      if (!mine.signal.aborted) {
        this.hooks.say("");
        failed((error as Error).message);
      }
      return undefined;
    } finally {
      if (this.reading === mine) {
        this.reading = undefined;
        this.hooks.progress({ running: false });
      }
    }
  }
}

/** The time of client, network and server, and each connection with requests and answers. */
function askedDetails(asked: readonly CapturedConnection[]): HTMLElement {
  const bar = timeBar("Where requests and answers spent their time", waitsOf(asked));
  return h("details", {}, h("summary", {}, "Client, network, server"), bar, askedTable(asked));
}

/** Explains why a file is not read. */
function refused({ name }: CaptureFile): (why: string) => void {
  return (why) => notice(`${name}: ${why}`, true);
}
