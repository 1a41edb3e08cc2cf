/** A capture of any size, as tcpdump would write it: one transfer with timestamps, 96 bytes kept of each packet. */
import { closeSync, openSync, writeSync } from "node:fs";

const KEPT = 96;
const RECORD = 16 + KEPT;
const BARE = 16 + 66;
const SEGMENT = 1448;
/** An acknowledgment after every second segment, this many segments behind. */
const BEHIND = 40;
/** One segment of this many is sent again, needlessly, and reported (DSACK). */
const AGAIN = 500;
/** Between two segments, nanoseconds. */
const STEP = 100_000;

export interface Written {
  packets: number;
  segments: number;
  needless: number;
}

/** Writes about this many bytes into `file`. */
export function writeLarge(file: string, size: number): Written {
  const out = openSync(file, "w");
  const written: Written = { packets: 0, segments: 0, needless: 0 };
  const head = Buffer.alloc(24);
  [0xa1b23c4d, 0x00040002, 0, 0, KEPT, 1].forEach((word, i) => {
    head.writeUInt32LE(word, 4 * i);
  });
  writeSync(out, head);
  let bytes = head.length;
  while (bytes < size) {
    const piece = pieceOf(written, Math.min(size - bytes, 8 << 20));
    writeSync(out, piece);
    bytes += piece.length;
  }
  closeSync(out);
  return written;
}

/** Rounds of two segments and their acknowledgment. */
function pieceOf(written: Written, most: number): Buffer {
  const round = 3 * RECORD + 2 * BARE;
  const buffer = Buffer.alloc(Math.max(Math.floor(most / round), 1) * round);
  let at = 0;
  while (at + round <= buffer.length) {
    for (let i = 0; i < 2; i++) {
      at = segment(buffer, at, written.segments, written);
      written.segments += 1;
    }
    const acked = written.segments - BEHIND;
    if (acked > 0) at = answer(buffer, at, acked, written);
    if (acked > 0 && written.segments % AGAIN === 0) {
      at = segment(buffer, at, acked - 1, written);
      at = answer(buffer, at, acked, written, acked - 1);
      written.needless += 1;
    }
  }
  return buffer.subarray(0, at);
}

function segment(buffer: Buffer, at: number, n: number, written: Written): number {
  const frame = packet(buffer, at, RECORD, 66 + SEGMENT, written, [10, 0, 0, 1], [10, 0, 0, 2]);
  tcp(buffer, frame + 34, 5001, 80, 1 + n * SEGMENT, 1, 8);
  stamps(buffer, frame + 54, written.segments, written.segments - BEHIND);
  return at + RECORD;
}

/** With a DSACK of one segment, if that segment is given. */
function answer(buffer: Buffer, at: number, acked: number, written: Written, again?: number): number {
  const kept = again === undefined ? BARE : RECORD;
  const long = again === undefined ? 66 : 78;
  const frame = packet(buffer, at, kept, long, written, [10, 0, 0, 2], [10, 0, 0, 1]);
  tcp(buffer, frame + 34, 80, 5001, 1, 1 + acked * SEGMENT, again === undefined ? 8 : 11);
  stamps(buffer, frame + 54, written.segments, acked - 1);
  if (again === undefined) return at + kept;
  buffer.writeUInt32BE(0x0101050a, frame + 66);
  buffer.writeUInt32BE((1 + again * SEGMENT) >>> 0, frame + 70);
  buffer.writeUInt32BE((1 + (again + 1) * SEGMENT) >>> 0, frame + 74);
  // The kept length is the whole length.
  buffer.writeUInt32LE(long, at + 8);
  return at + 16 + long;
}

/** The record, Ethernet and IPv4 (RFC 791 §3.1); returns where the frame begins. */
function packet(
  buffer: Buffer,
  at: number,
  record: number,
  long: number,
  written: Written,
  from: number[],
  to: number[],
): number {
  const nanos = BigInt(written.packets) * BigInt(STEP);
  buffer.writeUInt32LE(Number(nanos / 1_000_000_000n), at);
  buffer.writeUInt32LE(Number(nanos % 1_000_000_000n), at + 4);
  buffer.writeUInt32LE(record - 16, at + 8);
  buffer.writeUInt32LE(long, at + 12);
  const frame = at + 16;
  buffer.writeUInt16BE(0x0800, frame + 12);
  buffer.writeUInt16BE(0x4500, frame + 14);
  buffer.writeUInt16BE(long - 14, frame + 16);
  buffer.writeUInt16BE(0x4006, frame + 22);
  buffer.set([...from, ...to], frame + 26);
  written.packets += 1;
  return frame;
}

function tcp(buffer: Buffer, at: number, from: number, to: number, seq: number, ack: number, words: number): void {
  buffer.writeUInt16BE(from, at);
  buffer.writeUInt16BE(to, at + 2);
  buffer.writeUInt32BE(seq % 2 ** 32, at + 4);
  buffer.writeUInt32BE(ack % 2 ** 32, at + 8);
  buffer.writeUInt16BE((words << 12) | 0x10, at + 12);
  buffer.writeUInt16BE(0xffff, at + 14);
}

/** RFC 7323 §3.2, behind two NOPs. */
function stamps(buffer: Buffer, at: number, value: number, echo: number): void {
  buffer.writeUInt32BE(0x0101080a, at);
  buffer.writeUInt32BE(value + 1000, at + 4);
  buffer.writeUInt32BE(Math.max(echo, 0) + 1000, at + 8);
}
