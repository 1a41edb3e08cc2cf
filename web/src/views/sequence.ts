/** View (a): the time-sequence graph. */

import type { Bars, Range, Sight } from "../chart/bars";
import { countBelow } from "../chart/pyramid";
import type { Surface } from "../chart/surface";
import { bytes, byteUnit } from "../chart/ticks";
import type { Tip } from "../chart/tip";
import { BANDS, drawBands, hasPhase } from "./bands";
import type { Chart, Hit, Scene, Style } from "./chart";
import type { Listing } from "./listing";
import { tellAnswer, tellSegment } from "./sequence/captured";
import type { Course } from "./sequence/course";
import { drawCourse, hasLayer, LAYERS } from "./sequence/draw";
import { listed } from "./sequence/list";
import { tellAck, tellData, type Variables } from "./sequence/tell";

export const SEQUENCE: Style = {
  name: "sequence",
  title: "sequence",
  height: 330,
  unit: byteUnit,
  own: true,
  legend: [...LAYERS, ...BANDS],
};

const REACH_PX = 24;
/** An ACK must be nearer than data by this many px to be selected. */
const DATA_FIRST_PX = 3;
/** The peer's window is not shown if it is farther above the data than this share of the height. */
const NEAR = 0.2;

export class SequenceChart implements Chart {
  private readonly data: readonly Bars[];

  constructor(
    private readonly course: Course,
    private readonly state: Variables,
  ) {
    this.data = [course.needed, course.refused, course.needless, course.open, course.undecided, course.first];
  }

  has(key: string): boolean {
    const layer = LAYERS.find((one) => one.key === key);
    return layer ? hasLayer(this.course, layer.key) : hasPhase(this.course.flow.phases, key);
  }

  fit(t0: number, t1: number): Range {
    const { course } = this;
    const seen = { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };
    for (const one of [...this.data, course.acked]) {
      const { low, high } = one.range(t0, t1);
      seen.low = Math.min(seen.low, low);
      seen.high = Math.max(seen.high, high);
    }
    for (const line of [course.allowed, course.rwnd]) {
      const { high } = line.range(t0, t1);
      if (high > seen.high && high < seen.high + NEAR * (seen.high - seen.low)) seen.high = high;
    }
    return seen;
  }

  ground(surface: Surface, scene: Scene): void {
    drawBands(surface, this.course.flow.phases, scene);
  }

  draw(surface: Surface, scene: Scene): void {
    drawCourse(surface, this.course, scene);
  }

  read(time: number): readonly (readonly [string, string])[] {
    const una = this.course.acked.at(time);
    return Number.isNaN(una) ? [] : [["acknowledged", bytes(una - 1)]];
  }

  hit(sight: Sight, x: number, y: number): Hit | undefined {
    let best: Hit | undefined;
    let distance = REACH_PX;
    for (const bars of this.data) {
      const found = bars.nearest(sight, x, y, distance);
      if (!found) continue;
      distance = found.distance;
      best = this.at("data", bars, found.point);
    }
    if (best) distance -= DATA_FIRST_PX;
    for (const bars of [this.course.acks, this.course.lostAcks]) {
      const found = bars.nearest(sight, x, y, distance);
      if (!found) continue;
      distance = found.distance;
      best = this.at("ack", bars, found.point);
    }
    return best;
  }

  next(from: Hit | number, by: 1 | -1): Hit | undefined {
    const { sends } = this.course.flow;
    let index: number;
    if (typeof from === "number") index = countBelow(sends.time, from) - (by > 0 ? 0 : 1);
    else if (from.kind === "data") index = from.index + by;
    else {
      const { acks } = this.course;
      const point = countBelow(acks.item, from.index) + by;
      return point >= 0 && point < acks.length ? this.at("ack", acks, point) : undefined;
    }
    if (index < 0 || index >= sends.time.length) return undefined;
    const low = sends.seq[index];
    return { kind: "data", index, time: sends.time[index], low, high: low + sends.len[index] };
  }

  tell(hit: Hit): Tip {
    const { captured } = this.course.flow;
    if (captured) return (hit.kind === "data" ? tellSegment : tellAnswer)(this.course, captured, hit.index);
    return (hit.kind === "data" ? tellData : tellAck)(this.course, this.state, hit.index);
  }

  list(t0: number, t1: number): Listing {
    return listed(this.course, t0, t1);
  }

  private at(kind: Hit["kind"], bars: Bars, point: number): Hit {
    return { kind, index: bars.item[point], time: bars.time[point], low: bars.low[point], high: bars.high[point] };
  }
}
