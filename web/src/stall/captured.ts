/** The stalls of a captured flow, in the words of the analysis. */
import { duration } from "../chart/ticks";
import type { Captured } from "../engine/capture";
import type { CapturedStall } from "../engine/rows";
import type { Stall } from "./stall";

export function capturedStalls({ stalls }: Captured, flow: number): Stall[] {
  return stalls.map((stall) => {
    const [from, to] = [stall.start_s, stall.start_s + stall.duration_s];
    return { flow, from, to, title: title(stall), sentences: sentences(stall, from, to) };
  });
}

function title({ duration_s, cause }: CapturedStall): string {
  return `${duration(duration_s)} without a segment of data: ${cause}`;
}

function sentences(
  { frame_before, frame_after, evidence }: CapturedStall,
  from: number,
  to: number,
): Stall["sentences"] {
  const why = `${evidence.charAt(0).toUpperCase()}${evidence.slice(1)}.`;
  return [
    { time: from, text: `Frame ${frame_before} was the last segment for a while.`, rows: [] },
    { time: to, text: `Frame ${frame_after} ended it. ${why}`, rows: [] },
  ];
}
