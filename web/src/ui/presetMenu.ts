/** The menu of prepared experiments, with a search. */
import { h } from "../dom";
import { sheet, walk } from "./overlay";

export interface PresetEntry {
  id: string;
  /** The paper, or "Everyday paths". */
  group: string;
  title: string;
  about: string;
}

/** Opens it; `choose` hears the id. */
export function presetMenu(
  presets: readonly PresetEntry[],
  current: string | undefined,
  choose: (id: string) => void,
): void {
  const search = h("input", {
    type: "search",
    placeholder: "Search experiments",
    "aria-label": "Search experiments",
    autofocus: true,
  });
  const list = h("div", { class: "presets" });
  const none = h("p", { class: "hint", hidden: true }, "Nothing is called that.");
  const dialog = sheet("Experiments", "preset-sheet", search, list, none);
  for (const name of new Set(presets.map((p) => p.group))) {
    const members = presets.filter((p) => p.group === name);
    const buttons = members.map((preset) => {
      const pick = () => {
        dialog.close();
        choose(preset.id);
      };
      const attributes = {
        type: "button",
        class: "preset",
        "data-preset": preset.id,
        "aria-current": preset.id === current,
        onclick: pick,
      };
      return h("button", attributes, h("strong", {}, preset.title), h("span", { class: "hint" }, preset.about));
    });
    list.append(h("section", {}, h("h3", {}, name), ...buttons));
  }
  search.addEventListener("input", () => {
    none.hidden = filter(list, search.value);
  });
  dialog.addEventListener("keydown", (event) => walk(list, event));
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    // The button that opened the sheet gets the focus back, and would take the same key.
    event.preventDefault();
    list.querySelector<HTMLElement>("button:not([hidden])")?.click();
  });
  search.focus();
}

/** Hides entries that lack one of the words. Returns whether any entry is left. */
function filter(list: HTMLElement, text: string): boolean {
  const sought = text.toLowerCase().split(/\s+/).filter(Boolean);
  let left = 0;
  for (const section of list.querySelectorAll("section")) {
    const group = section.querySelector("h3")?.textContent ?? "";
    let here = 0;
    for (const button of section.querySelectorAll<HTMLElement>("button")) {
      const message = `${group} ${button.textContent} ${button.dataset.preset}`.toLowerCase();
      button.hidden = !sought.every((word) => message.includes(word));
      here += button.hidden ? 0 : 1;
    }
    section.hidden = here === 0;
    left += here;
  }
  return left > 0;
}
