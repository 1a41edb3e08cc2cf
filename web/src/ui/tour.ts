/** A tour of two minutes: steps that set the page, point at something, and say one thing. */

import { fill, h } from "../dom";
import type { StackChoice } from "../scenario/state";
import { button, iconButton } from "./buttons";
import { lasting } from "./links";
import type { Lab } from "./session";

export interface Step {
  title: string;
  text: string;
  /** The experiment that the step needs, as in the menu. */
  preset: string;
  stacks: readonly string[];
  /** Simulated time. Default: the experiment's own. */
  duration?: string;
  /** The time span to show, in seconds. Default: the whole span with events. */
  span?: readonly [number, number];
  /** The highlighted element. */
  point?: string;
  /** Whether the longest pause is explained. */
  stall?: boolean;
}

export const STEPS: readonly Step[] = [
  {
    title: "A sender that stalls",
    text: "1995: a megabyte over a short queue, as Janey Hoe drew it. Time runs to the right, the stream upwards; each dash is a segment, and the line below them is the acknowledged data. Net/2 loses many segments of one window, and then the line is flat for half a second.",
    preset: "hoe-1995/fig5-7",
    stacks: ["net2"],
    point: ".ak-views",
  },
  {
    title: "Why did it stall?",
    text: "The panel explains the longest pause by its events: which segment was missing, why no ACK triggered its repair, and what the timer did. The arrows lead to the next pause.",
    preset: "hoe-1995/fig5-7",
    stacks: ["net2"],
    point: ".stall",
    stall: true,
  },
  {
    title: "Hoe's answer",
    text: "Her sender stays in recovery on partial ACKs and measures where slow start should end. Same path, same seed, side by side: no timeout, nothing sent needlessly, and it finishes two seconds earlier.",
    preset: "hoe-1995/fig5-7",
    stacks: ["net2", "hoe"],
    point: ".ak-views",
  },
  {
    title: "Nothing is lost, and yet",
    text: "2005: a path whose delay keeps changing, so that packets overtake each other. Reno takes three duplicate ACKs for a loss: all its retransmissions are needless, and each time it halves its window.",
    preset: "leung-ma-2005/fig6-8",
    stacks: ["reno"],
    duration: "60 s",
    point: ".ak-table",
  },
  {
    title: "Undo by DSACK",
    text: "The receiver reports data that arrived twice. Blanton and Allman's sender learns from this that the cut was a mistake, and undoes it. It still resends, but it no longer pays each time.",
    preset: "leung-ma-2005/fig6-8",
    stacks: ["reno", "dsack"],
    duration: "60 s",
    point: ".ak-table",
  },
  {
    title: "A threshold that learns",
    text: "AVG-DEV keeps an average and a deviation of how late packets are, and waits that long before it assumes a loss. Below, the third graph shows the threshold rise from three; the table shows the gain.",
    preset: "leung-ma-2005/fig6-8",
    stacks: ["reno", "dsack", "avg-dev"],
    duration: "60 s",
    point: ".ak-table",
  },
  {
    title: "Your turn",
    text: "Zoom with the wheel or two fingers. Point at a packet or tap it to learn all about it; a click, or the button after a tap, drops, delays or duplicates it. Drag a slider at the left and watch the graphs follow. The link in the address bar holds everything you see.",
    preset: "leung-ma-2005/fig6-8",
    stacks: ["reno", "dsack", "avg-dev"],
    duration: "60 s",
    point: "#panel",
  },
];

/** The state of a step, made from its experiment. */
export function stepOf({ duration }: Step, stacks: StackChoice[], { scenario, seed }: Lab): Lab {
  return { scenario: duration ? lasting(scenario, duration) : scenario, seed, stacks };
}

export interface Guide {
  /** Sets the page for a step; resolves when its picture has been drawn. */
  go: (step: Step, stacks: StackChoice[]) => Promise<void>;
}

/** Begins the tour. */
export function tour(guide: Guide): void {
  document.querySelector(".tour")?.remove();
  let at = 0;
  let pointed: Element | null = null;
  const title = h("h2", {});
  const text = h("p", {});
  const place = h("span", { class: "hint" });
  const back = button("Back", () => show(at - 1));
  const go = () => (at + 1 < STEPS.length ? show(at + 1) : end());
  const next = button("", go, undefined, { class: "primary" });
  const close = iconButton("remove", "End the tour", () => end());
  const head = h("div", { class: "line head" }, title, h("span", { class: "spacer" }), close);
  const box = h("section", { class: "tour", "aria-label": "Tour" }, head, text, h("footer", {}, place, back, next));

  function end(): void {
    pointed?.classList.remove("pointed");
    window.removeEventListener("keydown", onKey, true);
    box.remove();
  }

  function onKey(event: KeyboardEvent): void {
    if (event.key === "Escape") end();
    else return;
    event.stopPropagation();
  }

  async function show(step: number): Promise<void> {
    at = step;
    const now = STEPS[at] as Step;
    fill(title, now.title);
    fill(text, now.text);
    fill(place, `${at + 1} of ${STEPS.length}`);
    fill(next, at + 1 < STEPS.length ? "Next" : "Done");
    back.disabled = at === 0;
    next.focus({ preventScroll: true });
    pointed?.classList.remove("pointed");
    const choices = now.stacks.map((name): StackChoice => ({ name, set: {} }));
    await guide.go(now, choices);
    if (STEPS[at] !== now || !box.isConnected) return;
    pointed = now.point ? document.querySelector(now.point) : null;
    pointed?.classList.add("pointed");
    pointed?.scrollIntoView({ block: "nearest" });
  }

  document.body.append(box);
  window.addEventListener("keydown", onKey, true);
  void show(0);
}
