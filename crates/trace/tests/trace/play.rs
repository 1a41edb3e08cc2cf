//! Calls as values, so that tests can store, alter and reorder them; and one fixed conversation.

use ackclock_sim::watch::{DropWhy, Dropped, Side, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::event::{Cause, Event, Phase, Slot, Why, Window};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Tcp(Event),
    Sent {
        seg: Segment,
        wire: u32,
        sends: u8,
    },
    Dropped {
        element: u32,
        nth: u64,
        why: DropWhy,
        seg: Segment,
        sends: u8,
    },
    Delivered {
        seg: Segment,
        wire: u32,
        sends: u8,
    },
    /// Refers to the last packet delivered; the host does not have `missing`.
    Refused {
        why: Refusal,
        seg: Segment,
        sends: u8,
        missing: (Offset, Offset),
    },
    Queue {
        packets: u32,
        bytes: u64,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) at: u64,
    pub(crate) flow: u32,
    pub(crate) side: Side,
    pub(crate) what: What,
}

impl Call {
    pub(crate) fn to(self, w: &mut impl Watch) {
        let Call { at, flow, side, what } = self;
        let at = Time(at);
        match what {
            What::Tcp(e) => w.tcp(at, flow, side, e),
            What::Sent { seg, wire, sends } => w.sent(at, flow, side, &seg, wire, sends),
            What::Dropped { element, nth, why, seg, sends } => {
                w.dropped(Dropped { at, flow, to: side, element, nth, why, seg: &seg, sends })
            }
            What::Delivered { seg, wire, sends } => w.delivered(at, flow, side, &seg, wire, sends),
            What::Refused { why, seg, sends, missing } => w.refused(at, flow, side, why, &seg, sends, &[missing]),
            What::Queue { packets, bytes } => w.queue(at, flow, packets, bytes),
        }
    }
}

pub(crate) fn play(calls: &[Call], w: &mut impl Watch) {
    calls.iter().for_each(|c| c.to(w));
}

pub(crate) fn data(seq: u64, len: u32) -> Segment {
    Segment { seq: Offset(seq), len, flags: Segment::ACK, ack: Offset(1), wnd: 65_535, ..Segment::EMPTY }
}

pub(crate) fn ack(ack: u64, sack: &[(u64, u64)]) -> Segment {
    let mut s = Segment { seq: Offset(1), ack: Offset(ack), flags: Segment::ACK, wnd: 1 << 20, ..Segment::EMPTY };
    sack.iter().for_each(|&(l, r)| s.push_sack(Offset(l), Offset(r)));
    s
}

/// One flow's story with every kind of event in it: a SYN, a drop, retransmissions that were
/// needed, refused and needless, timestamps.
pub(crate) fn story(flow: u32) -> Vec<Call> {
    let mut all = Vec::new();
    let mut say = |at: u64, side, what| all.push(Call { at: at * 1000 + u64::from(flow), flow, side, what });
    let (s, r) = (Side::Sender, Side::Receiver);
    let sent = |seg, sends| What::Sent { seg, wire: 40 + seg.len, sends };
    let got = |seg: Segment, sends| What::Delivered { seg, wire: 40 + seg.len, sends };
    let asked = |seq, sends, by| {
        What::Tcp(Event::Sent { start: Offset(seq), len: 1000, episode: u32::from(sends > 1), sends, by })
    };
    let w = |cwnd, ssthresh| Window { cwnd, ssthresh };
    let syn = Segment { flags: Segment::SYN, mss: 1000, wscale: 7, opts: 3, tsval: 4_000_000_000, ..Segment::EMPTY };
    say(0, s, sent(syn, 1));
    say(5, r, got(syn, 1));
    say(9, s, asked(1, 1, Slot::Sequencer));
    say(9, s, sent(data(1, 1000), 1));
    say(9, s, asked(1001, 1, Slot::Sequencer));
    say(9, s, sent(data(1001, 1000), 1));
    say(10, s, What::Queue { packets: 2, bytes: 2080 });
    let why = DropWhy::Script;
    say(10, r, What::Dropped { element: 3, nth: 7, why, seg: data(1, 1000), sends: 1 });
    say(14, r, got(data(1001, 1000), 1));
    say(14, r, sent(ack(1, &[(1001, 2001)]), 0));
    say(19, s, got(ack(1, &[(1001, 2001)]), 0));
    say(19, s, What::Tcp(Event::Acked { ack: Offset(1), delivered: 1000, dup_run: 1, pipe: 1000 }));
    let (from, to) = (Phase::Open, Phase::Recovery);
    say(19, s, What::Tcp(Event::Phase { from, to, why: Why::Lost, episode: 1 }));
    let (from, to) = (w(14_600.0, f64::INFINITY), w(1000.0 / 3.0, 7300.5));
    say(19, s, What::Tcp(Event::Window { by: Slot::Congestion, episode: 1, from, to }));
    say(19, s, What::Tcp(Event::Inflation { episode: 1, bytes: 3000.0 }));
    say(19, s, asked(1, 2, Slot::Recovery));
    say(19, s, sent(data(1, 1000), 2));
    say(21, s, What::Tcp(Event::Timeout { episode: 1, backoff: 2 }));
    say(21, s, asked(1001, 2, Slot::Timeout));
    say(21, s, sent(data(1001, 1000), 2));
    say(22, s, asked(1, 3, Slot::Timeout));
    say(22, s, sent(data(1, 1000), 3));
    say(24, r, got(data(1, 1000), 2));
    let (why, missing) = (Refusal::Paws, (Offset(1), Offset(1001)));
    say(24, r, What::Refused { why, seg: data(1, 1000), sends: 2, missing });
    say(25, s, What::Tcp(Event::Mistake { episode: 1, cause: Cause::Rto, undone: true }));
    say(26, s, What::Tcp(Event::Persist { at: Offset(2001) }));
    say(26, s, What::Tcp(Event::Probe { at: Offset(1001) }));
    say(27, s, What::Tcp(Event::Threshold { dupthresh: 4, mss: 1000, cwnd: 14_600.0 }));
    let [srtt, rttvar, rto] = [50, 25, 200].map(Nanos::from_millis);
    say(28, s, What::Tcp(Event::Rtt { srtt, rttvar, rto }));
    all
}

/// Two flows' stories, merged in time order.
pub(crate) fn two_flows() -> Vec<Call> {
    let mut all: Vec<Call> = story(0).into_iter().chain(story(1)).collect();
    all.sort_by_key(|c| c.at);
    all
}
