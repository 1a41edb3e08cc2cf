/** A pause in words. */
import type { Copy, Facts, Timeout } from "./facts";

/** A sentence, with its time and the transmissions that it names (rows in `sends`). */
export interface Sentence {
  time: number;
  text: string;
  rows: number[];
}

/** One line for a list. */
export function title(f: Facts): string {
  return `${span(f.pause.to - f.pause.from)} without an ACK of new data: ${cause(f)}`;
}

function cause(f: Facts): string {
  const [first, ...later] = f.copies;
  const segment = `segment ${f.segment}`;
  if (first?.fate === "dropped") {
    if (later.some((c) => c.fate === "dropped")) return `${segment} and its retransmission were lost`;
    if (f.timeouts.length > 0) return `${segment} was lost, and the timer had to send it again`;
    return f.copies.length > 1 ? `${segment} was lost and sent again` : `${segment} was lost`;
  }
  if (first?.fate === "refused") return `${segment} arrived, and the receiver refused it`;
  if (first && f.lostAcks > 0 && first.fateTime < f.pause.to) return `${segment} arrived, but its ACKs were lost`;
  const late = `${segment} was late, not lost`;
  return f.timeouts.length > 0 ? `${late}: a needless timeout` : late;
}

/** The sentences in the order of events. */
export function story(f: Facts): Sentence[] {
  const told = [...whatHappened(f), ...howItBegan(f), ...duplicates(f), ...recovery(f), ...timeouts(f), ...ending(f)];
  const inOrder = told.map((sentence, i) => ({ sentence, i }));
  return inOrder.sort((a, b) => a.sentence.time - b.sentence.time || a.i - b.i).map(({ sentence }) => sentence);
}

function whatHappened(f: Facts): Sentence[] {
  const first = f.copies[0];
  if (!first) return [];
  if (first.fate === "dropped") {
    const others =
      f.lost > 1
        ? ` It was one of ${f.lost} lost among the ${f.outstanding} segments outstanding when the pause began.`
        : "";
    return [say(first.fateTime, `Segment ${f.segment} was dropped by ${first.place}.${others}`, first)];
  }
  if (first.fate === "under way") {
    return [say(first.time, `Segment ${f.segment} was sent; it was still on its way when the run ended.`, first)];
  }
  return [say(first.time, `Segment ${f.segment} was sent. ${journey(f, first)}`, first), ...wayBack(f, first)];
}

/** The fate of a segment that was not lost. */
function journey(f: Facts, first: Copy): string {
  const took = first.fateTime - first.time;
  const before = f.overtaken > 0 ? `; ${count(f.overtaken, "packet")} sent later arrived before it` : "";
  const usual = took > 1.5 * f.ways.data ? `, while the shortest one-way time of a packet is ${span(f.ways.data)}` : "";
  const end = first.fate === "refused" ? ". The receiver did not have it, and threw it away" : "";
  return `It was not lost: it arrived after ${span(took)}${usual}${before}${end}.`;
}

/** The reason why its ACK did not reach the sender. */
function wayBack(f: Facts, first: Copy): Sentence[] {
  const told: Sentence[] = [];
  if (f.lostAcks > 0) {
    const were = f.lostAcks === 1 ? "was" : "were";
    told.push(say(first.fateTime, `${count(f.lostAcks, "ACK")} that would have said so ${were} dropped.`));
  }
  // An ACK caused by another copy is no evidence for this copy.
  if (!(f.acked >= first.fateTime) || f.copies.some((c) => c !== first && c.fateTime === f.acked)) return told;
  const [waited, back] = [f.acked - first.fateTime, f.pause.to - f.acked];
  const part = (f.pause.to - f.pause.from) / 5;
  if (waited > part) told.push(say(f.acked, `The receiver acknowledged it only after ${span(waited)}.`));
  if (back > part && back > 1.5 * f.ways.ack) {
    const usual = `while the shortest way back takes ${span(f.ways.ack)}`;
    told.push(say(f.acked, `Its ACK was sent, and took ${span(back)}, ${usual}.`));
  }
  return told;
}

/** The sender's phase at the start of the pause, if it explains something. */
function howItBegan(f: Facts): Sentence[] {
  const { from } = f.pause;
  const resent = f.copies.filter((c) => c.sends > 1 && c.time <= from);
  const lost = resent.filter((c) => c.fate === "dropped");
  const told = lost.map((c) => say(c.fateTime, `Its retransmission of ${at(c.time)} was dropped by ${c.place}.`, c));
  if (f.phaseBefore === "recovery" && f.phase === "open" && f.lost > 0) {
    const missing = f.lost === 1 ? "a segment sent earlier was" : `${f.lost} segments sent earlier were`;
    told.push(say(from, `An ACK ended fast recovery, though ${missing} still missing.`));
  } else if (f.phase === "recovery" && resent.length === 0 && f.copies[0]?.fate === "dropped") {
    told.push(say(from, `Fast recovery was under way, and segment ${f.segment} had not been sent again yet.`));
  } else if (f.phase === "loss" && f.copies[0]?.fate === "dropped" && resent.length === 0) {
    told.push(say(from, "The sender was still repairing the losses of an earlier timeout."));
  }
  return told;
}

/** The duplicates that arrived, and why they did not trigger a fast retransmit. */
function duplicates(f: Facts): Sentence[] {
  const time = f.recovery ?? f.timeouts[0]?.time;
  const there = f.copies[0]?.fate === "delivered" && f.copies[0].fateTime < (time ?? 0) && f.duplicates === 0;
  if (time === undefined || f.recovery !== undefined || there) return [];
  if (f.dupthresh === undefined) {
    return [say(f.pause.from, "This sender judges by time: it does not count duplicate ACKs.")];
  }
  const came = f.duplicates === 0 ? "No duplicate ACK came" : `${count(f.duplicates, "duplicate ACK")} came`;
  if (f.duplicates >= f.dupthresh) {
    const why = f.phase === "open" || f.phase === "disorder" ? GUARD : `the sender was already in ${f.phase}`;
    return [say(f.lastDuplicate, `${came}, with a threshold of ${f.dupthresh}; but ${why}.`)];
  }
  const needed = `a fast retransmit needs ${f.dupthresh}`;
  return [say(f.lastDuplicate, `${came}, but ${needed}: ${scarcity(f)}.`)];
}

const GUARD = "data sent before an earlier recovery or timeout starts no further fast retransmit";

/** Why there were so few. */
function scarcity(f: Facts): string {
  const arrived =
    f.behind === 0 ? "nothing sent after it arrived" : `only ${count(f.behind, "packet")} sent after it arrived`;
  if (f.fresh > 0) {
    const limited = f.limited > 0 ? `, ${f.limited} of them by limited transmit` : "";
    return `${arrived}, and ${count(f.fresh, "new segment")} ${f.fresh === 1 ? "was" : "were"} sent${limited}`;
  }
  return `${arrived}, and ${gate(f)}`;
}

/** The reason why no new data was sent. */
function gate(f: Facts): string {
  const usable = f.cwnd === undefined ? undefined : f.cwnd + f.inflation;
  if (f.rwnd !== undefined && f.flight + 1 > f.rwnd && (usable === undefined || f.rwnd <= usable)) {
    return `the receiver's window of ${segments(f.rwnd)} was used up`;
  }
  if (usable !== undefined && f.flight + 1 > usable) {
    const inflated = f.inflation > 0 ? ", inflation included," : "";
    return `the window of ${segments(usable)}${inflated} allowed no new data with ${segments(f.flight)} outstanding`;
  }
  if (f.cwnd !== undefined && f.pipe !== undefined && f.pipe + 1 > f.cwnd) {
    return `the sender assumed ${segments(f.pipe)} to be in the network, with a window of ${segments(f.cwnd)}`;
  }
  return "there was nothing new to send";
}

function recovery(f: Facts): Sentence[] {
  if (f.recovery === undefined) return [];
  const why =
    f.dupthresh === undefined
      ? "Fast recovery began, by time and not by duplicate ACKs"
      : `${count(f.duplicates, "duplicate ACK")} began fast recovery (threshold ${f.dupthresh})`;
  const copy = f.copies.find((c) => c.sends > 1 && c.time >= (f.recovery as number) && c.by !== "timeout");
  const resent = copy ? `: segment ${f.segment} was sent again${when(copy, f.recovery)}${ends(copy)}` : "";
  return [say(f.recovery, `${why}${resent}.`, ...(copy ? [copy] : []))];
}

function when(copy: Copy, since: number): string {
  return copy.time > since ? ` at ${at(copy.time)}` : "";
}

/** The fate of a retransmission. */
function ends(copy: Copy): string {
  if (copy.fate === "dropped") return ` and dropped by ${copy.place}`;
  if (copy.fate === "refused") return `, arrived at ${at(copy.fateTime)}, and was refused by the receiver`;
  return copy.fate === "delivered" ? `, and arrived at ${at(copy.fateTime)}${copy.needless ? ", needlessly" : ""}` : "";
}

function timeouts(f: Facts): Sentence[] {
  return f.timeouts.flatMap((t, i) => {
    const since = i === 0 ? f.pause.from : (f.timeouts[i - 1]?.time ?? f.pause.from);
    const after = i === 0 ? "the last ACK of new data" : "the one before";
    const backed = t.backoff > 0 ? `, backed off ${t.backoff === 1 ? "once" : `${t.backoff} times`}` : "";
    const set = t.rto === undefined ? "" : ` (RTO ${span(t.rto)}${backed}${origin(t, since)})`;
    const next = f.timeouts[i + 1]?.time ?? f.pause.to;
    const copy = f.copies.find((c) => c.time >= t.time && c.time < next && c.sends > 1);
    const resent = copy ? ` Segment ${f.segment} was sent again${when(copy, t.time)}${ends(copy)}.` : "";
    const fired = `The retransmission timer fired ${span(t.time - since)} after ${after}${set}.`;
    return [say(t.time, `${fired}${resent}`, ...(copy ? [copy] : []))];
  });
}

/** The start of the timer, if it is not the obvious start. */
function origin(t: Timeout, since: number): string {
  if (t.rto === undefined || Math.abs(t.time - since - t.rto) < 1e-6) return "";
  // A timer fires at a time other than the one set only if its clock has ticks.
  return t.setBy === undefined ? ", in ticks of a coarse clock" : `, set at ${at(t.setBy)}`;
}

function ending(f: Facts): Sentence[] {
  const { to, ended } = f.pause;
  const wasted = f.needless > 0 ? `, ${f.needless} of them needlessly` : "";
  const again = f.again > 1 ? ` Meanwhile ${f.again} packets had been sent again${wasted}.` : "";
  const told: Sentence[] = [];
  if (ended < 0) told.push(say(to, `The run ended before an ACK of new data came.${again}`));
  else {
    const more = f.covered >= 2 ? `: the data sent after it had already arrived` : "";
    told.push(say(to, `An ACK covered ${segments(f.covered)}${more}.${again}`));
  }
  if (f.mistake) {
    const undone = f.mistake.undone ? "and the window was restored" : "but nothing was restored";
    told.push(say(f.mistake.time, `The sender found that this was a mistake, ${undone}.`));
  }
  return told;
}

function say(time: number, text: string, ...copies: Copy[]): Sentence {
  return { time, text, rows: copies.map((c) => c.row) };
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}

/** A number of segments, with a decimal if it is not whole. */
function segments(n: number): string {
  const text = String(Number(n.toFixed(1)));
  return `${text} segment${text === "1" ? "" : "s"}`;
}

/** A moment. */
function at(time: number): string {
  return `${time.toFixed(3)} s`;
}

/** A length of time with three significant digits. */
function span(seconds: number): string {
  return seconds < 0.1 ? `${Number((seconds * 1000).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`;
}
