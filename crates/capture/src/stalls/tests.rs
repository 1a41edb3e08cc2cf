//! A transfer in segments of 1000 bytes, 1 ms apart, with a round trip of 50 ms, and one gap in it.

use super::*;

const BASE: u64 = 1 << 32;
const MS: i64 = 1_000_000;
const RTT: i64 = 50 * MS;

struct Talk {
    stalls: Stalls,
    frame: u64,
    shift: Option<u8>,
}

impl Talk {
    /// Twenty segments; the first ten are acknowledged a round trip later. The time is then 69 ms.
    fn new() -> Talk {
        Talk::with_window(60_000)
    }

    fn with_window(window: u16) -> Talk {
        let mut talk = Talk { stalls: Stalls::default(), frame: 0, shift: Some(0) };
        (0..20).for_each(|n| talk.data(n as i64, n, 0));
        (0..10).for_each(|n| talk.ack(50 + n as i64, n + 1, window));
        (20..30).for_each(|n| talk.data(50 + (n as i64 - 20), n, 0));
        (10..20).for_each(|n| talk.ack(60 + n as i64 - 10, n + 1, window));
        talk
    }

    fn data(&mut self, ms: i64, n: u64, flags: u8) {
        self.frame += 1;
        let seq = BASE + n * 1000;
        self.stalls.data(&Seen {
            frame: self.frame,
            at: ms * MS,
            seq,
            len: 1000,
            flags: flags | Segment::ACK,
            ..Seen::default()
        });
    }

    fn ack(&mut self, ms: i64, upto: u64, window: u16) {
        self.frame += 1;
        let ack = Some(BASE + upto * 1000);
        self.stalls.ack(&Seen { frame: self.frame, at: ms * MS, ack, window, ..Seen::default() }, self.shift);
    }

    fn found(&self, side: Side) -> Found {
        self.stalls.clone().finish(side, Some(RTT), self.end())
    }

    /// `len` bytes from this place of the stream on.
    fn small(&mut self, ms: i64, from: u64, len: u32) {
        self.frame += 1;
        let seq = BASE + from;
        let flags = Segment::ACK | Segment::PSH;
        self.stalls.data(&Seen { frame: self.frame, at: ms * MS, seq, len, flags, ..Seen::default() });
    }

    fn ack_of(&mut self, ms: i64, ack: u64) {
        self.frame += 1;
        let seen = Seen { frame: self.frame, at: ms * MS, ack: Some(ack), window: 60_000, ..Seen::default() };
        self.stalls.ack(&seen, self.shift);
    }

    /// The connection ends with its last packet.
    fn end(&self) -> End {
        let last = (self.stalls.now.last_ack_at.max(self.stalls.now.from), self.frame);
        End { last, during: (0, last.0), acks: true, lossy: true, smallest: Some(RTT) }
    }

    /// The last stall, seen from a side.
    fn stall(&self, side: Side) -> Stall {
        let found = self.found(side);
        assert_eq!(found.count(), found.kept.len() as u64);
        *found.kept.last().unwrap()
    }

    fn cause(&self) -> Cause {
        self.stall(Side::Sender).cause
    }
}

#[test]
fn silence_that_a_retransmission_of_the_first_outstanding_segment_ends_is_a_timeout() {
    let mut talk = Talk::new();
    talk.data(400, 20, 0);
    let stall = talk.stall(Side::Sender);
    assert_eq!((stall.cause, stall.facts.length()), (Cause::Timeout, 341 * MS));
    let words = "Frame 51 was sent again 0.331 s after the last ACK (frame 50), as by a retransmission timer. No duplicate ACK arrived.";
    assert_eq!(stall.words(), words);
}

#[test]
fn a_lost_end_that_no_ack_reveals_is_a_tail_loss() {
    let mut talk = Talk::new();
    (20..29).for_each(|n| talk.ack(90 + n as i64 - 20, n + 1, 60_000));
    talk.data(400, 29, 0);
    let stall = talk.stall(Side::Sender);
    assert_eq!(
        (stall.cause, stall.title()),
        (Cause::TailLoss, "0.341 s without a segment of data: tail loss".to_owned())
    );
    let words: Vec<String> = stall.sentences(|at| at as f64 / 1e9).into_iter().map(|s| s.text).collect();
    let ended = "Frame 60 ended it. Frame 60 was sent again 0.302 s after the last ACK (frame 59); no ACK had reported anything sent \
                 after it.";
    assert_eq!(words, ["Frame 40 was the last segment for a while.".to_owned(), ended.to_owned()]);
}

#[test]
fn a_segment_sent_again_right_after_duplicate_acks_is_a_fast_retransmit() {
    let mut talk = Talk::new();
    (0..3).for_each(|n| talk.ack(180 + n, 20, 60_000));
    talk.data(183, 20, 0);
    assert_eq!(talk.cause(), Cause::FastRetransmit);
}

#[test]
fn a_window_that_is_closed_or_used_up_is_the_receivers() {
    let ended = |closes: bool| {
        let mut talk = Talk::with_window(10_000);
        if closes {
            talk.ack(110, 30, 0);
        }
        talk.ack(300, 30, 60_000);
        talk.data(301, 30, 0);
        talk.stall(Side::Sender)
    };
    let (closed, full) = (ended(true), ended(false));
    assert_eq!((closed.cause, full.cause), (Cause::ReceiverWindow, Cause::ReceiverWindow));
    assert_eq!(closed.words(), "The receiver's window was closed; frame 52 opened it.");
    assert_eq!(full.words(), "The receiver's window of 10000 bytes was used up; frame 51 moved it.");
    let mut unscaled = Talk::new();
    unscaled.shift = None;
    unscaled.ack(110, 30, 0);
    unscaled.ack(300, 30, 1);
    unscaled.data(301, 30, 0);
    assert_eq!(unscaled.cause(), Cause::ReceiverWindow, "0 needs no scale");
}

#[test]
fn new_data_long_after_all_was_acknowledged_is_an_idle_application() {
    let mut talk = Talk::new();
    talk.ack(110, 30, 60_000);
    talk.data(900, 30, 0);
    let stall = talk.stall(Side::Sender);
    assert_eq!(stall.cause, Cause::ApplicationIdle);
    assert_eq!(stall.words(), "Frame 51 had acknowledged everything 0.79 s before; no data was outstanding here.");
}

#[test]
fn new_data_right_after_an_ack_waited_for_the_window() {
    let mut talk = Talk::new();
    talk.ack(200, 25, 60_000);
    talk.data(201, 30, 0);
    let stall = talk.stall(Side::Sender);
    assert_eq!(stall.cause, Cause::CongestionWindow);
    assert_eq!(stall.words(), "The congestion window was fully in flight until the ACK in frame 51.");
}

#[test]
fn new_data_out_of_silence_were_late_written_or_late_sent() {
    let ended = |push| {
        let mut talk = Talk::new();
        talk.data(70, 30, push);
        talk.ack(360, 25, 60_000);
        talk.data(400, 31, 0);
        talk
    };
    assert_eq!(ended(Segment::PSH).cause(), Cause::ApplicationIdle);
    let silent = ended(0);
    assert_eq!(silent.cause(), Cause::SenderHost);
    assert_eq!(silent.stall(Side::Middle).cause, Cause::Unknown, "only the sender's host shows it");
}

#[test]
fn new_data_after_a_silence_of_the_network_are_a_loss_probe_and_neither_the_application_nor_the_host() {
    for push in [0, Segment::PSH] {
        let mut talk = Talk::new();
        talk.data(70, 30, push);
        talk.ack(90, 25, 60_000);
        talk.data(191, 31, 0);
        for side in [Side::Sender, Side::Middle] {
            let stall = talk.stall(side);
            assert_eq!(stall.cause, Cause::LossProbe);
            let words = "Nothing came back for 0.101 s after the last ACK (frame 52), with 6000 bytes outstanding. Frame 53 carried new data, as a tail loss probe may.";
            assert_eq!(stall.words(), words);
        }
    }
    let mut nothing = Talk::new();
    nothing.data(191, 30, Segment::PSH);
    assert_eq!(nothing.cause(), Cause::LossProbe, "no ACK at all came after the last segment");
}

#[test]
fn an_ack_of_what_never_came_by_is_a_capture_loss() {
    let mut talk = Talk::new();
    talk.ack(150, 35, 60_000);
    talk.data(300, 35, 0);
    let stall = talk.stall(Side::Sender);
    assert_eq!(stall.cause, Cause::CaptureLoss);
    assert_eq!(stall.words(), "The capture missed segments: frame 51 acknowledges data that was not captured.");
}

#[test]
fn what_is_no_longer_than_two_round_trips_is_no_stall_but_has_its_cause() {
    let mut talk = Talk::new();
    talk.ack(100, 25, 60_000);
    talk.data(101, 30, 0);
    let found = talk.found(Side::Sender);
    assert_eq!((found.threshold, found.count(), found.kept.len()), (2 * RTT, 0, 0));
    let waits = found.waits[Cause::CongestionWindow as usize];
    assert_eq!(
        (waits, found.waits.iter().sum::<i64>() + found.sending),
        ((31 + 42) * MS, 101 * MS),
        "the parts add up"
    );
}

#[test]
fn a_small_segment_that_waits_for_a_delayed_ack_is_held_back_by_nagle() {
    let mut talk = Talk::new();
    talk.ack(90, 30, 60_000);
    talk.small(200, 30_000, 100);
    talk.ack_of(401, BASE + 30_100);
    talk.small(402, 30_100, 200);
    let stall = talk.stall(Side::Sender);
    assert_eq!((stall.cause, stall.facts.length()), (Cause::Nagle, 202 * MS));
    let words = "Only 100 bytes were outstanding, less than a full segment (1000). Frame 54 followed their ACK (frame 53), which took 0.201 s.";
    assert_eq!(stall.words(), words);
}

#[test]
fn where_data_arrives_two_round_trips_are_the_networks_time_and_more_is_the_applications_only_after_a_short_segment_with_psh(
) {
    for (ms, push, short, cause) in [
        (95, 0, false, Cause::Network),
        (95, Segment::PSH, false, Cause::Network),
        (900, Segment::PSH, true, Cause::ApplicationIdle),
        (900, Segment::PSH, false, Cause::Unknown),
        (900, 0, false, Cause::Unknown),
    ] {
        let mut talk = Talk::new();
        if short {
            talk.small(70, 30_000, 900);
            talk.ack_of(70, BASE + 30_900);
        } else {
            talk.data(70, 30, push);
            talk.ack(70, 31, 60_000);
        }
        talk.data(70 + ms, 31, 0);
        let found = talk.found(Side::Receiver);
        assert!(
            found.waits[cause as usize] >= (ms - 1) * MS || found.kept.last().is_some_and(|s| s.cause == cause),
            "{ms} {push} {short}"
        );
    }
}

#[test]
fn where_data_arrives_a_host_that_gave_no_number_meanwhile_was_idle() {
    for (id, cause) in [(8, Cause::ApplicationIdle), (9, Cause::Unknown)] {
        let mut talk = Talk::new();
        let seen = |talk: &mut Talk, ms: i64, n: u64, id: u16| {
            talk.frame += 1;
            let (frame, flags) = (talk.frame, Segment::ACK | Segment::PSH);
            let seen =
                Seen { frame, at: ms * MS, seq: BASE + n * 1000, len: 1000, flags, id: Some(id), ..Seen::default() };
            talk.stalls.data(&seen);
        };
        seen(&mut talk, 70, 30, 7);
        talk.ack(70, 31, 60_000);
        seen(&mut talk, 900, 31, id);
        assert_eq!(talk.stall(Side::Receiver).cause, cause);
    }
}

#[test]
fn after_a_retransmission_the_window_is_in_repair_and_then_reduced_until_a_round_trip_carries_as_much_again() {
    let mut talk = Talk::new();
    (20..24).for_each(|n| talk.ack(90, n + 1, 60_000));
    talk.data(91, 24, 0);
    let waits = |talk: &Talk| talk.found(Side::Sender).waits;
    talk.ack(125, 26, 60_000);
    talk.data(126, 30, 0);
    assert!(waits(&talk)[Cause::Recovery as usize] >= 34 * MS, "{:?}", waits(&talk));
    talk.ack(160, 31, 60_000);
    // One segment in each round trip, and seven before.
    for n in 0..4 {
        let ms = 161 + n * 42;
        talk.data(ms, 31 + n as u64, 0);
        talk.ack(ms + 40, 32 + n as u64, 60_000);
    }
    let reduced = waits(&talk)[Cause::ReducedWindow as usize];
    assert!(reduced >= 3 * 40 * MS, "{:?}", waits(&talk));
    // As many as before, twice.
    for n in 0..2 {
        (0..15).for_each(|i| talk.data(400 + n * 42, 40 + n as u64 * 15 + i, 0));
        talk.ack(440 + n * 42, 55 + n as u64 * 15, 60_000);
    }
    talk.data(484, 80, 0);
    talk.ack(524, 81, 60_000);
    let before = waits(&talk);
    talk.data(525, 81, 0);
    let after = waits(&talk);
    assert_eq!(after[Cause::ReducedWindow as usize], before[Cause::ReducedWindow as usize]);
    assert!(after[Cause::CongestionWindow as usize] > before[Cause::CongestionWindow as usize]);
}

#[test]
fn silence_through_which_a_timer_sends_again_and_again_is_an_outage_if_the_other_end_is_heard_later() {
    let mut talk = Talk::new();
    [400, 1000, 2200].into_iter().for_each(|ms| talk.data(ms, 20, 0));
    talk.ack(2240, 21, 60_000);
    let found = talk.found(Side::Sender);
    assert_eq!(found.by_cause[Cause::Outage as usize], (3, (2200 - 59) * MS));
    assert_eq!(talk.found(Side::Receiver).by_cause[Cause::Outage as usize].0, 0);
    let words = "Nothing came back for 2.13 s, with 10000 bytes outstanding; frame 53 was sent without an answer.";
    assert_eq!(found.kept.last().unwrap().words(), words);
    let mut once = Talk::new();
    once.ack(90, 21, 60_000);
    once.data(400, 21, 0);
    once.ack(440, 22, 60_000);
    assert_eq!(once.found(Side::Sender).by_cause[Cause::Outage as usize].0, 0);
}

#[test]
fn a_window_that_stays_closed_and_a_peer_that_stays_silent_are_stalls_to_the_end() {
    let mut closed = Talk::new();
    closed.ack(110, 30, 0);
    (1..5).for_each(|n| closed.ack(1000 * n, 30, 0));
    let stall = closed.stall(Side::Sender);
    assert_eq!((stall.cause, stall.facts.at_end, stall.facts.to), (Cause::ReceiverWindow, true, 4000 * MS));
    assert_eq!(stall.words(), "The receiver's window was closed, to the end.");
    let mut gone = Talk::new();
    [400, 1000, 2200, 4600].into_iter().for_each(|ms| gone.data(ms, 20, 0));
    let found = gone.found(Side::Sender);
    assert!(found.kept.iter().skip(1).all(|s| s.cause == Cause::PeerGone), "{found:?}");
    assert_eq!(found.by_cause[Cause::PeerGone as usize].0, 3);
}

#[test]
fn without_acknowledgments_there_is_no_stall_and_no_cause() {
    let mut talk = Talk::new();
    talk.data(900, 30, 0);
    let end = End { acks: false, ..talk.end() };
    let found = talk.stalls.finish(Side::Middle, None, end);
    assert_eq!((found.count(), found.kept.len()), (0, 0));
    assert_eq!(found.waits.iter().sum::<i64>(), found.waits[Cause::Unknown as usize]);
}

#[test]
fn of_many_stalls_the_longest_are_kept_and_all_are_counted() {
    let mut talk = Talk::new();
    (0..30).for_each(|n| talk.ack(70, n + 1, 60_000));
    let mut ms = 100;
    for n in 30..830u64 {
        // Two segments together, then a pause.
        ms += 200 + (n % 7) as i64;
        (0..3).for_each(|i| talk.data(ms, 30 + (n - 30) * 3 + i, 0));
        talk.ack(ms + 50, 33 + (n - 30) * 3, 60_000);
    }
    let found = talk.found(Side::Sender);
    assert_eq!((found.kept.len(), found.count()), (KEPT, 800));
    assert_eq!(found.by_cause[Cause::ApplicationIdle as usize].0, 800);
    assert!(found.kept.iter().all(|s| s.facts.length() >= 204 * MS));
    assert!(found.kept.windows(2).all(|w| w[0].facts.from < w[1].facts.from));
    assert_eq!(found.longest().map(|s| s.facts.length()), Some(243 * MS));
}
