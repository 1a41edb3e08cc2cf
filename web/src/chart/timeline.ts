/** The time axis that all views share: the visible window and the selected moment. */

/** A range of time, in seconds. */
export interface Span {
  readonly t0: number;
  readonly t1: number;
}

/** The shortest visible time: the engine counts nanoseconds. */
const CLOSEST_S = 1e-6;

export class Timeline {
  private seen: Span = { t0: 0, t1: 1 };
  private last = 1;
  private looked: number | undefined;
  private readonly windowListeners: ((span: Span) => void)[] = [];
  private readonly cursorListeners: ((time: number | undefined) => void)[] = [];

  /** The end of the run, s. */
  get end(): number {
    return this.last;
  }

  get span(): Span {
    return this.seen;
  }

  /** The moment at the cursor, if any. */
  get cursor(): number | undefined {
    return this.looked;
  }

  get whole(): boolean {
    return this.seen.t0 === 0 && this.seen.t1 === this.last;
  }

  onWindow(listener: (span: Span) => void): void {
    this.windowListeners.push(listener);
  }

  onCursor(listener: (time: number | undefined) => void): void {
    this.cursorListeners.push(listener);
  }

  /** Sets a run of `end` seconds; all of it is visible if all of the previous run was. */
  setEnd(end: number): void {
    const all = this.whole;
    this.last = Math.max(end, CLOSEST_S);
    if (all) this.set(0, this.last);
    else this.set(this.seen.t0, this.seen.t1);
  }

  /** Shows from `t0` to `t1`, moved into the run without a change of length if possible. */
  set(t0: number, t1: number): void {
    if (!Number.isFinite(t0) || !Number.isFinite(t1)) return;
    const length = Math.min(Math.max(Math.abs(t1 - t0), CLOSEST_S), this.last);
    const begin = Math.min(Math.max(Math.min(t0, t1), 0), this.last - length);
    const next = { t0: begin, t1: length === this.last ? this.last : begin + length };
    if (next.t0 === this.seen.t0 && next.t1 === this.seen.t1) return;
    this.seen = next;
    for (const listener of this.windowListeners) listener(next);
  }

  /** Scales the visible time by `factor`; `about` keeps its place on the screen. */
  zoom(factor: number, about = (this.seen.t0 + this.seen.t1) / 2): void {
    const length = this.seen.t1 - this.seen.t0;
    const next = Math.min(Math.max(length * factor, CLOSEST_S), this.last);
    const share = (about - this.seen.t0) / length;
    this.set(about - share * next, about + (1 - share) * next);
  }

  pan(seconds: number): void {
    this.set(this.seen.t0 + seconds, this.seen.t1 + seconds);
  }

  reset(): void {
    this.set(0, this.last);
  }

  /** Moves the window, if necessary, so that `time` is visible. */
  reveal(time: number): void {
    const { t0, t1 } = this.seen;
    if (time >= t0 && time <= t1) return;
    this.set(time - (t1 - t0) / 2, time + (t1 - t0) / 2);
  }

  point(time: number | undefined): void {
    const next = time === undefined ? undefined : Math.min(Math.max(time, 0), this.last);
    if (next === this.looked) return;
    this.looked = next;
    for (const listener of this.cursorListeners) listener(next);
  }
}
