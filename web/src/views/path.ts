/** View (d): packets moving along the path, at the cursor's time. */

import { Panel, type Size } from "../chart/panel";
import type { Surface } from "../chart/surface";
import { h } from "../dom";
import type { FlowTrace, RunTrace } from "../engine/trace";
import { drawPackets, drawPath, PATH_PX, type Ways } from "./path/draw";
import { emptyTime, route } from "./path/flight";
import type { Shared } from "./row";

/** The routes of a flow; undefined if its ends are not connected in both directions. */
export function ways(run: RunTrace, flow: FlowTrace): Ways | undefined {
  const there = route(run, flow.from, flow.to);
  const back = route(run, flow.to, flow.from);
  if (!there || !back) return undefined;
  const data = Math.max(longest(flow.sends.time, flow.sends.fateTime), emptyTime(there, flow.mss));
  return { flow, there, back, longest: { data, ack: longest(flow.acks.sent, flow.acks.time) } };
}

/** The longest time from an event to another, s. */
function longest(from: Float64Array, to: Float64Array): number {
  let found = 0;
  for (let i = 0; i < from.length; i++) if (to[i] - from[i] > found) found = to[i] - from[i];
  return found;
}

export class PathView {
  readonly element: HTMLElement;
  private readonly grid = h("div", { class: "ak-grid" });
  private panels: Panel[] = [];
  private drawn: readonly { ways: Ways; heading: string }[] = [];

  constructor(private readonly shared: Shared) {
    this.element = h("section", { class: "ak-view", "data-view": "path", "aria-label": "packets on the path" });
    this.element.append(this.grid);
  }

  set(flows: readonly (Ways | undefined)[], headings: readonly string[]): void {
    for (const panel of this.panels) panel.destroy();
    this.drawn = flows.flatMap((one, run) => (one ? [{ ways: one, heading: headings[run] }] : []));
    this.element.hidden = this.drawn.length === 0;
    this.panels = this.drawn.map(({ heading }, i) => {
      const panel = new Panel(
        `packets on the path, ${heading || "run"}`,
        (surface, size) => this.still(surface, i, size),
        (surface, size) => this.moving(surface, i, size),
        () => true,
      );
      panel.element.classList.add("ak-path");
      panel.element.style.height = `${PATH_PX}px`;
      return panel;
    });
    this.grid.replaceChildren(...this.panels.map(({ element }) => element));
  }

  repaint(): void {
    for (const panel of this.panels) panel.repaint();
  }

  refresh(): void {
    for (const panel of this.panels) panel.refresh();
  }

  sizes(): Size[] {
    return this.panels.map(({ width, height }) => ({ width, height }));
  }

  draw(surface: Surface, i: number, size: Size): void {
    this.still(surface, i, size);
    this.moving(surface, i, size);
  }

  /** The shortest round trip of the first run, s. */
  roundTrip(): number {
    const first = this.drawn[0]?.ways;
    return first ? emptyTime(first.there, first.flow.mss) + emptyTime(first.back, 0) : 1;
  }

  private still(surface: Surface, i: number, { width, height }: Size): void {
    const { ways: drawn, heading } = this.drawn[i];
    drawPath(surface, drawn, width, height, this.shared.theme(), heading);
  }

  private moving(surface: Surface, i: number, { width, height }: Size): void {
    const { timeline, theme } = this.shared;
    drawPackets(surface, this.drawn[i].ways, width, height, theme(), timeline.cursor ?? timeline.span.t0);
  }
}
