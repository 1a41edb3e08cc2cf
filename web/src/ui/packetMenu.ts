/** What one can do to a packet that was clicked. */
import type { RunTrace } from "../engine/trace";
import { h } from "./dom";
import { type Deed, deeds, placeOf, says, withDeed, withDeeds } from "./hand";
import { menu, notice } from "./overlay";
import type { Table } from "./path";
import { parse } from "./quantity";

/** A data packet of a flow, by its position among what was sent. */
export interface Picked {
  flow: number;
  index: number;
}

/** Opens the menu at a point; `change` hears the scenario with the deed. */
export function packetMenu(
  at: { x: number; y: number },
  run: RunTrace,
  picked: Picked,
  scenario: Table,
  change: (next: Table) => void,
): void {
  const path = placeOf(scenario, picked.flow);
  const nth = run.flows[picked.flow]?.sends.number[picked.index];
  if (!path || nth === undefined) {
    notice("Other flows' packets take the same first link, so this one has no number of its own there.");
    return;
  }
  const done = deeds(scenario, path).filter((d) => d.nth === nth);
  const act = (deed: Deed) => change(withDeed(scenario, path, deed));
  const back = done.map((deed) => ({
    says: `Undo: ${says(deed)}`,
    icon: "undo" as const,
    click: () =>
      change(
        withDeeds(
          scenario,
          path,
          deeds(scenario, path).filter((d) => !(d.what === deed.what && d.nth === nth)),
        ),
      ),
  }));
  const time = h("input", {
    type: "text",
    value: "50 ms",
    class: "exact",
    "aria-label": "Delay by",
    spellcheck: "false",
  });
  const delay = () => {
    if (parse(time.value, ["time"])) return act({ what: "delay", nth, by: time.value });
    notice(`"${time.value}" is no time. Allowed: a number and one of ns, us, ms, s, min, as in "50 ms".`, true);
  };
  const entries = [
    { says: "Drop it", icon: "remove" as const, click: () => act({ what: "drop", nth }) },
    { says: "Duplicate it", icon: "copy" as const, click: () => act({ what: "duplicate", nth }) },
    { says: "Delay it", icon: "right" as const, click: delay },
    ...back,
  ];
  const by = h("label", { class: "line by" }, h("span", { class: "label" }, "Delay by"), time);
  const box = menu(at.x, at.y, `Data packet ${nth}, from now on by hand`, entries, by);
  time.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    box.remove();
    delay();
  });
}
