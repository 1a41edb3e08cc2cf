/** A capture at a client, as tcpdump would write it: ten requests, each answered by the server after half a second. */
import { writeFileSync } from "node:fs";

const [SYN, PSH, ACK] = [2, 8, 16];
const RAW_IP = 101;

/** Writes it into `file`: a round trip takes 30 ms, and the client waits a second before each further request. */
export function writeAsked(file: string): void {
  const head = Buffer.alloc(24);
  [0xa1b2c3d4, 0x00040002, 0, 0, 65_535, RAW_IP].forEach((word, i) => {
    head.writeUInt32LE(word, 4 * i);
  });
  const packets: Buffer[] = [head];
  const add = (ms: number, out: boolean, seq: number, ack: number, flags: number, length = 0) =>
    packets.push(packet(ms, out, seq, ack, flags, length));
  add(0, true, 0, 0, SYN);
  add(30, false, 0, 1, SYN | ACK);
  add(30.1, true, 1, 1, ACK);
  for (let n = 0; n < 10; n++) {
    const [at, seq, ack] = [100 + 1530 * n, 1 + 100 * n, 1 + 1460 * n];
    add(at, true, seq, ack, ACK | PSH, 100);
    add(at + 30, false, ack, seq + 100, ACK);
    add(at + 530, false, ack, seq + 100, ACK | PSH, 1460);
    add(at + 530.1, true, seq + 100, ack + 1460, ACK);
  }
  writeFileSync(file, Buffer.concat(packets));
}

function packet(ms: number, out: boolean, seq: number, ack: number, flags: number, length: number): Buffer {
  const p = Buffer.alloc(16 + 40 + length);
  p.writeUInt32LE(Math.floor(ms / 1000), 0);
  p.writeUInt32LE(Math.round((ms % 1000) * 1000), 4);
  p.writeUInt32LE(40 + length, 8);
  p.writeUInt32LE(40 + length, 12);
  p.writeUInt16BE(0x4500, 16);
  p.writeUInt16BE(40 + length, 18);
  p.writeUInt16BE(0x4006, 24);
  const [client, server] = [
    [192, 0, 2, 1],
    [198, 51, 100, 2],
  ];
  p.set(out ? [...client, ...server] : [...server, ...client], 28);
  p.writeUInt16BE(out ? 40_000 : 80, 36);
  p.writeUInt16BE(out ? 80 : 40_000, 38);
  p.writeUInt32BE(seq, 40);
  p.writeUInt32BE(ack, 44);
  p.writeUInt16BE((5 << 12) | flags, 48);
  p.writeUInt16BE(0xffff, 50);
  return p;
}
