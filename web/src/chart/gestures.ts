/** The meaning of pointer, wheel, touch and keys on a panel. */

/** Places are px from the panel's upper left corner. */
export interface Gestures {
  /** Zooms by `factor` about a place. Returns whether there was anything to change. */
  zoom(factor: number, x: number, y: number): boolean;
  /** Pans the view by `dx` and `dy` px. */
  pan(dx: number, dy: number): void;
  /** Zooms to the box. */
  box(x0: number, y0: number, x1: number, y1: number): void;
  /** The current box; undefined when it is finished. */
  rubber(box: readonly [number, number, number, number] | undefined): void;
  hover(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number): void;
  /** A finger covers the packet, so a tap describes it and does nothing else. */
  tap(x: number, y: number): void;
  reset(): void;
  /** Selects the next or the previous packet. */
  step(by: 1 | -1): void;
  /** The action of Enter on the packet selected by the keys. */
  choose(): void;
}

const MOVED_PX = 4;
const WHEEL_STEP = 0.0016;
const KEY_ZOOM = 1.5;
const KEY_PAN_PX = 60;

interface Finger {
  x: number;
  y: number;
}

/** Listens to `element` and calls `to`. */
export function listen(element: HTMLElement, to: Gestures): void {
  element.addEventListener("wheel", (event) => wheel(event, element, to), { passive: false });
  element.addEventListener("keydown", (event) => key(event, element, to));
  element.addEventListener("dblclick", (event) => {
    event.preventDefault();
    to.reset();
  });
  pointers(element, to);
}

function place(event: MouseEvent, element: HTMLElement): Finger {
  const box = element.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function wheel(event: WheelEvent, element: HTMLElement, to: Gestures): void {
  const lines = event.deltaMode === 0 ? 1 : 16;
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    to.pan(-event.deltaX * lines, 0);
    return;
  }
  // A pinch on a touch pad arrives as a wheel event with Ctrl, in smaller steps.
  const factor = Math.exp(event.deltaY * lines * WHEEL_STEP * (event.ctrlKey ? 5 : 1));
  // When nothing is left to zoom, the wheel scrolls the page.
  const { x, y } = place(event, element);
  if (to.zoom(factor, x, y) || event.ctrlKey) event.preventDefault();
}

function key(event: KeyboardEvent, element: HTMLElement, to: Gestures): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const zoom = (factor: number) => to.zoom(factor, element.clientWidth / 2, element.clientHeight / 2);
  const far = event.shiftKey ? 4 : 1;
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => to.pan(KEY_PAN_PX * far, 0),
    ArrowRight: () => to.pan(-KEY_PAN_PX * far, 0),
    "+": () => zoom(1 / KEY_ZOOM),
    "=": () => zoom(1 / KEY_ZOOM),
    "-": () => zoom(KEY_ZOOM),
    "0": () => to.reset(),
    n: () => to.step(1),
    p: () => to.step(-1),
    Enter: () => to.choose(),
    Escape: () => to.leave(),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function pointers(element: HTMLElement, to: Gestures): void {
  const fingers = new Map<number, Finger>();
  let from: Finger | undefined;
  let mode: "still" | "pan" | "box" | "pinch" = "still";
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    element.focus({ preventScroll: true });
    element.setPointerCapture(event.pointerId);
    const at = place(event, element);
    fingers.set(event.pointerId, at);
    from = at;
    mode = fingers.size > 1 ? "pinch" : event.shiftKey ? "box" : "still";
  });
  element.addEventListener("pointermove", (event) => {
    const at = place(event, element);
    const before = fingers.get(event.pointerId);
    if (!before || !from) {
      to.hover(at.x, at.y);
      return;
    }
    if (mode === "pinch") pinch(fingers, event.pointerId, at, to);
    else if (mode === "box") to.rubber([from.x, from.y, at.x, at.y]);
    else {
      if (mode === "still" && Math.hypot(at.x - from.x, at.y - from.y) < MOVED_PX) return;
      mode = "pan";
      to.pan(at.x - before.x, at.y - before.y);
    }
    fingers.set(event.pointerId, at);
  });
  const up = (event: PointerEvent) => {
    if (!fingers.delete(event.pointerId) || !from) return;
    const at = place(event, element);
    const began = from;
    if (event.type === "pointerup" && mode === "still") {
      if (event.pointerType === "touch") to.tap(at.x, at.y);
      else {
        to.hover(at.x, at.y);
        to.click(at.x, at.y);
      }
    }
    if (mode === "box") {
      to.rubber(undefined);
      if (event.type === "pointerup" && Math.abs(at.x - began.x) > MOVED_PX) to.box(began.x, began.y, at.x, at.y);
    }
    // The finger that remains after a pinch continues to drag.
    mode = fingers.size > 0 ? "pan" : "still";
  };
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("pointerleave", ({ pointerType }) => {
    // The finger leaves after each tap, but the description of its target stays.
    if (fingers.size === 0 && pointerType !== "touch") to.leave();
  });
}

function pinch(fingers: Map<number, Finger>, moved: number, at: Finger, to: Gestures): void {
  const other = [...fingers].find(([id]) => id !== moved)?.[1];
  const before = fingers.get(moved);
  if (!other || !before) return;
  const width = Math.abs(before.x - other.x);
  const next = Math.abs(at.x - other.x);
  to.pan((at.x - before.x) / 2, 0);
  // Fingers one above the other give no zoom in time.
  if (width > 20 && next > 20) to.zoom(width / next, (at.x + other.x) / 2, (at.y + other.y) / 2);
}
