import { beforeEach, expect, test } from "vitest";
import { type Gestures, listen } from "./gestures";

/** The parts of an element that gestures need. */
class Pad extends EventTarget {
  readonly clientWidth = 400;
  readonly clientHeight = 200;
  getBoundingClientRect() {
    return { left: 100, top: 50 };
  }
  focus() {}
  setPointerCapture() {}
  send(kind: string, more: object): Event {
    const event = Object.assign(new Event(kind, { cancelable: true }), { button: 0, pointerId: 1, deltaMode: 0 }, more);
    this.dispatchEvent(event);
    return event;
  }
}

let pad: Pad;
let heard: string[];
let movable: boolean;

beforeEach(() => {
  pad = new Pad();
  heard = [];
  movable = true;
  const note = (text: string) => heard.push(text);
  const to: Gestures = {
    zoom: (factor, x, y) => {
      note(`zoom ${factor.toFixed(2)} ${x} ${y}`);
      return movable;
    },
    pan: (dx, dy) => note(`pan ${dx} ${dy}`),
    box: (...box) => note(`box ${box.join(" ")}`),
    rubber: (box) => note(`rubber ${box?.join(" ") ?? "off"}`),
    hover: (x, y) => note(`hover ${x} ${y}`),
    leave: () => note("leave"),
    click: (x, y) => note(`click ${x} ${y}`),
    tap: (x, y) => note(`tap ${x} ${y}`),
    reset: () => note("reset"),
    step: (by) => note(`step ${by}`),
    choose: () => note("choose"),
  };
  listen(pad as unknown as HTMLElement, to);
});

test("the wheel zooms about the pointer, and scrolls the page where there is nothing to zoom", () => {
  expect(pad.send("wheel", { deltaX: 0, deltaY: -100, clientX: 150, clientY: 60 }).defaultPrevented).toBe(true);
  movable = false;
  expect(pad.send("wheel", { deltaX: 0, deltaY: 100, clientX: 150, clientY: 60 }).defaultPrevented).toBe(false);
  expect(heard).toEqual(["zoom 0.85 50 10", "zoom 1.17 50 10"]);
});

test("a drag pans and is not a click; a press without movement is a click", () => {
  pad.send("pointerdown", { clientX: 200, clientY: 100 });
  pad.send("pointermove", { clientX: 210, clientY: 103 });
  pad.send("pointerup", { clientX: 210, clientY: 103 });
  pad.send("pointerdown", { clientX: 300, clientY: 100 });
  pad.send("pointermove", { clientX: 301, clientY: 100 });
  pad.send("pointerup", { clientX: 301, clientY: 100 });
  expect(heard).toEqual(["pan 10 3", "hover 201 50", "click 201 50"]);
});

test("a finger that does not move is a tap, not a click", () => {
  pad.send("pointerdown", { pointerType: "touch", clientX: 300, clientY: 100 });
  pad.send("pointerup", { pointerType: "touch", clientX: 301, clientY: 100 });
  expect(heard).toEqual(["tap 201 50"]);
});

test("a drag with shift is a box", () => {
  pad.send("pointerdown", { clientX: 200, clientY: 100, shiftKey: true });
  pad.send("pointermove", { clientX: 260, clientY: 150 });
  pad.send("pointerup", { clientX: 260, clientY: 150 });
  expect(heard).toEqual(["rubber 100 50 160 100", "rubber off", "box 100 50 160 100"]);
});

test("two fingers that move apart zoom in about their middle", () => {
  pad.send("pointerdown", { pointerId: 1, clientX: 200, clientY: 100 });
  pad.send("pointerdown", { pointerId: 2, clientX: 300, clientY: 100 });
  pad.send("pointermove", { pointerId: 2, clientX: 400, clientY: 100 });
  pad.send("pointerup", { pointerId: 2, clientX: 400, clientY: 100 });
  pad.send("pointerup", { pointerId: 1, clientX: 200, clientY: 100 });
  expect(heard).toEqual(["pan 50 0", "zoom 0.50 200 50"]);
});

test("the keys do everything that the pointer does, and leave the browser its own keys", () => {
  for (const key of ["ArrowLeft", "ArrowRight", "+", "-", "0", "n", "p", "Enter", "Escape"])
    pad.send("keydown", { key });
  expect(pad.send("keydown", { key: "n", ctrlKey: true }).defaultPrevented).toBe(false);
  expect(pad.send("keydown", { key: "x" }).defaultPrevented).toBe(false);
  expect(heard).toEqual([
    "pan 60 0",
    "pan -60 0",
    "zoom 0.67 200 100",
    "zoom 1.50 200 100",
    "reset",
    "step 1",
    "step -1",
    "choose",
    "leave",
  ]);
});
