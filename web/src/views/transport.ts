/** Plays the cursor through time, in both directions and at any speed. */

import { duration, grouped, moment } from "../chart/ticks";
import type { Timeline } from "../chart/timeline";
import { h } from "../dom";

/** Speeds, in simulated seconds per real second, range from 10 to the power of this … */
const SLOWEST = -5;
const FASTEST = 2;
/** Interval between the steps of playback with reduced motion, in ms. */
const JUMP_MS = 500;
/** The initial speed shows a round trip in about this time, s. */
const WATCHED_S = 2;

export class Transport {
  readonly element: HTMLElement;
  private readonly back = button("◀", "play backwards");
  private readonly on = button("▶", "play");
  private readonly scrub = h("input", {
    type: "range",
    min: "0",
    max: "1000000",
    value: "0",
    "aria-label": "moment",
  });
  private readonly pace = h("input", {
    type: "range",
    min: String(SLOWEST),
    max: String(FASTEST),
    step: "0.05",
    "aria-label": "speed",
  });
  private readonly now = h("output", { class: "ak-now" });
  private readonly speedText = h("output", { class: "ak-speed" });
  private direction: -1 | 0 | 1 = 0;
  private last = 0;
  private readonly still = matchMedia("(prefers-reduced-motion: reduce)");

  constructor(private readonly timeline: Timeline) {
    this.element = h(
      "div",
      { class: "ak-transport" },
      this.back,
      this.on,
      this.scrub,
      this.now,
      this.pace,
      this.speedText,
    );
    this.back.addEventListener("click", () => this.play(this.direction === -1 ? 0 : -1));
    this.on.addEventListener("click", () => this.play(this.direction === 1 ? 0 : 1));
    this.scrub.addEventListener("input", () => {
      timeline.point((Number(this.scrub.value) / 1e6) * timeline.end);
      timeline.reveal(timeline.cursor ?? 0);
    });
    this.pace.addEventListener("input", () => this.tell());
    timeline.onCursor(() => this.tell());
    this.tell();
  }

  get playing(): boolean {
    return this.direction !== 0;
  }

  /** Chooses a speed at which a round trip of `roundTrip` seconds can be watched. */
  suit(roundTrip: number): void {
    this.pace.value = String(Math.log10(Math.max(roundTrip, 1e-4) / WATCHED_S));
    this.tell();
  }

  /** 1 forwards, -1 backwards, 0 stops. */
  play(direction: -1 | 0 | 1): void {
    const stood = this.direction === 0;
    this.direction = direction;
    const { timeline } = this;
    if (direction === 1 && timeline.cursor === timeline.end) timeline.point(timeline.span.t0);
    const { t0, t1 } = timeline.span;
    const { cursor } = timeline;
    // Playback covers the visible window.
    if (direction !== 0 && (cursor === undefined || cursor < t0 || cursor > t1))
      timeline.point(direction < 0 ? t1 : t0);
    this.tell();
    if (!stood || direction === 0) return;
    this.last = performance.now();
    requestAnimationFrame((now) => this.advance(now));
  }

  private get speed(): number {
    return 10 ** Number(this.pace.value);
  }

  private advance(now: number): void {
    const { timeline } = this;
    if (this.direction === 0) return;
    if (!this.still.matches || now - this.last >= JUMP_MS) {
      timeline.point((timeline.cursor ?? 0) + (this.direction * this.speed * Math.max(now - this.last, 0)) / 1000);
      this.last = now;
      timeline.reveal(timeline.cursor ?? 0);
    }
    const over = timeline.cursor === (this.direction > 0 ? timeline.end : 0);
    if (over) this.play(0);
    else requestAnimationFrame((next) => this.advance(next));
  }

  private tell(): void {
    const { timeline, speed } = this;
    this.scrub.value = String(((timeline.cursor ?? 0) / timeline.end) * 1e6);
    this.now.textContent = timeline.cursor === undefined ? "" : moment(timeline.cursor);
    this.speedText.textContent =
      speed < 0.5 ? `1 s shows ${duration(speed)}` : `1 s shows ${grouped(speed, speed < 10 ? 1 : 0)} s`;
    pressed(this.back, this.direction === -1);
    pressed(this.on, this.direction === 1);
  }
}

function button(sign: string, name: string): HTMLButtonElement {
  return h("button", { type: "button", "aria-label": name, title: name, "data-sign": sign }, sign);
}

function pressed(one: HTMLButtonElement, is: boolean): void {
  one.setAttribute("aria-pressed", String(is));
  one.textContent = is ? "❚❚" : (one.dataset.sign ?? "");
}
