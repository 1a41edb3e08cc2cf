import { readRleBitPackedHybrid } from "hyparquet/src/encoding.js";
import { expect, test } from "vitest";

/** Reads 10 values of this width from these bytes. */
function read(bytes: number[], width: number): number[] {
  const values = new Array<number>(10).fill(9);
  const view = new DataView(Uint8Array.from(bytes).buffer);
  readRleBitPackedHybrid({ view, offset: 0 }, width, values, bytes.length);
  return values;
}

test("a run of equal values ends with its page", () => {
  // Three values, then 2^31 - 1.
  expect(read([6, 1, 0xfe, 0xff, 0xff, 0xff, 0x0f, 2], 2)).toEqual([1, 1, 1, 2, 2, 2, 2, 2, 2, 2]);
});

test("a run of packed values ends with its page", () => {
  // 8 values of two bits, then 2^34 - 8 of them; of no bits, 2^34 - 8.
  expect(read([3, 0xe4, 0xe4, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x1b, 0x1b], 2)).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 3, 2]);
  expect(read([0xff, 0xff, 0xff, 0xff, 0x0f, 0], 0)).toEqual(new Array(10).fill(0));
});
