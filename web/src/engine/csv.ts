/**
 * A trace in CSV, as `ackclock run --trace FILE.csv` and this page write it, read as a run to draw.
 *
 * The file has a row for each event and names no packet, so copies of the same data are distinguished by their
 * order: the oldest one in flight arrives, the newest one is dropped. It has no links and no timers.
 */
import { FATES, type FlowTrace, KINDS, PHASES, type QueueTrace, type RunTrace, SLOTS, VERDICTS, WHYS } from "./trace";

/** A text that is not a trace: the place and the reason. */
export class NotTrace extends Error {
  constructor(line: number, why: string, what: "line" | "record" = "line") {
    super(`${what} ${line}: ${why}`);
  }
}

/** Columns that every row must have; others may be missing. */
export const NEEDED = ["time_ns", "flow", "side", "event"] as const;

export type Cells = (column: string) => string;

/** Number of rows between two progress reports. */
export const ROWS = 20_000;

/** Memory of a row of a trace while it is read, bytes; measured. A packet is also kept by its content. */
const SENT_BYTES = 600;
const ROW_BYTES = 100;

/**
 * Reads the text of a file; throws `NotTrace`. `progress` is called with the fraction that is read, 0 to 1. `room` is the
 * memory for what is read, bytes.
 */
export function readCsv(
  text: string,
  progress: (share: number) => void = () => {},
  room = Number.POSITIVE_INFINITY,
): RunTrace {
  const reader = new Reader("line", room);
  const head = text.slice(0, lineEnd(text, 0)).trim().split(",");
  for (const column of NEEDED) if (!head.includes(column)) throw new NotTrace(1, `there is no column ${column}`);
  const at = new Map(head.map((name, i) => [name, i]));
  let line = 2;
  for (let from = lineEnd(text, 0) + 1; from < text.length; line += 1) {
    const to = lineEnd(text, from);
    const cells = text.slice(from, to).trim().split(",");
    from = to + 1;
    if (cells.length === 1 && cells[0] === "") continue;
    if (cells.length !== head.length) throw new NotTrace(line, `${cells.length} cells, not ${head.length}`);
    reader.row((column) => cells[at.get(column) ?? -1] ?? "", line);
    if (line % ROWS === 0) progress(from / text.length);
  }
  return reader.run();
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** Rows of a table by column. */
type Columns = Record<string, number[]>;

class Flow {
  sends: Columns = columns("time seq len sends verdict fate fateTime by episode element nth number marked");
  acks: Columns = columns("sent time ack rwnd dupRun pipe newlyDelivered number sackFirst sackCount dropped echo");
  windows: Columns = columns("time cwnd ssthresh by episode");
  dupthresh: Columns = columns("time value");
  rto: Columns = columns("time value");
  inflation: Columns = columns("time value");
  phases: Columns = columns("time from to why episode");
  marks: Columns = columns("time kind episode value");
  sackLeft: number[] = [];
  sackRight: number[] = [];
  /** Rows of `sends` in flight, by their content. */
  away = new Map<string, number[]>();
  /** Times and numbers of the ACKs in flight, by their content. */
  answers = new Map<string, [number, number][]>();
  numbered = { sender: 0, receiver: 0 };
  /** The row of `sends` that arrived or was dropped last; -1 for none. */
  came = -1;
}

function columns(names: string): Columns {
  return Object.fromEntries(names.split(" ").map((name) => [name, []]));
}

function add(to: Columns, row: Record<string, number>): void {
  for (const [name, value] of Object.entries(row)) to[name]?.push(value);
}

/** Builds a run from the rows of a trace in any file format. */
export class Reader {
  /** Throws `NotTrace` rather than keep more than `room` bytes: a browser ends a page that runs out of memory. */
  constructor(
    private readonly what: "line" | "record",
    private readonly room: number,
  ) {}

  /** Memory of the rows so far, bytes. */
  private kept = 0;

  /** By number; a file may hold a part of a run's flows. */
  private readonly flows = new Map<number, Flow>();
  private readonly queues = new Map<number, Columns>();
  private last = 0;

  row(cell: Cells, line: number): void {
    const number = (column: string) => numeral(cell(column));
    const time = number("time_ns") / 1e9;
    if (!Number.isFinite(time) || time < this.last)
      throw new NotTrace(line, "its time is not a number, or before the previous one", this.what);
    this.last = time;
    const event = cell("event");
    this.kept += event === "sent" ? SENT_BYTES : ROW_BYTES;
    this.fits(0, line);
    if (event === "queue") {
      const queue = this.queues.get(number("link")) ?? columns("time packets");
      this.queues.set(number("link"), queue);
      add(queue, { time, packets: number("queue_packets") });
      return;
    }
    const index = number("flow");
    if (!Number.isInteger(index) || index < 0 || index > 65_536) {
      throw new NotTrace(line, `flow is "${cell("flow")}"`, this.what);
    }
    const flow = this.flows.get(index) ?? new Flow();
    this.flows.set(index, flow);
    packet(flow, time, event, cell, number);
  }

  /** Throws if there is no room for `more` bytes. */
  fits(more: number, line: number): void {
    if (this.kept + more <= this.room) return;
    const mb = Math.round(this.room / 1e6);
    throw new NotTrace(
      line,
      `from here on it needs more memory than this page has, ${mb} MB; a part of it can be opened`,
      this.what,
    );
  }

  run(): RunTrace {
    const durationS = this.last;
    const numbered = [...this.flows].sort(([a], [b]) => a - b);
    const flows = numbered.map(([i, flow]) => traced(flow, i));
    const queues = [...this.queues].map(([link, q]): QueueTrace => {
      const { time = [], packets = [] } = q;
      const longest = packets.reduce((most, one) => Math.max(most, one), 0);
      const name = `link ${link >> 1}, ${link & 1 ? "back" : "forward"}`;
      return { link, name, time: f64(time), packets: u32(packets), longest, limit: Number.NaN };
    });
    const summary = { runs: [{ duration_s: durationS, flows: flows.map((flow) => counted(flow, durationS)) }] };
    return { flows, queues, links: [], elements: [], durationS, summary };
  }
}

function numeral(text: string): number {
  if (text === "") return Number.NaN;
  return text === "inf" ? Number.POSITIVE_INFINITY : Number(text);
}

type Numbers = (column: string) => number;

/** An event of one flow: of a packet or of its sender. */
function packet(flow: Flow, time: number, event: string, cell: Cells, number: Numbers): void {
  if (["sent", "delivered", "dropped"].includes(event)) carried(flow, time, event, cell, number);
  else if (event === "refused" && cell("side") === "receiver") refused(flow, number);
  else if (cell("side") === "sender") told(flow, time, event, cell, number);
}

function told(flow: Flow, time: number, event: string, cell: Cells, number: Numbers): void {
  const episode = number("episode") || 0;
  const word = (of: readonly string[], column: string) => Math.max(0, of.indexOf(cell(column)));
  const mark = (kind: (typeof KINDS)[number], value: number) =>
    add(flow.marks, { time, kind: KINDS.indexOf(kind), episode, value });
  const does: Readonly<Record<string, () => void>> = {
    acked: () => acknowledged(flow, number),
    window: () => {
      const { time: changes } = flow.windows;
      if (changes?.length === 0) {
        const before = { cwnd: number("cwnd_from"), ssthresh: number("ssthresh_from") };
        const began = flow.sends.time?.[0] ?? time;
        add(flow.windows, { time: began, ...before, by: SLOTS.indexOf("startup"), episode: 0 });
      }
      const after = { cwnd: number("cwnd"), ssthresh: number("ssthresh") };
      add(flow.windows, { time, ...after, by: word(SLOTS, "by"), episode });
    },
    inflation: () => add(flow.inflation, { time, value: number("inflation") }),
    threshold: () => add(flow.dupthresh, { time, value: number("dupthresh") }),
    rtt: () => add(flow.rto, { time, value: number("rto_ns") / 1e6 }),
    phase: () => {
      const [from, to] = [word(PHASES, "phase_from"), word(PHASES, "phase_to")];
      add(flow.phases, { time, from, to, why: word(WHYS, "why"), episode });
    },
    timeout: () => mark("timeout", number("backoff")),
    mistake: () => mark(cell("undone") === "true" ? "undone" : "mistake", Number.NaN),
    persist: () => mark("persist", number("seq")),
  };
  does[event]?.();
}

/** A packet was sent, arrived, or was dropped; `side` is its sender's or its destination's. */
function carried(flow: Flow, time: number, event: string, cell: Cells, number: Numbers): void {
  const ofSender = (cell("side") === "sender") === (event === "sent");
  const long = number("len") > 0;
  const takes = long || /[SF]/.test(cell("flags"));
  if (ofSender && event === "sent") {
    if (long) sent(flow, time, cell, number);
    flow.numbered.sender += takes ? 1 : 0;
  } else if (ofSender && long) {
    arrived(flow, time, event === "delivered", cell, number);
  } else if (!ofSender && !takes) {
    answered(flow, time, event, cell, number);
  }
}

function sent(flow: Flow, time: number, cell: Cells, number: Numbers): void {
  const key = `${number("seq")} ${number("len")}`;
  const rows = flow.away.get(key) ?? [];
  rows.push(flow.sends.time?.length ?? 0);
  flow.away.set(key, rows);
  add(flow.sends, {
    time,
    seq: number("seq"),
    len: number("len"),
    sends: number("sends"),
    verdict: VERDICTS.indexOf(verdict(cell, number)),
    fate: FATES.indexOf("under way"),
    fateTime: Number.NaN,
    by: Math.max(0, (SLOTS as readonly string[]).indexOf(cell("by"))),
    episode: number("episode") || 0,
    element: -1,
    nth: -1,
    number: flow.numbered.sender,
    marked: 0,
  });
}

function verdict(cell: Cells, number: Numbers): (typeof VERDICTS)[number] {
  if (cell("needless") === "") return number("sends") > 1 ? "open" : "first";
  if (cell("needless") === "true") return "needless";
  return cell("refused") === "true" ? "refused" : "needed";
}

function arrived(flow: Flow, time: number, whole: boolean, cell: Cells, number: Numbers): void {
  const rows = flow.away.get(`${number("seq")} ${number("len")}`);
  const row = whole ? rows?.shift() : rows?.pop();
  const { fate, fateTime, element, nth, marked } = flow.sends;
  flow.came = row ?? -1;
  if (row === undefined || !fate || !fateTime || !element || !nth || !marked) return;
  fate[row] = whole ? 0 : 1;
  fateTime[row] = time;
  marked[row] = whole && cell("flags").includes("C") ? 1 : 0;
  if (whole) return;
  element[row] = number("element");
  nth[row] = number("nth");
}

/** The receiver discarded a part of the packet that arrived last. */
function refused(flow: Flow, number: Numbers): void {
  const { fate } = flow.sends;
  if (fate && flow.came >= 0 && number("missing") > 0 && number("len") > 0) fate[flow.came] = FATES.indexOf("refused");
}

function answered(flow: Flow, time: number, event: string, cell: Cells, number: Numbers): void {
  const key = ["ack", "sack", "rwnd", "tsval", "tsecr"].map(cell).join();
  const under = flow.answers.get(key) ?? [];
  if (event === "sent") {
    under.push([time, flow.numbered.receiver]);
    flow.answers.set(key, under);
    flow.numbered.receiver += 1;
    return;
  }
  const [sentAt, nth] = under.shift() ?? [time, 0];
  const blocks = cell("sack").split(" ").filter(Boolean);
  const first = flow.sackLeft.length;
  for (const block of blocks) {
    const [left, right] = block.split("-").map(Number);
    flow.sackLeft.push(left ?? 0);
    flow.sackRight.push(right ?? 0);
  }
  const dropped = event === "dropped";
  add(flow.acks, {
    sent: sentAt,
    time: dropped ? Number.NaN : time,
    ack: number("ack"),
    rwnd: number("rwnd"),
    dupRun: 0,
    pipe: Number.NaN,
    newlyDelivered: 0,
    number: nth,
    sackFirst: first,
    sackCount: blocks.length,
    dropped: dropped ? 1 : 0,
    echo: cell("flags").includes("E") ? 1 : 0,
  });
}

/** The sender's reaction to the last ACK. */
function acknowledged(flow: Flow, number: Numbers): void {
  const { dupRun, pipe, newlyDelivered, time } = flow.acks;
  const i = (time?.length ?? 0) - 1;
  if (i < 0 || !dupRun || !pipe || !newlyDelivered) return;
  dupRun[i] = number("dup_run") || 0;
  pipe[i] = number("pipe");
  newlyDelivered[i] = number("newly_delivered") || 0;
}

const f64 = (values: number[] = []) => Float64Array.from(values);
const u32 = (values: number[] = []) => Uint32Array.from(values);
const i32 = (values: number[] = []) => Int32Array.from(values);
const u8 = (values: number[] = []) => Uint8Array.from(values);

function traced(flow: Flow, i: number): FlowTrace {
  const { sends: s, acks: a, windows: w, phases: p, marks: m } = flow;
  const steps = ({ time, value }: Columns) => ({ time: f64(time), value: f64(value) });
  return {
    name: `flow ${i}`,
    from: "sender",
    to: "receiver",
    stack: `flow ${i}`,
    mss: (s.len ?? []).reduce((most, len) => Math.max(most, len), 0),
    sends: {
      ...{ time: f64(s.time), seq: f64(s.seq), len: u32(s.len), sends: u8(s.sends), verdict: u8(s.verdict) },
      ...{ fate: u8(s.fate), fateTime: f64(s.fateTime), by: u8(s.by), episode: u32(s.episode) },
      ...{ element: i32(s.element), nth: i32(s.nth), number: u32(s.number), marked: u8(s.marked) },
    },
    acks: {
      ...{ sent: f64(a.sent), time: f64(a.time), ack: f64(a.ack), rwnd: f64(a.rwnd), dupRun: u32(a.dupRun) },
      ...{ pipe: f64(a.pipe), newlyDelivered: f64(a.newlyDelivered), number: u32(a.number) },
      ...{ sackFirst: u32(a.sackFirst), sackCount: u8(a.sackCount), dropped: u8(a.dropped), echo: u8(a.echo) },
    },
    sackLeft: f64(flow.sackLeft),
    sackRight: f64(flow.sackRight),
    windows: { time: f64(w.time), cwnd: f64(w.cwnd), ssthresh: f64(w.ssthresh), by: u8(w.by), episode: u32(w.episode) },
    dupthresh: steps(flow.dupthresh),
    rto: steps(flow.rto),
    inflation: steps(flow.inflation),
    phases: { time: f64(p.time), from: u8(p.from), to: u8(p.to), why: u8(p.why), episode: u32(p.episode) },
    marks: { time: f64(m.time), kind: u8(m.kind), episode: u32(m.episode), value: f64(m.value) },
  };
}

/** The counts that a run's report would have. */
function counted({ name, stack, sends, acks, marks }: FlowTrace, durationS: number): Record<string, unknown> {
  const count = (of: Uint8Array, is: (value: number) => boolean) => of.reduce((n, value) => n + (is(value) ? 1 : 0), 0);
  const acked = acks.ack.reduce((most, ack, i) => (acks.dropped[i] ? most : Math.max(most, ack)), 1) - 1;
  return {
    name,
    stack,
    goodput_bytes_per_s: durationS > 0 ? acked / durationS : null,
    retransmissions: count(sends.sends, (value) => value > 1),
    needed_retransmissions: count(sends.verdict, (value) => VERDICTS[value] === "needed"),
    refused_retransmissions: count(sends.verdict, (value) => VERDICTS[value] === "refused"),
    needless_retransmissions: count(sends.verdict, (value) => VERDICTS[value] === "needless"),
    timeouts: count(marks.kind, (value) => KINDS[value] === "timeout"),
  };
}
