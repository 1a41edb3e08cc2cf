/** A tooltip with information on the object under the pointer. */
import { fill, h } from "../dom";

export interface Tip {
  readonly title: string;
  /** Marks an unusual value. */
  readonly note?: string;
  readonly rows: readonly (readonly [string, string])[];
}

/** Actions on the object. */
export interface Deed {
  readonly says: string;
  readonly act: () => void;
}

const AWAY_PX = 16;

export class Tooltip {
  readonly element = h("div", { class: "ak-tip", role: "status", hidden: true });

  /** Shows `tip` beside a place in the window (px), on the side where there is room; with a button for `deed`. */
  show(tip: Tip, x: number, y: number, deed?: Deed): void {
    const { element } = this;
    const rows = tip.rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
    const act = deed && h("button", { type: "button", onclick: deed.act }, deed.says);
    fill(element, h("strong", {}, tip.title), tip.note ? h("em", {}, tip.note) : null, h("dl", {}, ...rows), act);
    element.classList.toggle("ak-acts", deed !== undefined);
    element.hidden = false;
    const { width, height } = element.getBoundingClientRect();
    const left = x + AWAY_PX + width < innerWidth ? x + AWAY_PX : Math.max(x - AWAY_PX - width, 4);
    const top = Math.min(Math.max(y + AWAY_PX, 4), Math.max(innerHeight - height - 4, 4));
    element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
