/** The time-sequence graph (Shepard 1991): when data was sent, its fate, and the ACKs that the sender received. */

import type { Bars } from "../../chart/bars";
import { drawBars, drawSigns, drawStairs, drawTicks } from "../../chart/paint";
import { during } from "../../chart/pyramid";
import type { Stairs } from "../../chart/stairs";
import { Coords, type Shape, type Surface } from "../../chart/surface";
import { KINDS, type Kind } from "../../engine/trace";
import type { LegendItem, Scene } from "../chart";
import type { Course } from "./course";

export const LAYERS = [
  { key: "first", label: "first transmission", colour: "first", draw: "bar" },
  { key: "needed", label: "retransmission, needed", colour: "needed", draw: "bar", shape: "triangle" },
  { key: "refused", label: "retransmission, refused", colour: "refused", draw: "bar", shape: "disc" },
  { key: "needless", label: "retransmission, needless", colour: "needless", draw: "bar", shape: "diamond" },
  { key: "open", label: "retransmission, verdict open", colour: "open", draw: "bar", shape: "square" },
  { key: "undecided", label: "retransmission, undecided", colour: "open", draw: "bar", shape: "square" },
  { key: "dropped", label: "dropped", colour: "dropped", draw: "sign", shape: "cross" },
  { key: "marked", label: "marked by a queue (CE)", colour: "dsack", draw: "sign", shape: "wedge" },
  { key: "lostAcks", label: "dropped ACK", colour: "ack", draw: "sign", shape: "cross" },
  { key: "echo", label: "ACK that echoes a mark (ECE)", colour: "dsack", draw: "sign", shape: "disc" },
  { key: "acked", label: "acknowledged", colour: "ack", draw: "line" },
  { key: "duplicates", label: "duplicate ACK", colour: "ack", draw: "sign", shape: "tick" },
  { key: "sack", label: "SACK block", colour: "sack", draw: "bar" },
  { key: "dsack", label: "DSACK block", colour: "dsack", draw: "bar", shape: "ring" },
  { key: "rwnd", label: "peer's window", colour: "rwnd", draw: "line" },
  { key: "allowed", label: "own window", colour: "cwnd", draw: "line", dash: [3, 3] },
  { key: "timeout", label: "timeout", colour: "dropped", draw: "sign", shape: "bolt" },
  { key: "mistake", label: "episode found a mistake", colour: "needless", draw: "sign", shape: "wedge" },
  { key: "probe", label: "tail loss probe", colour: "needed", draw: "sign", shape: "square" },
  { key: "persist", label: "zero window probed", colour: "ack", draw: "sign", shape: "square" },
] as const satisfies readonly LegendItem[];

/** Layers along the upper edge, each with its marks. */
const MARKS: Readonly<Partial<Record<LayerKey, readonly Kind[]>>> = {
  timeout: ["timeout"],
  mistake: ["mistake", "undone"],
  probe: ["probe"],
  persist: ["persist"],
};

export type LayerKey = (typeof LAYERS)[number]["key"];

const SIGN_PX = 9;
const NARROW_PX = 2;
const WIDE_PX = 4;
/** If segments are at least this far apart, px, each gets its two ends, as in xplot. */
const ENDS_PX = 14;

const scratch = new Coords();
const signs = new Coords();

/** Draws the layers that `hidden` does not name. */
export function drawCourse(surface: Surface, course: Course, scene: Scene): void {
  const { sight, plot, theme, hidden } = scene;
  const shown = (key: LayerKey) => !hidden.has(key);
  const { first, end } = during(course.first.time, sight.x.from, sight.x.to);
  const each = plot.width / Math.max(end - first, 1);
  const width = Math.min(Math.max(each * 0.3, NARROW_PX), WIDE_PX);
  const ends = each > ENDS_PX ? width + 4 : 0;
  for (const layer of LAYERS.filter(({ draw }) => draw === "line")) {
    if (!shown(layer.key)) continue;
    const dash = "dash" in layer ? { dash: layer.dash } : {};
    drawStairs(surface, course[layer.key as keyof Course] as Stairs, sight, {
      colour: theme[layer.colour],
      width: 1.25,
      ...dash,
    });
  }
  if (shown("sack")) drawBars(surface, course.sack, sight, theme.sack, { width: Math.max(width * 0.6, 1) });
  if (shown("dsack")) drawBars(surface, course.dsack, sight, theme.dsack, { width: width + 1.5 });
  if (shown("duplicates")) drawTicks(surface, course.duplicates, sight, theme.ack);
  if (shown("first")) drawBars(surface, course.first, sight, theme.first, { width, ends, grow: true });
  for (const key of ["undecided", "open", "needless", "refused", "needed"] as const)
    if (shown(key))
      drawBars(surface, course[key], sight, theme[key === "undecided" ? "open" : key], {
        width: width + 0.5,
        ends,
        grow: true,
      });
  for (const layer of LAYERS) {
    if (!("shape" in layer) || layer.shape === "tick" || !shown(layer.key)) continue;
    const kinds = MARKS[layer.key];
    if (kinds) {
      drawMarks(surface, course, scene, kinds, layer);
      continue;
    }
    const style = { colour: theme[layer.colour], size: SIGN_PX, rim: theme.paper };
    drawSigns(surface, course[layer.key as keyof Course] as Bars, sight, layer.shape, style);
  }
}

/** Whether the course has any data for the layer. */
export function hasLayer(course: Course, key: LayerKey): boolean {
  const kinds = MARKS[key];
  if (kinds) return course.flow.marks.kind.some((kind) => kinds.includes(KINDS[kind]));
  return (course[key as keyof Course] as Bars | Stairs).length > 0;
}

/** Timeouts and verdicts on whole episodes, along the upper edge. */
function drawMarks(
  surface: Surface,
  { flow: { marks } }: Course,
  { sight, plot, theme }: Scene,
  kinds: readonly Kind[],
  { key, shape, colour }: LegendItem & { shape: Shape },
): void {
  const { first, end } = during(marks.time, sight.x.from, sight.x.to);
  let last = Number.NEGATIVE_INFINITY;
  signs.clear();
  scratch.clear();
  for (let i = first; i < end; i++) {
    if (!kinds.includes(KINDS[marks.kind[i]])) continue;
    const x = sight.x.at(marks.time[i]);
    if (x - last < SIGN_PX) continue;
    last = x;
    signs.point(x, plot.y + SIGN_PX);
    if (key === "timeout") scratch.box(Math.round(x / sight.pixel) * sight.pixel, plot.y, sight.pixel, plot.height);
  }
  surface.boxes(scratch, theme[colour], 0.5);
  if (signs.length > 0) surface.signs(signs, shape, { colour: theme[colour], size: SIGN_PX + 2, rim: theme.paper });
}
