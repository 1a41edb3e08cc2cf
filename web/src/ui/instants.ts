/** Finds instants, keeps marks with notes, and measures between two points. */
import { duration } from "../chart/ticks";
import { fill, h } from "../dom";
import type { Mark, Point } from "../views/marks";
import type { Views } from "../views/views";
import { button, iconButton } from "./buttons";
import { between, type Found, find } from "./find";
import { icon } from "./icons";
import type { Shortcut } from "./keys";
import type { Session } from "./session";

const MOST_MARKS = 50;
const MOST_NOTE = 200;

export class Instants {
  readonly element: HTMLElement;
  private readonly field = h("input", {
    type: "text",
    id: "find",
    placeholder: "1.25 s, 14601, packet 12, timeout …",
    "aria-label": "Find a time, a sequence number, a packet or an event",
    spellcheck: "false",
  });
  private readonly message = h("span", { class: "hint", role: "status" });
  private readonly list = h("ol", { class: "marks", "aria-label": "Marks" });
  private readonly ruler: HTMLButtonElement;
  private found: readonly Found[] = [];
  private asked = "";
  private at = -1;
  private on = false;

  /** `views` is called on use, because the views do not exist yet. */
  constructor(
    private readonly session: Session,
    private readonly views: () => Views,
  ) {
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.step(event.shiftKey ? -1 : 1);
    });
    const measuring = { title: "Measure between two points (b)", "aria-pressed": false };
    this.ruler = button("Measure", () => this.measure(), undefined, measuring);
    const line = h(
      "div",
      { class: "line" },
      icon("search"),
      this.field,
      iconButton("left", "Find the one before", () => this.step(-1)),
      iconButton("right", "Find the next", () => this.step(1)),
      button("Mark", () => this.mark(), "add", { title: "Mark this instant (m)" }),
      this.ruler,
      this.message,
    );
    this.element = h("section", { class: "card instants", "aria-label": "Find, mark and measure" }, line, this.list);
  }

  get shortcuts(): Shortcut[] {
    return [
      { key: "/", says: "find a time, a packet, an event", do: () => this.search() },
      { key: "m", says: "mark this instant", do: () => this.mark() },
      { key: "b", says: "measure between two points", do: () => this.measure() },
    ];
  }

  private get marks(): readonly Mark[] {
    return this.session.lab.marks ?? [];
  }

  private keep(marks: readonly Mark[]): void {
    this.session.note({ marks });
    this.views().setMarks(marks);
  }

  /** The page now shows other runs, another flow or other marks. */
  renew(): void {
    this.asked = "";
    this.found = [];
    this.views().setMarks(this.marks);
    this.draw();
  }

  /** Puts the focus into the search field. */
  search(): void {
    this.field.focus();
    this.field.select();
  }

  /** Marks the instant at the cursor. */
  mark(): void {
    const marks = this.marks;
    if (marks.length >= MOST_MARKS) {
      fill(this.message, `${MOST_MARKS} marks at most`);
      return;
    }
    const time = this.views().moment;
    this.keep([...marks, { time, note: "" }].sort((a, b) => a.time - b.time));
    this.draw();
    const place = this.marks.findIndex((one) => one.time === time);
    this.list.querySelectorAll<HTMLInputElement>("input")[place]?.focus();
  }

  /** Begins a measurement, or ends it. */
  measure(): void {
    this.on = !this.on;
    this.ruler.setAttribute("aria-pressed", String(this.on));
    this.views().setMeasuring(this.on);
    fill(this.message, this.on ? "Click two points of a graph" : "");
  }

  /** The points so far. */
  measured([from, to]: readonly Point[]): void {
    if (!from) return;
    const point = ({ view, time, value }: Point) => ({ time, bytes: view === "sequence" ? value : undefined });
    fill(this.message, to ? between(point(from), point(to)) : `From ${from.time.toFixed(6)} s to …`);
  }

  private step(by: 1 | -1): void {
    const query = this.field.value;
    if (query.trim() === "") return;
    if (query !== this.asked) {
      const answers = this.views().shown.map(({ flow, name }) => ({ name, answer: find(flow, query) }));
      const wrong = answers.flatMap(({ answer }) => ("wrong" in answer ? [answer.wrong] : []));
      this.field.setAttribute("aria-invalid", String(wrong.length > 0));
      if (wrong.length > 0) {
        fill(this.message, wrong[0] ?? "");
        return;
      }
      const all = answers.flatMap(({ name, answer }) =>
        "found" in answer ? answer.found.map((one) => (name ? { ...one, text: `${name}: ${one.text}` } : one)) : [],
      );
      this.found = all.toSorted((a, b) => a.time - b.time);
      this.asked = query;
      this.at = by > 0 ? -1 : 0;
    }
    const { length } = this.found;
    this.at = length > 0 ? (this.at + by + length) % length : -1;
    const found = this.found[this.at];
    fill(
      this.message,
      found ? `${this.at + 1} of ${length}: ${found.time.toFixed(6)} s, ${found.text}` : "Nothing found",
    );
    if (found) this.views().reveal(found.time);
  }

  private draw(): void {
    const marks = this.marks;
    fill(this.list, ...marks.map((mark, i) => this.item(marks, mark, i)));
    this.list.hidden = marks.length === 0;
  }

  private item(marks: readonly Mark[], mark: Mark, i: number): HTMLElement {
    const change = (next: Mark[]) => {
      this.keep(next);
      this.draw();
    };
    const at = `${mark.time.toFixed(6)} s`;
    const note = h("input", {
      type: "text",
      value: mark.note,
      maxlength: MOST_NOTE,
      placeholder: "note",
      "aria-label": `Note at ${at}`,
    });
    note.addEventListener("change", () => change(marks.with(i, { ...mark, note: note.value })));
    const go = button(at, () => this.views().reveal(mark.time), undefined, { title: duration(mark.time) });
    const remove = iconButton("remove", `Remove the mark at ${at}`, () => change(marks.toSpliced(i, 1)));
    return h("li", {}, go, note, remove);
  }
}
