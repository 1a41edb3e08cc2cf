/** A tooltip with information on the object under the pointer. */

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
  readonly element = document.createElement("div");

  constructor() {
    this.element.className = "ak-tip";
    this.element.setAttribute("role", "status");
    this.element.hidden = true;
  }

  /** Shows `tip` beside a place in the window (px), on the side where there is room; with a button for `deed`. */
  show(tip: Tip, x: number, y: number, deed?: Deed): void {
    const { element } = this;
    element.replaceChildren(line("strong", tip.title));
    if (tip.note) element.append(line("em", tip.note));
    const list = document.createElement("dl");
    for (const [name, value] of tip.rows) list.append(line("dt", name), line("dd", value));
    element.append(list);
    element.classList.toggle("ak-acts", deed !== undefined);
    if (deed) element.append(button(deed));
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

function button({ says, act }: Deed): HTMLElement {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = says;
  element.addEventListener("click", act);
  return element;
}

function line(tag: string, text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
