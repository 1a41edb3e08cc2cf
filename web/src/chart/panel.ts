/** A canvas that stays sharp at any size, and another above it for parts that move with the pointer. */

import { CanvasSurface } from "./canvas";
import type { Surface } from "./surface";

export interface Size {
  readonly width: number;
  readonly height: number;
}

export type Paint = (surface: Surface, size: Size) => void;

/** A new panel outside the window, and the table of any new panel, are made this long after the others, ms. */
export const LATER = 1000;

export class Panel {
  readonly element = document.createElement("div");
  private readonly below = document.createElement("canvas");
  private readonly above = document.createElement("canvas");
  private readonly resized = new ResizeObserver(() => this.fit());
  private readonly seen = new IntersectionObserver((entries) => this.appear(entries.at(-1)?.isIntersecting ?? true));
  private size: Size = { width: 0, height: 0 };
  private ratio = 1;
  private visible = true;
  private moved = false;
  private stale = { below: false, above: false };
  private frame = 0;
  private blank = true;
  private later = 0;

  /** `label` describes the drawing to screen readers; `paint` draws it, and `overlay` the moving parts if `moving` returns true. */
  constructor(
    label: string,
    private readonly paint: Paint,
    private readonly overlay: Paint,
    private readonly moving: () => boolean,
  ) {
    this.element.className = "ak-panel";
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "application");
    this.element.setAttribute("aria-label", label);
    this.above.className = "ak-above";
    this.element.append(this.below, this.above);
    this.resized.observe(this.element);
    this.seen.observe(this.element);
  }

  get width(): number {
    return this.size.width;
  }

  get height(): number {
    return this.size.height;
  }

  /** Schedules a complete drawing for the next frame. */
  repaint(): void {
    this.stale.below = true;
    this.refresh();
  }

  /** Schedules a drawing of the moving parts for the next frame. */
  refresh(): void {
    this.stale.above = true;
    if (this.frame === 0 && this.visible) this.frame = requestAnimationFrame(() => this.draw());
  }

  destroy(): void {
    this.resized.disconnect();
    this.seen.disconnect();
    cancelAnimationFrame(this.frame);
    window.clearTimeout(this.later);
    this.element.remove();
  }

  private appear(visible: boolean): void {
    this.visible = visible;
    if (visible && (this.stale.below || this.stale.above)) this.refresh();
  }

  private fit(): void {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    this.ratio = window.devicePixelRatio || 1;
    // Folded away it keeps its size: it may be saved as a picture.
    if (width === 0 || (width === this.size.width && height === this.size.height)) return;
    this.size = { width, height };
    this.repaint();
  }

  private draw(): void {
    this.frame = 0;
    // A new panel learns only now that it is outside the window, often before its observer is called.
    this.visible = this.seen.takeRecords().at(-1)?.isIntersecting ?? this.visible;
    if (this.visible) this.show();
    else if (this.blank && this.later === 0) this.later = window.setTimeout(() => this.show(), LATER);
  }

  private show(): void {
    const { width, height } = this.size;
    if (width === 0 || height === 0) return;
    this.blank = false;
    this.ratio = window.devicePixelRatio || 1;
    if (this.stale.below) this.layer(this.below, this.paint);
    // An empty canvas that stays empty is not touched, so it costs nothing.
    const moving = this.moving();
    if (moving || this.moved) this.layer(this.above, moving ? this.overlay : () => {});
    this.moved = moving;
    this.stale = { below: false, above: false };
  }

  private layer(canvas: HTMLCanvasElement, paint: Paint): void {
    const context = canvas.getContext("2d");
    if (!context) return;
    const width = Math.round(this.size.width * this.ratio);
    const height = Math.round(this.size.height * this.ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    paint(new CanvasSurface(context, this.ratio), this.size);
  }
}
