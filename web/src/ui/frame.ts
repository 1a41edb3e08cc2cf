/** The parts of the page and their layout. */
import { fill, h } from "../dom";

export interface Frame {
  views: HTMLElement;
  /** Shows a note above the graphs, with buttons; hides it without a text. */
  say: (text?: string, bad?: boolean, ...deeds: HTMLElement[]) => void;
  /** Marks the graphs as those of the run before the last change. */
  stale: (is: boolean) => void;
}

/** Puts the parts into the document; `flows` chooses the flow that the graphs show. */
export function frame(header: HTMLElement, panel: HTMLElement, flows: HTMLElement, ...cards: HTMLElement[]): Frame {
  const message = h("p", { class: "note", role: "status", hidden: true });
  const say = (text = "", bad = false, ...deeds: HTMLElement[]) => {
    fill(message, text, ...deeds.flatMap((deed) => [" ", deed]));
    message.hidden = text === "";
    message.classList.toggle("bad", bad);
  };
  const views = h("div", { class: "card views" }, flows);
  const old = h("div", { class: "old", role: "status", hidden: true });
  views.prepend(old);
  const stale = (is: boolean) => {
    views.classList.toggle("stale", is);
    old.hidden = !is;
    // Filled again, so that screen readers announce it.
    fill(old, is && h("span", {}, "Graphs and results of the run before your change"));
  };
  const main = h("main", { id: "main", tabindex: -1 }, message, ...cards, views);
  const closeDrawer = () => document.body.classList.remove("drawer");
  window.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") closeDrawer();
  });
  const scrim = h("div", { class: "scrim", onclick: closeDrawer });
  const skip = h("a", { class: "skip", href: "#main" }, "To the graphs");
  skip.addEventListener("click", (event) => {
    event.preventDefault(); // the fragment holds the state
    main.focus();
  });
  document.body.replaceChildren(skip, header, panel, scrim, main);
  return { views, say, stale };
}
