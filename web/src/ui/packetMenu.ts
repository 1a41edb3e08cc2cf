/** What one can do to a packet that was clicked. */
import type { RunTrace } from "../engine/trace";
import type { PacketRef } from "../views/chart";
import { h } from "./dom";
import { type Deed, deeds, packet, placeOf, says, withDeed, withDeeds, without } from "./hand";
import { type Entry, menu, notice } from "./overlay";
import type { Table } from "./path";
import { parse } from "./quantity";

/** Opens the menu at a point; `change` hears the scenario with the deed. */
export function packetMenu(
  at: { x: number; y: number },
  run: RunTrace,
  { flow, kind, index }: PacketRef,
  scenario: Table,
  change: (next: Table) => void,
): void {
  const sort = kind === "data" ? "data" : "acks";
  const place = placeOf(scenario, flow, sort);
  const sent = kind === "data" ? run.flows[flow]?.sends : run.flows[flow]?.acks;
  const nth = sent?.number[index];
  if (!place || nth === undefined) {
    notice("Others' packets take the same first link, so this one has no number of its own there.");
    return;
  }
  const all = deeds(scenario, place);
  const act = (deed: Deed) => change(withDeed(scenario, place, deed));
  const back = all
    .filter((d) => d.nth === nth)
    .map((deed): Entry => {
      const undo = () => change(withDeeds(scenario, place, without(all, deed)));
      return { says: `Undo: ${says(deed, sort)}`, icon: "undo", click: undo };
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
  const title = packet(sort, nth);
  const box = menu(at.x, at.y, title.charAt(0).toUpperCase() + title.slice(1), entries, by);
  time.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the graph gets the focus back, and would take the same key
    box.close();
    delay();
  });
}
