/** What was done to packets by hand, each with a way to take it back. */
import { h } from "./dom";
import { type Deed, deeds, placeOf, says, withDeeds } from "./hand";
import { icon } from "./icons";
import { flowsOf } from "./links";
import type { Path, Table } from "./path";

/** The list; nothing if nothing was done. */
export function handPanel(scenario: Table, change: (next: Table) => void): HTMLElement[] {
  const rows = flowsOf(scenario).flatMap((_, flow) => {
    const path = placeOf(scenario, flow);
    return path ? deeds(scenario, path).map((deed) => row(scenario, path, deed, change)) : [];
  });
  if (rows.length === 0) return [];
  const caution =
    "Packets are counted as they are sent, from 0. What changes early may make later numbers mean other packets.";
  return [...rows, h("p", { class: "said" }, caution)];
}

function row(scenario: Table, path: Path, deed: Deed, change: (next: Table) => void): HTMLElement {
  const others = deeds(scenario, path).filter((d) => !(d.what === deed.what && d.nth === deed.nth));
  const undo = () => change(withDeeds(scenario, path, others));
  const name = `Undo: ${says(deed)}`;
  const button = h(
    "button",
    { type: "button", class: "bare", title: "Undo", "aria-label": name, onclick: undo },
    icon("undo"),
  );
  return h("div", { class: "line deed" }, h("span", { class: "label" }, says(deed)), button);
}
