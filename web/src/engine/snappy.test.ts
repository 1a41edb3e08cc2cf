import { snappyUncompress } from "hyparquet";
import { expect, test } from "vitest";
import { unpacker } from "./snappy";

const unpack = unpacker(snappyUncompress);

test("literals and copies of every form become what they stand for", () => {
  const long = Array.from({ length: 300 }, (_, i) => i & 255);
  const packed = [
    ...[0xd2, 0x02],
    ...[0 << 2, 7],
    ...[(3 << 2) | 1, 1],
    ...[(63 << 2) | 2, 1, 0],
    ...[(1 << 2) | 3, 1, 0, 0, 0],
    ...[61 << 2, 43, 1, ...long],
  ];
  const bytes = unpack(Uint8Array.from(packed), 374);
  expect([...bytes]).toEqual([...Array.from({ length: 74 }, () => 7), ...long]);
});

test("a page that is said to become longer than it does sets no memory aside", () => {
  expect(() => unpack(Uint8Array.from([1, 0, 7]), 2 ** 31 - 1)).toThrow(
    "a page is said to have 2147483647 bytes, and has 1",
  );
});

test("a literal of 2^31 bytes, or one cut short, is refused", () => {
  const literal = [63 << 2, 0xf0, 0xff, 0xff, 0xff];
  expect(() => unpack(Uint8Array.from([5, ...literal, 1, 2, 3, 4, 5]), 5)).toThrow("ends within an element");
  expect(() => unpack(Uint8Array.from([5, 4 << 2, 1, 2]), 5)).toThrow("ends within an element");
  expect(() => unpack(Uint8Array.from([5, (4 << 2) | 2, 1]), 5)).toThrow("ends within an element");
  expect(() => unpack(new Uint8Array(0), 5)).toThrow("ends within an element");
});
