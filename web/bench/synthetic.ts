/**
 * Runs of any size for tests and measurements. This is not TCP: packets leave evenly, some are dropped and resent,
 * some arrive late and are resent needlessly; a receiver acknowledges them with SACK blocks. All numbers are counted
 * from these packets.
 */

import { FATES, type FlowTrace, KINDS, PHASES, type RunTrace, SLOTS, VERDICTS, WHYS } from "../src/engine/trace";

const MSS = 1460;
const DELAY_S = 0.05;
const WINDOW = 64 * MSS;
const DROPS_EVERY = 997;
const LATE_EVERY = 331;
const LATE_S = 0.004;

interface Packet {
  time: number;
  number: number;
  sends: number;
  verdict: (typeof VERDICTS)[number];
  dropped: boolean;
  arrival: number;
}

/** The transmissions of a run of `segments` segments at `rate` segments a second. */
function packets(segments: number, rate: number): Packet[] {
  const all: Packet[] = [];
  const send = (
    time: number,
    number: number,
    sends: number,
    verdict: Packet["verdict"],
    late: number,
    dropped: boolean,
  ) => all.push({ time, number, sends, verdict, dropped, arrival: time + (dropped ? DELAY_S / 2 : DELAY_S + late) });
  for (let n = 0; n < segments; n++) {
    const time = n / rate;
    const dropped = n % DROPS_EVERY === DROPS_EVERY - 1;
    const late = n % LATE_EVERY === LATE_EVERY - 1 && !dropped;
    send(time, n, 1, "first", late ? LATE_S : 0, dropped);
    const again = time + 2 * DELAY_S + 3 / rate;
    if (dropped) send(again, n, 2, "needed", 0, false);
    else if (late && LATE_S > 3 / rate) send(again, n, 2, "needless", 0, false);
  }
  return all.sort((a, b) => a.time - b.time);
}

export function syntheticRun(segments: number, rate = 1000, stack = "synthetic"): RunTrace {
  const sent = packets(segments, rate);
  const durationS = (sent.at(-1)?.time ?? 0) + 4 * DELAY_S;
  const flow = flowOf(sent, stack, durationS);
  const time = flow.sends.time.map((at) => at + 0.001);
  const packetsFound = Uint32Array.from(time, (_, i) => 1 + Math.round(20 + 19 * Math.sin(i / 500)));
  const queue = {
    link: 0,
    name: "S → D",
    time,
    packets: packetsFound,
    longest: packetsFound.reduce((most, one) => Math.max(most, one), 0),
    limit: 40,
  };
  const link = { rateBps: 1e8, delayS: DELAY_S, limitPackets: 40 };
  const again = sent.filter(({ sends }) => sends > 1);
  return {
    flows: [flow],
    queues: [queue],
    elements: [],
    links: [
      { from: "S", to: "D", ...link },
      { from: "D", to: "S", ...link },
    ],
    durationS,
    summary: {
      runs: [
        {
          flows: [
            {
              goodput_bytes_per_s: (segments * MSS) / durationS,
              retransmissions: again.length,
              needed_retransmissions: again.filter(({ verdict }) => verdict === "needed").length,
              refused_retransmissions: 0,
              needless_retransmissions: again.filter(({ verdict }) => verdict === "needless").length,
              timeouts: 0,
            },
          ],
        },
      ],
    },
  };
}

function flowOf(sent: readonly Packet[], stack: string, end: number): FlowTrace {
  const { acks, sackLeft, sackRight } = receive(sent);
  const of = (value: (packet: Packet) => number) => Float64Array.from(sent, value);
  const drops = sent.filter(({ dropped }) => dropped);
  const cuts = Float64Array.from(drops, ({ time }) => time + 2 * DELAY_S + 0.003);
  const changes = Float64Array.from({ length: Math.floor(end / 0.01) }, (_, i) => i * 0.01);
  const open = PHASES.indexOf("open");
  const recovery = PHASES.indexOf("recovery");
  const phaseTimes = Float64Array.from([...cuts].flatMap((at) => [at, at + 2 * DELAY_S])).sort();
  return {
    name: "flow-1",
    from: "S",
    to: "D",
    stack,
    mss: MSS,
    sends: {
      time: of(({ time }) => time),
      seq: of(({ number }) => 1 + number * MSS),
      len: new Uint32Array(sent.length).fill(MSS),
      sends: Uint8Array.from(sent, ({ sends }) => sends),
      verdict: Uint8Array.from(sent, ({ verdict }) => VERDICTS.indexOf(verdict)),
      fate: Uint8Array.from(sent, ({ dropped }) => FATES.indexOf(dropped ? "dropped" : "delivered")),
      fateTime: of(({ arrival }) => arrival),
      by: Uint8Array.from(sent, ({ sends }) => SLOTS.indexOf(sends > 1 ? "recovery" : "sequencer")),
      episode: new Uint32Array(sent.length),
      element: Int32Array.from(sent, ({ dropped }) => (dropped ? 0 : -1)),
      nth: Int32Array.from(sent, ({ dropped }, i) => (dropped ? i : -1)),
      number: Uint32Array.from(sent, (_, i) => i),
      marked: new Uint8Array(sent.length),
    },
    acks,
    sackLeft,
    sackRight,
    windows: {
      time: changes,
      cwnd: changes.map((at) => WINDOW * (0.75 + 0.25 * Math.sin(at))),
      ssthresh: changes.map((at) => (at < 1 ? Number.POSITIVE_INFINITY : WINDOW / 2)),
      by: new Uint8Array(changes.length).fill(SLOTS.indexOf("congestion")),
      episode: new Uint32Array(changes.length),
    },
    dupthresh: { time: Float64Array.of(0), value: Float64Array.of(3) },
    rto: { time: Float64Array.of(0), value: Float64Array.of(1000) },
    inflation: { time: new Float64Array(0), value: new Float64Array(0) },
    phases: {
      time: phaseTimes,
      from: Uint8Array.from(phaseTimes, (_, i) => (i % 2 ? recovery : open)),
      to: Uint8Array.from(phaseTimes, (_, i) => (i % 2 ? open : recovery)),
      why: Uint8Array.from(phaseTimes, (_, i) => WHYS.indexOf(i % 2 ? "repaired" : "lost")),
      episode: Uint32Array.from(phaseTimes, (_, i) => 1 + (i >> 1)),
    },
    marks: {
      time: cuts.slice(0, 1),
      kind: Uint8Array.of(KINDS.indexOf("timeout")).slice(0, cuts.length),
      episode: Uint32Array.of(1).slice(0, cuts.length),
      value: Float64Array.of(0).slice(0, cuts.length),
    },
    longestPauseS: 0,
    stalls: [],
  };
}

/** A receiver that acknowledges every packet, with one SACK block (the block that grew last) or a DSACK. */
function receive(sent: readonly Packet[]): Pick<FlowTrace, "acks" | "sackLeft" | "sackRight"> {
  const arrived = sent.filter(({ dropped }) => !dropped).sort((a, b) => a.arrival - b.arrival);
  const count = arrived.length;
  const ack = new Float64Array(count);
  const dupRun = new Uint32Array(count);
  const newly = new Float64Array(count);
  const sackFirst = new Uint32Array(count);
  const sackCount = new Uint8Array(count);
  const left: number[] = [];
  const right: number[] = [];
  const above = new Set<number>();
  let next = 0;
  arrived.forEach(({ number }, i) => {
    sackFirst[i] = left.length;
    const old = number < next || above.has(number);
    if (!old) above.add(number);
    const before = next;
    while (above.delete(next)) next++;
    ack[i] = 1 + next * MSS;
    dupRun[i] = next === before && i > 0 ? dupRun[i - 1] + 1 : 0;
    newly[i] = old ? 0 : MSS;
    if (!old && number < next) return;
    let low = number;
    while (!old && above.has(low - 1)) low--;
    sackCount[i] = 1;
    left.push(1 + low * MSS);
    right.push(1 + (number + 1) * MSS);
  });
  const acks = {
    sent: Float64Array.from(arrived, ({ arrival }) => arrival),
    time: Float64Array.from(arrived, ({ arrival }) => arrival + DELAY_S),
    ack,
    rwnd: new Float64Array(count).fill(2 * WINDOW),
    dupRun,
    pipe: new Float64Array(count).fill(WINDOW),
    newlyDelivered: newly,
    number: Uint32Array.from(arrived, (_, i) => i),
    sackFirst,
    sackCount,
    dropped: new Uint8Array(count),
    echo: new Uint8Array(count),
  };
  return { acks, sackLeft: Float64Array.from(left), sackRight: Float64Array.from(right) };
}
