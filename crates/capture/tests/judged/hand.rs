//! Conversations written by hand: the effects of offload, a late start, a missing way and wrapping numbers on a capture.

use ackclock_capture::connection::{Connection, Report, Wanted};
use ackclock_capture::place::Side;
use ackclock_capture::verdict::{Evidence, Verdict};
use ackclock_capture::{Seen, Way};
use ackclock_tcp::segment::Segment;
use ackclock_wire::options::Timestamps;

const MS: i64 = 1_000_000;
const MSS: u64 = 1000;

/// The first numbers of a conversation.
#[derive(Clone, Copy)]
struct Begin {
    seq: u64,
    clock: u32,
    id: u16,
}

const PLAIN: Begin = Begin { seq: 1 << 40, clock: 1000, id: 500 };

/// A capture under construction; both clocks tick once a millisecond.
struct Talk {
    begin: Begin,
    packets: Vec<Seen>,
    ids: u16,
}

impl Talk {
    fn new(begin: Begin) -> Self {
        Talk { begin, packets: Vec::new(), ids: 0 }
    }

    fn add(&mut self, seen: Seen, ms: i64, value: u32, echo: u32) -> u64 {
        let frame = self.packets.len() as u64 + 1;
        let clock = |tick: u32| self.begin.clock.wrapping_add(tick);
        let timestamps = Some(Timestamps { value: clock(value), echo: clock(echo) });
        self.packets.push(Seen { frame, at: ms * MS, flags: Segment::ACK, window: 1000, timestamps, ..seen });
        frame
    }

    /// Segments from `from` up to `to` in one packet, which takes one identification for each segment.
    fn data(&mut self, ms: i64, from: u64, to: u64) -> u64 {
        let id = Some(self.begin.id.wrapping_add(self.ids));
        self.ids += (to - from) as u16;
        let (seq, len) = (self.begin.seq + MSS * from, ((to - from) * MSS) as u32);
        self.add(Seen { way: Way::Out, seq, len, id, ack: Some(1), ..Seen::default() }, ms, ms as u32, 0)
    }

    /// An acknowledgment of everything below `ack`, with SACK blocks; it echoes the data of that millisecond.
    fn ack(&mut self, ms: i64, ack: u64, blocks: &[(u64, u64)], echo: u32) -> u64 {
        let at = |n: u64| self.begin.seq + MSS * n;
        let mut sack = [(0, 0); 4];
        for (place, (left, right)) in sack.iter_mut().zip(blocks) {
            *place = (at(*left), at(*right));
        }
        let seen =
            Seen { way: Way::Back, seq: 1, ack: Some(at(ack)), sack, sacks: blocks.len() as u8, ..Seen::default() };
        self.add(seen, ms, ms as u32, echo)
    }
}

fn report(packets: &[Seen], at: Side) -> Report {
    let mut connection = Connection::new(Wanted { at: Some(at), each: true, ..Wanted::default() });
    packets.iter().for_each(|s| connection.on(s));
    connection.finish()
}

/// The retransmissions, without numbers that depend on the conversation's first numbers.
fn judgments(report: &Report, begin: Begin) -> Vec<(u64, i64, u64, u32, Verdict, bool)> {
    let each = report.retransmissions.iter();
    each.map(|r| (r.frame, r.at, (r.seq - begin.seq) / MSS, r.len, r.judged.verdict, r.judged.likely)).collect()
}

/// At the sender, with offload: packets of three segments. The second segment is lost and retransmitted; later an acknowledged
/// packet is retransmitted.
fn offloaded(begin: Begin) -> Talk {
    let mut talk = Talk::new(begin);
    talk.data(0, 0, 3);
    talk.data(1, 3, 6);
    talk.ack(100, 1, &[(2, 3)], 0);
    talk.ack(101, 1, &[(2, 6)], 0);
    talk.data(102, 1, 2);
    talk.ack(202, 6, &[], 102);
    talk.data(203, 6, 9);
    talk.ack(303, 9, &[], 203);
    talk.data(304, 6, 9);
    talk.ack(404, 9, &[(6, 9)], 203);
    talk
}

#[test]
fn of_a_packet_of_several_segments_each_is_judged_by_itself() {
    let report = report(&offloaded(PLAIN).packets, Side::Sender);
    let expected = [(5, 102 * MS, 1, 1000, Verdict::Needed, false), (9, 304 * MS, 6, 3000, Verdict::Needless, false)];
    assert_eq!(judgments(&report, PLAIN), expected);
    assert_eq!(report.retransmissions[0].judged.earlier, Some(1), "the packet that it was a part of");
    assert_eq!(report.retransmissions[1].judged.evidence, Evidence::AlreadyAcknowledged);
    let way = report.record.way(Way::Out);
    assert_eq!((way.segments, way.largest, way.bytes, way.carried_bytes), (5, 3000, 9000, 13_000));
}

#[test]
fn wrapping_sequence_numbers_clocks_and_identifications_change_nothing() {
    let plain = judgments(&report(&offloaded(PLAIN).packets, Side::Sender), PLAIN);
    for back in [0, 1, 500, 1000, 1500, 5500] {
        let begin = Begin { seq: (5 << 32) - back, clock: u32::MAX - 150, id: u16::MAX - 4 };
        assert_eq!(judgments(&report(&offloaded(begin).packets, Side::Sender), begin), plain, "{back} before the wrap");
    }
}

/// A verdict, its evidence, and whether it is only likely.
type Judged = (Verdict, Evidence, bool);

/// The results for the sender's capture together with the receiver's, which has single segments, another clock, and numbers
/// unwrapped from another base. `arrives` returns for the number of each transmitted segment whether it was captured there.
fn both(sent: &Talk, arrives: impl Fn(u64) -> bool) -> (Vec<Judged>, Option<(u64, u64)>) {
    let wanted = |side| Wanted { at: Some(side), each: true, ..Wanted::default() };
    let mut there = Connection::noting_arrivals(wanted(Side::Receiver));
    there.full_segment(MSS as u32);
    let (mut left, mut frame) = (0, 0);
    let mut note = |seen: Seen| {
        frame += 1;
        there.on(&Seen { frame, at: seen.at + 5_000_000 * MS, ..seen });
    };
    for packet in &sent.packets {
        if packet.way == Way::Back {
            let ack = packet.ack.map(|ack| ack + (9 << 32));
            note(Seen { ack, sacks: 0, ..*packet });
            continue;
        }
        for k in 0..u64::from(packet.len) / MSS {
            if arrives(left) {
                let id = packet.id.map(|id| id.wrapping_add(k as u16));
                note(Seen { seq: packet.seq + MSS * k + (9 << 32), len: MSS as u32, id, ..*packet });
            }
            left += 1;
        }
    }
    let arrivals = there.finish_noting().1.expect("they were noted");
    let mut here = Connection::knowing_arrivals(wanted(Side::Sender), arrivals);
    sent.packets.iter().for_each(|s| here.on(s));
    let (report, arrivals) = here.finish_noting();
    let verdicts = report.retransmissions.iter().map(|r| (r.judged.verdict, r.judged.evidence, r.judged.likely));
    let [out, _] = *arrivals.expect("they are handed back");
    (verdicts.collect(), out.between().map(|b| (b.arrived, b.known)))
}

#[test]
fn both_sides_are_matched_across_the_wrap_and_through_offload_at_either() {
    for begin in [PLAIN, Begin { seq: (7 << 32) - 1500, clock: u32::MAX - 150, id: u16::MAX - 4 }] {
        // The second segment is lost.
        let (verdicts, between) = both(&offloaded(begin), |n| n != 1);
        let expected =
            [(Verdict::Needed, Evidence::NoneArrived, false), (Verdict::Needless, Evidence::TakenThere, false)];
        assert_eq!(verdicts, expected);
        assert_eq!(between, Some((12, 12)), "segments that came, and that are known");
    }
}

#[test]
fn packets_missing_from_the_receivers_capture_do_not_count_as_lost() {
    let sent = offloaded(PLAIN);
    let needless = (Verdict::Needless, Evidence::TakenThere, false);
    let open = (Verdict::Undecided, Evidence::NotThere, false);
    // It began late: with the data sent after the loss. It ended early: before the retransmissions arrived.
    assert_eq!(both(&sent, |n| n > 2).0, [open, needless]);
    assert_eq!(both(&sent, |n| n != 1 && n < 6).0, [open, open]);
    // A packet that the receiver acknowledged is missing in the middle, so other packets may be missing, too.
    let (verdicts, between) = both(&sent, |n| n != 1 && n != 4);
    assert_eq!(verdicts, [(Verdict::Needed, Evidence::NoneArrived, true), needless]);
    assert_eq!(between, Some((11, 11)));
}

#[test]
fn what_was_first_sent_before_the_capture_began_is_not_judged_for_sure() {
    let mut talk = Talk::new(PLAIN);
    // 3 was sent and lost before the capture began in the middle of the transfer.
    talk.ack(0, 3, &[(4, 5)], 0);
    let again = talk.data(1, 3, 4);
    talk.data(2, 8, 9);
    talk.ack(101, 8, &[], 1);
    talk.ack(102, 9, &[], 2);
    let report = report(&talk.packets, Side::Sender);
    for one in &report.retransmissions {
        assert_eq!(one.frame, again);
        assert!(one.judged.verdict == Verdict::Undecided || one.judged.likely, "{one:?}");
    }
    assert_eq!(report.record.way(Way::Out).syn, None);
    assert_eq!(report.record.way(Way::Out).carried_bytes, 2000);
}

#[test]
fn without_acknowledgments_nothing_is_judged_at_the_sender() {
    let whole = offloaded(PLAIN);
    let data: Vec<Seen> = whole.packets.iter().filter(|p| p.way == Way::Out).copied().collect();
    let report = report(&data, Side::Sender);
    let verdicts: Vec<_> = report.retransmissions.iter().map(|r| (r.judged.verdict, r.judged.evidence)).collect();
    assert_eq!(verdicts, [(Verdict::Undecided, Evidence::NoAcknowledgments); 2]);
    assert_eq!((report.record.way(Way::Out).bytes, report.record.way(Way::Back).packets), (9000, 0));
}

#[test]
fn acknowledgments_alone_tell_of_no_data_and_no_verdicts() {
    let whole = offloaded(PLAIN);
    let acks: Vec<Seen> = whole.packets.iter().filter(|p| p.way == Way::Back).copied().collect();
    let report = report(&acks, Side::Sender);
    assert!(report.retransmissions.is_empty());
    let way = report.record.way(Way::Out);
    assert_eq!((way.packets, way.carried_bytes, way.bytes, way.unseen_bytes), (0, 0, 0, 0));
    assert_eq!(report.record.way(Way::Back).packets, 5);
}
