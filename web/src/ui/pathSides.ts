/** Chooses which path is edited, adds a second one and removes it. */

import { fill, h } from "../dom";
import { button, iconButton } from "./buttons";
import { PATH_NAMES, type Side } from "./columns";
import { notice } from "./overlay";
import type { Session } from "./session";

/** With two paths each stack has two columns. */
export const MOST_WITH_TWO = 2;

export class PathSides {
  readonly element = h("div", { class: "line sides" });
  private chosen: Side = "scenario";

  /** `redraw` draws the editor of the chosen path. */
  constructor(
    private readonly session: Session,
    private readonly redraw: () => void,
  ) {}

  /** The path that is edited. */
  get side(): Side {
    return this.session.lab.other ? this.chosen : "scenario";
  }

  draw(): void {
    const { other } = this.session.lab;
    const choice = (side: Side) => {
      const name = PATH_NAMES[side];
      const says = name.charAt(0).toUpperCase() + name.slice(1);
      return button(says, () => this.choose(side), undefined, { "aria-pressed": this.side === side });
    };
    const remove = iconButton("remove", "Remove this path", () => this.remove());
    const add = button("Compare with a second path", () => this.add(), "add");
    fill(this.element, ...(other ? [choice("scenario"), choice("other"), remove] : [add]));
  }

  choose(side: Side): void {
    if (side === this.side) return;
    this.chosen = side;
    this.redraw();
  }

  private add(): void {
    const { scenario, stacks } = this.session.lab;
    if (stacks.length > MOST_WITH_TWO) {
      notice("Two paths can be compared with one stack or two. Remove a stack first.");
      return;
    }
    this.chosen = "other";
    this.session.change({ other: structuredClone(scenario) });
    this.redraw();
  }

  /** Removes the chosen path; the other path stays. */
  private remove(): void {
    const { scenario, other } = this.session.lab;
    this.session.change({ scenario: this.side === "other" || !other ? scenario : other, other: undefined });
    this.redraw();
  }
}
