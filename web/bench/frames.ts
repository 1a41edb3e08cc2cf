/**
 * The number of frames per second that the views draw while a million packets are panned and zoomed. A browser opens
 * `bench/frames.html` on
 * Vite's server (`?runs=4` shares the million among four runs) and asks for `await measure()`; there is no other user.
 */

import { Views } from "../src/views/views";
import { syntheticRun } from "./synthetic";

/** The cost of one kind of movement. */
interface Measured {
  readonly name: string;
  readonly frames: number;
  readonly framesPerSecond: number;
  /** Between two frames, ms. */
  readonly median: number;
  readonly worst: number;
}

const PACKETS = 1_000_000;
const FRAMES = 90;

const query = new URLSearchParams(location.search);
const runs = Number(query.get("runs") ?? 1);
const container = document.querySelector<HTMLElement>("#views");
if (!container) throw new Error("no container");
const nothing = () => {};
const listeners = { packet: nothing, window: nothing, measured: nothing };
const views = new Views(container, document.createElement("div"), listeners);
const made = Array.from({ length: runs }, (_, i) => syntheticRun(PACKETS / runs, 1000, `run ${i + 1}`));
const began = performance.now();
views.setRuns(made);
/** The time that the views needed to load the runs, ms. */
export const taken = performance.now() - began;

const frame = () => new Promise<number>(requestAnimationFrame);

async function drive(name: string, step: (n: number) => void): Promise<Measured> {
  const gaps: number[] = [];
  let before = await frame();
  for (let n = 0; n < FRAMES; n++) {
    step(n);
    const now = await frame();
    gaps.push(now - before);
    before = now;
  }
  const total = gaps.reduce((sum, gap) => sum + gap, 0);
  const ordered = gaps.toSorted((a, b) => a - b);
  return {
    name,
    frames: FRAMES,
    framesPerSecond: (1000 * FRAMES) / total,
    median: ordered[FRAMES / 2],
    worst: ordered[FRAMES - 1],
  };
}

/** Pans and zooms over everything, over a tenth, and down to single packets. */
export async function measure(): Promise<Measured[]> {
  const { timeline } = views;
  const { end } = timeline;
  timeline.reset();
  await frame();
  const answer = [
    await drive("zoom in from all to 50 ms", (n) =>
      timeline.zoom((0.05 / end) ** (1 / FRAMES), end * (0.5 + n * 1e-7)),
    ),
  ];
  for (const share of [0.9, 0.1, 0.01, 0.0005]) {
    const length = share * end;
    timeline.set(0, length);
    answer.push(
      await drive(`pan, ${Math.round(share * PACKETS)} packets in sight`, () =>
        timeline.pan(Math.min(length / 60, (end - length) / FRAMES)),
      ),
    );
  }
  timeline.set(end / 2, end / 2 + 0.1);
  answer.push(await drive("zoom out to all", () => timeline.zoom((end / 0.1) ** (1 / FRAMES))));
  return answer;
}

Object.assign(window, { measure, views, taken });
