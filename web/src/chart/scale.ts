/** A linear map from values to places on the screen (px), and back. */
export class Scale {
  /** Pixels for each unit; negative where values grow upwards. */
  readonly factor: number;

  constructor(
    readonly from: number,
    readonly to: number,
    readonly start: number,
    readonly end: number,
  ) {
    this.factor = (end - start) / (to - from || 1);
  }

  at(value: number): number {
    return this.start + (value - this.from) * this.factor;
  }

  back(place: number): number {
    return this.from + (place - this.start) / this.factor;
  }
}
