/** The parts of the page and where they stand. */
import { h } from "./dom";

export interface Frame {
  views: HTMLElement;
  /** Says above the graphs what one must know about them, or nothing. */
  say: (text?: string, bad?: boolean) => void;
  /** Which flow is seen, where there are several. */
  flows: HTMLElement;
}

/** Puts the parts into the document. */
export function frame(header: HTMLElement, panel: HTMLElement, ...cards: HTMLElement[]): Frame {
  const said = h("p", { class: "note", role: "status", hidden: true });
  const say = (text = "", bad = false) => {
    said.textContent = text;
    said.hidden = text === "";
    said.classList.toggle("bad", bad);
  };
  const flows = h("div", { class: "line flows", hidden: true });
  const views = h("div", { class: "card views" }, flows);
  const main = h("main", { id: "main", tabindex: -1 }, said, ...cards, views);
  const closeDrawer = () => document.body.classList.remove("drawer");
  const scrim = h("div", { class: "scrim", onclick: closeDrawer });
  const skip = h("a", { class: "skip", href: "#main" }, "To the graphs");
  skip.addEventListener("click", (event) => {
    event.preventDefault(); // the fragment holds the state
    main.focus();
  });
  document.body.replaceChildren(skip, header, panel, scrim, main);
  return { views, flows, say };
}
