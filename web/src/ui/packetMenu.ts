/** Actions on a clicked packet. */

import { h } from "../dom";
import type { RunTrace } from "../engine/trace";
import type { PacketRef } from "../views/chart";
import type { Column } from "./columns";
import { type Deed, deeds, NO_PLACE, packet, placeOf, says, withDeed, withDeeds, without } from "./hand";
import { type Entry, menu, notice } from "./overlay";
import type { Table } from "./path";
import { parse } from "./quantity";
import type { Lab } from "./session";

/** Where the pointer was pressed last. */
const at = { x: 0, y: 0 };
window.addEventListener("pointerdown", ({ clientX, clientY }) => Object.assign(at, { x: clientX, y: clientY }), true);

/** Opens the menu; `edit` is called with the changed path. A recorded packet has no column. */
export function packetMenu(
  run: RunTrace,
  { flow, kind, index }: PacketRef,
  column: Column | undefined,
  edit: (next: Partial<Lab>) => void,
): void {
  if (!column) {
    notice("This packet was recorded, not simulated, so it cannot be changed.");
    return;
  }
  const { side, scenario } = column;
  const change = (next: Table) => edit({ [side]: next });
  const sort = kind === "data" ? "data" : "acks";
  const place = placeOf(scenario, flow, sort, run.flows[flow]);
  const sent = kind === "data" ? run.flows[flow]?.sends : run.flows[flow]?.acks;
  const nth = sent?.number[index];
  if (!place || nth === undefined) {
    notice(NO_PLACE);
    return;
  }
  const all = deeds(scenario, place);
  const act = (deed: Deed) => change(withDeed(scenario, place, deed));
  const back = all
    .filter((d) => d.nth === nth)
    .map((deed): Entry => {
      const undo = () => change(withDeeds(scenario, place, without(all, deed)));
      return { says: `Undo: ${says(deed, place)}`, icon: "undo", click: undo };
    });
  const time = h("input", { type: "text", value: "50 ms", class: "exact", id: "delay-by", spellcheck: "false" });
  const delay = () => {
    if (parse(time.value, ["time"])) return act({ what: "delay", nth, by: time.value });
    notice(`"${time.value}" is no time. Allowed: a number and one of ns, us, ms, s, min, as in "50 ms".`, true);
  };
  const entries: Entry[] = [
    { says: "Drop it", icon: "remove", click: () => act({ what: "drop", nth }) },
    { says: "Duplicate it", icon: "copy", click: () => act({ what: "duplicate", nth }) },
    { says: "Delay it", icon: "right", click: delay },
    ...back,
  ];
  const by = h("div", { class: "line by" }, h("label", { for: "delay-by" }, "Delay by"), time);
  const title = packet(place, nth);
  const box = menu(at.x, at.y, title.charAt(0).toUpperCase() + title.slice(1), entries, by);
  // The second click of a double click is meant for the graph, which shows everything then.
  box.addEventListener("click", ({ detail, target, clientX, clientY }) => {
    if (detail !== 2 || target !== box) return;
    box.close();
    const place = { bubbles: true, cancelable: true, clientX, clientY };
    document.elementFromPoint(clientX, clientY)?.dispatchEvent(new MouseEvent("dblclick", place));
  });
  time.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the graph gets the focus back, and would take the same key
    box.close();
    delay();
  });
}
