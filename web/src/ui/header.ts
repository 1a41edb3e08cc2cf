/** The bar at the top: title, run and stop, seed, and actions on the whole page. */

import { fill, h } from "../dom";
import { button, iconButton } from "./buttons";
import { type Icon, icon } from "./icons";
import { type Entry, menu, notice } from "./overlay";
import type { Progress } from "./session";

export interface Actions {
  presets: () => void;
  run: () => void;
  stop: () => void;
  seed: (seed: number) => void;
  tour: () => void;
  share: () => void;
  download: () => void;
  open: () => void;
  theme: () => void;
  help: () => void;
  drawer: () => void;
}

export class Header {
  readonly element: HTMLElement;
  private readonly name = h("span", { class: "name" });
  private readonly start: HTMLButtonElement;
  private readonly bar = h("div", {
    class: "progress",
    role: "progressbar",
    "aria-label": "Run",
    "aria-valuemin": 0,
    "aria-valuemax": 100,
  });
  private readonly seedField: HTMLInputElement;
  private running = false;
  /** The message about an invalid seed, until it is corrected. */
  private seedNotice: HTMLElement | undefined;

  /** `edits` are the buttons of undo and redo. */
  constructor(deeds: Actions, edits: HTMLElement) {
    const presets = {
      type: "button",
      class: "preset-button",
      "aria-haspopup": "dialog",
      title: "Experiments (e)",
      onclick: deeds.presets,
    };
    this.start = h("button", {
      type: "button",
      class: "primary run",
      onclick: () => (this.running ? deeds.stop() : deeds.run()),
    });
    this.seedField = h("input", { type: "text", inputmode: "numeric", id: "seed", "aria-label": "Seed" });
    this.seedField.addEventListener("change", () => this.seed(this.seedField, deeds.seed));
    const act = (mark: Icon, says: string, click: () => void, className: string) =>
      iconButton(mark, says, click, { class: className });
    const wide = (mark: Icon, says: string, click: () => void, title?: string) =>
      button(says, click, mark, { class: "bare wide-only", title });
    this.element = h(
      "header",
      {},
      act("panel", "Path and stacks", deeds.drawer, "bare drawer-button"),
      h("h1", {}, "Ackclock ", h("span", {}, "lab")),
      h("button", presets, icon("menu"), this.name, icon("down")),
      this.start,
      h("label", { class: "seed", for: "seed" }, "Seed", this.seedField),
      edits,
      h("span", { class: "spacer wide-only" }),
      wide("tour", "Tour", deeds.tour),
      wide("open", "Open", deeds.open, "Open a scenario, a trace or a capture (o)"),
      wide("download", "Download", deeds.download, "Download (d)"),
      wide("share", "Share", deeds.share, "Copy a link to all of this (s)"),
      act("sun", "Dark or light (t)", deeds.theme, "bare theme wide-only"),
      act("help", "Keyboard and gestures (?)", deeds.help, "bare wide-only"),
      act("more", "More", () => this.more(deeds), "bare narrow-only more"),
      this.bar,
    );
    this.press(false);
    this.progress({ running: false });
  }

  /** The menu for controls that do not fit a narrow screen. */
  private more(deeds: Actions): void {
    const seed = h("input", { type: "text", inputmode: "numeric", id: "seed-more", value: this.seedField.value });
    seed.addEventListener("change", () => {
      if (this.seed(seed, deeds.seed)) box.close();
    });
    const below = h("div", { class: "line by" }, h("label", { for: "seed-more" }, "Seed"), seed);
    const entries: Entry[] = [
      { says: "Tour", icon: "tour", click: deeds.tour },
      { says: "Open a file", icon: "open", click: deeds.open },
      { says: "Download", icon: "download", click: deeds.download },
      { says: "Share", icon: "share", click: deeds.share },
      { says: "Dark or light", icon: "moon", click: deeds.theme },
      { says: "Help", icon: "help", click: deeds.help },
    ];
    const at = this.element.querySelector(".more")?.getBoundingClientRect();
    const box = menu(at?.left ?? 0, at?.bottom ?? 0, "More", entries, below);
  }

  /** Uses a field's value if it is a seed. Returns whether it is. */
  private seed(field: HTMLInputElement, take: Actions["seed"]): boolean {
    const { value } = field;
    const good = /^\d+$/.test(value.trim()) && Number.isSafeInteger(Number(value));
    field.setAttribute("aria-invalid", String(!good));
    this.seedNotice?.remove();
    this.seedNotice = undefined;
    if (good) take(Number(value));
    else
      this.seedNotice = notice(
        `Seed: found "${value}". Allowed: a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`,
        true,
      );
    return good;
  }

  progress(progress: Progress): void {
    if (progress.running !== this.running) this.press(progress.running);
    const share = progress.running ? progress.share : 1;
    this.bar.classList.toggle("on", progress.running);
    this.bar.style.setProperty("--share", String(share));
    this.bar.setAttribute("aria-valuenow", String(Math.round(100 * share)));
  }

  /** The button's face: it stops what is running, or runs. */
  private press(running: boolean): void {
    this.running = running;
    const says = running ? "Stop" : "Run";
    fill(this.start, icon(running ? "stop" : "run"), h("span", { class: "wide-only" }, says));
    this.start.setAttribute("aria-label", says);
    this.start.title = running ? "Stop (Escape)" : "Run again (r)";
  }

  show(name: string, seed: number): void {
    this.name.textContent = name;
    this.seedField.value = String(seed);
    this.seedField.setAttribute("aria-invalid", "false");
  }

  dark(is: boolean): void {
    const button = this.element.querySelector(".theme");
    if (button) fill(button, icon(is ? "sun" : "moon"));
  }
}
