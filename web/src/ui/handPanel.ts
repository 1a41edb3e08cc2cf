/** Changes made to packets by hand, each with a button to undo it. */

import { h } from "../dom";
import { iconButton } from "./buttons";
import { type Deed, deeds, type Place, places, says, withDeeds, without } from "./hand";
import type { Table } from "./path";

/** The list; empty without changes. */
export function handPanel(scenario: Table, change: (next: Table) => void): HTMLElement[] {
  const rows = places(scenario).flatMap((at) => deeds(scenario, at).map((deed) => row(scenario, at, deed, change)));
  if (rows.length === 0) return [];
  const caution =
    "Packets are counted as they are sent, from 0. After a change, a later number may refer to a different packet.";
  return [...rows, h("p", { class: "hint" }, caution)];
}

function row(scenario: Table, at: Place, deed: Deed, change: (next: Table) => void): HTMLElement {
  const undo = () => change(withDeeds(scenario, at, without(deeds(scenario, at), deed)));
  const message = says(deed, at);
  const back = iconButton("undo", `Undo: ${message}`, undo, { title: "Undo" });
  return h("div", { class: "line deed" }, h("span", { class: "label" }, message), back);
}
