//! Applications that do not write everything at once, and flows that wait for others.

use super::Network;
use crate::app::{App, BULK};
use crate::host::{Endpoint, UNARMED};
use crate::measures::Metering;
use crate::results::Turn;
use crate::rng::Stream;
use crate::scenario::{FlowSpec, Next, PiecesSpec, Scenario};
use crate::watch::Watch;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::units::Bytes;

/// The state of applications that do more than write everything at the start.
#[derive(Default)]
pub(super) struct Turns {
    /// By flow; flows that write everything at once have no entry. Empty if all of them do.
    writers: Vec<Option<Writer>>,
    /// Indexed by the flow that they wait for.
    followers: Vec<Follower>,
    /// Answered requests.
    pub(super) done: Vec<Turn>,
}

/// An application that writes piece by piece.
struct Writer {
    spec: PiecesSpec,
    gaps: Stream,
    /// Bytes still to write; `None` never stops.
    left: Option<Bytes>,
    written: Bytes,
    /// When it last wrote.
    began: u64,
    /// When it next writes; [`UNARMED`] while it waits for an ACK, or has nothing more.
    at: u64,
    close: bool,
}

/// A flow that waits for another.
struct Follower {
    waits_for: u32,
    flow: u32,
    delay: Nanos,
    bytes: Bytes,
    close: bool,
}

/// When a flow begins in the run with this seed, or how long after the flow that it waits for.
pub(super) fn start(f: &FlowSpec, seed: u64) -> Time {
    let later = Stream::new(seed, &format!("{}/start", f.name)).below(f.app.jitter.0);
    Time::ZERO + f.app.start + Nanos(later)
}

impl Turns {
    pub(super) fn new(s: &Scenario, seed: u64) -> Self {
        let stream = |f: &FlowSpec, part| Stream::new(seed, &format!("{}/{part}", f.name));
        let writer = |f: &FlowSpec| {
            let gaps = stream(f, "write");
            let (left, close) = (f.app.bytes, f.handshake);
            f.app.pieces.map(|spec| Writer { spec, gaps, left, written: 0, began: 0, at: UNARMED, close })
        };
        let any = s.flows.iter().any(|f| f.app.pieces.is_some());
        let writers = if any { s.flows.iter().map(writer).collect() } else { Vec::new() };
        let follower = |(f, flow): (&FlowSpec, u32)| {
            let after = f.after?;
            let think = after.think.map_or(Nanos::ZERO, |think| stream(f, "think").gap(think));
            let delay = start(f, seed).since(Time::ZERO) + think;
            Some(Follower {
                waits_for: after.flow,
                flow,
                delay,
                bytes: f.app.bytes.unwrap_or(BULK),
                close: f.handshake,
            })
        };
        let mut followers: Vec<Follower> = s.flows.iter().zip(0..).filter_map(follower).collect();
        followers.sort_by_key(|f| f.waits_for);
        Turns { writers, followers, done: Vec::new() }
    }

    fn writer(&mut self, host: u32) -> Option<&mut Writer> {
        let sender = host.is_multiple_of(2);
        self.writers.get_mut(host as usize / 2).filter(|_| sender).and_then(Option::as_mut)
    }

    /// Whether the application at this host writes piece by piece.
    #[inline]
    pub(super) fn is_writer(&self, host: u32) -> bool {
        let sender = host.is_multiple_of(2);
        sender && self.writers.get(host as usize / 2).is_some_and(Option::is_some)
    }

    /// The bytes that it has written.
    fn written(&self, flow: u32) -> Option<Bytes> {
        Some(self.writers.get(flow as usize)?.as_ref()?.written)
    }

    /// The application begins.
    pub(super) fn begin(&mut self, host: u32, now: u64) {
        if let Some(w) = self.writer(host) {
            w.at = now;
        }
    }
}

impl<W: Watch, E: Endpoint, M: Metering> Network<W, E, M> {
    /// The application at `host` writes a piece of data if one is due, and sets the time of the next one.
    #[cold]
    #[inline(never)]
    pub(super) fn write_piece(&mut self, host: u32) {
        let now = self.links.now;
        let Some(w) = self.turns.writer(host) else { return };
        let h = &mut self.hosts[host as usize];
        if w.at <= now {
            let bytes = w.left.map_or(w.spec.size, |left| left.min(w.spec.size));
            w.left = w.left.map(|left| left - bytes);
            (w.written, w.began) = (w.written + bytes, now);
            h.tcp.write(bytes);
            h.app = App::Running { bytes: w.written };
            w.at = match (w.left, w.spec.next) {
                (Some(0), _) | (_, Next::Acked(_)) => UNARMED,
                (_, Next::Every(gap)) => now.saturating_add(w.gaps.gap(gap).0),
            };
            if w.left == Some(0) && w.close {
                h.close_when_open(w.written);
            }
        }
        let at = w.at;
        self.wake_by(host, at);
    }

    /// Wakes a host at `at`, unless it is woken earlier.
    fn wake_by(&mut self, host: u32, at: u64) {
        let h = &mut self.hosts[host as usize];
        if at < h.armed {
            h.armed = at;
            self.set_host_timer(host, Some(at));
        }
    }

    /// Everything that the application at `host` has written is acknowledged.
    #[cold]
    #[inline(never)]
    pub(super) fn caught_up(&mut self, host: u32) {
        let (now, flow) = (self.links.now, host / 2);
        if let Some(w) = self.turns.writer(host) {
            let (more, began) = (w.left != Some(0), w.began);
            let mut turn = None;
            if let Next::Acked(think) = w.spec.next {
                turn = Some(Turn { flow, began: Time(began), ended: Time(now) });
                if more {
                    w.at = now.saturating_add(think.map_or(0, |think| w.gaps.gap(think).0));
                }
            }
            let at = w.at;
            self.turns.done.extend(turn);
            if more {
                self.hosts[host as usize].app = App::Idle;
                return self.wake_by(host, at);
            }
        }
        let first = self.turns.followers.partition_point(|f| f.waits_for < flow);
        for i in first..self.turns.followers.len() {
            let Follower { waits_for, flow: next, delay, bytes, close } = self.turns.followers[i];
            if waits_for != flow {
                return;
            }
            let start = now.saturating_add(delay.0);
            self.starts[next as usize] = Some(Time(start));
            self.hosts[2 * next as usize].app = App::Waiting { start, bytes, close };
            self.wake_by(2 * next, start);
        }
    }

    /// The state of the application at a flow's sender: when it begins, once that is known, and the bytes that it has written;
    /// `u64::MAX` if it wrote, or will write, everything at once. For callers that run it outside this network.
    pub fn application(&self, flow: u32) -> (Option<Time>, Bytes) {
        let start = self.starts.get(flow as usize).copied().flatten();
        (start, self.turns.written(flow).unwrap_or(Bytes::MAX))
    }

    /// Whether the sender of a flow has begun and waits for ACKs, or will write more.
    pub fn is_busy(&self, flow: u32) -> bool {
        let begun = self.starts.get(flow as usize).copied().flatten().is_some_and(|at| at.0 <= self.links.now);
        begun && self.hosts[2 * flow as usize].app.finished().is_none()
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Sim;
    use crate::results::Results;
    use crate::rng::{Between, Gap};
    use crate::scenario::{After, FlowSpec, Next, PiecesSpec, Scenario};
    use crate::topology::dumbbell::{dumbbell, flow, pipe};
    use ackclock_tcp::stack::Stack;
    use ackclock_tcp::time::{Nanos, Time};
    use ackclock_tcp::units::Rate;

    const MS: u64 = 1_000_000;

    /// One flow over 12 Mb/s, so that a packet of 1500 bytes takes 1 ms, and 20 ms each way.
    fn one(f: FlowSpec) -> Scenario {
        let mut s = dumbbell(1, &pipe(None, Nanos::ZERO), &pipe(Some(Rate(12_000_000)), Nanos(20 * MS)), &f);
        s.duration = Nanos(10_000 * MS);
        s
    }

    fn run(s: &Scenario, seed: u64) -> Results {
        Sim::new(s, &[Stack::named("newreno").unwrap()], seed, ()).unwrap().run()
    }

    /// `count` transfers of three segments on connections of their own.
    fn row(count: usize, handshake: bool, think: Option<Gap>) -> Scenario {
        let mut f = FlowSpec { handshake, ..flow() };
        f.app.bytes = Some(3 * 1460);
        let mut s = one(f);
        let first = s.flows[0].clone();
        for i in 1..count {
            let after = Some(After { flow: i as u32 - 1, think });
            s.flows.push(FlowSpec { name: format!("next{i}"), after, ..first.clone() });
        }
        s
    }

    #[test]
    fn each_transfer_in_a_row_begins_when_the_one_before_has_ended_and_the_think_time_has_passed() {
        let think = Some(Gap::Constant(Nanos(7 * MS)));
        let r = run(&row(4, false, think), 1);
        let mut begin = 0;
        for f in &r.flows {
            // An initial window of one: the first segment and its ACK of 40 bytes, then two segments and the second one's ACK.
            let ack = 40 * 8 * 1_000_000 / 12_000;
            let took = 2 * (MS + 40 * MS + ack) + MS;
            let end = f.finished.unwrap().0;
            assert_eq!(f.started, Some(Time(begin)));
            assert!((end - begin).abs_diff(took) < 10_000, "{} {took}", end - begin);
            begin = end + 7 * MS;
        }
        // With a handshake each needs one more round trip, for the SYNs.
        let with = run(&row(4, true, think), 1);
        let took = |r: &Results, i: usize| r.flows[i].finished.unwrap().since(r.flows[i].started.unwrap());
        assert!((0..4).all(|i| took(&with, i) > took(&r, i) + Nanos(40 * MS)));
    }

    #[test]
    fn a_transfer_whose_turn_never_comes_has_no_start() {
        let r = run(&row(2, false, Some(Gap::Constant(Nanos(60_000 * MS)))), 1);
        assert!(r.flows[0].finished.is_some() && r.flows[1].started.is_some_and(|at| at.0 > 60_000 * MS), "{r:?}");
        let mut s = row(3, false, None);
        s.flows[0].app.bytes = Some(1 << 40);
        let r = run(&s, 1);
        assert!(r.flows[1].started.is_none() && r.flows[2].started.is_none() && r.flows[1].data_sent == 0);
    }

    #[test]
    fn think_times_are_another_seeds_other_ones_and_the_same_seeds_the_same() {
        let think = Some(Gap::Uniform(Between([Nanos(MS), Nanos(900 * MS)])));
        let starts = |seed| run(&row(5, true, think), seed).flows.iter().map(|f| f.started).collect::<Vec<_>>();
        assert_eq!(starts(1), starts(1));
        assert_ne!(starts(1), starts(2));
    }

    #[test]
    fn requests_on_one_connection_wait_for_their_answers() {
        let mut f = FlowSpec { handshake: true, ..flow() };
        let next = Next::Acked(Some(Gap::Constant(Nanos(30 * MS))));
        (f.app.bytes, f.app.pieces) = (Some(40_000), Some(PiecesSpec { size: 10_000, next }));
        let r = run(&one(f), 1);
        let turns: Vec<(u64, u64)> = r.turns.iter().map(|t| (t.began.0, t.ended.0)).collect();
        assert_eq!((turns.len(), r.flows[0].acked), (4, 40_000));
        assert_eq!(turns[0].0, 0);
        assert!(turns.windows(2).all(|w| w[1].0 == w[0].1 + 30 * MS), "{turns:?}");
        // The FIN is acknowledged with the last byte, or after it.
        assert_eq!(r.flows[0].finished.map(|at| at.0), Some(turns[3].1));
    }

    #[test]
    fn what_is_written_now_and_then_leaves_then_and_not_before() {
        let mut f = flow();
        f.app.start = Nanos(100 * MS);
        f.app.pieces = Some(PiecesSpec { size: 2920, next: Next::Every(Gap::Constant(Nanos(250 * MS))) });
        let s = one(f);
        let mut n = Sim::new(&s, &[Stack::named("newreno").unwrap()], 1, ()).unwrap();
        for i in 0..39u64 {
            n.run_until(Time((100 + 250 * i) * MS - 1));
            assert_eq!(n.results().flows[0].acked, 2920 * i, "{i}");
        }
        let mut s = s;
        s.flows[0].app.bytes = Some(5 * 2920 + 7);
        let r = run(&s, 1);
        assert_eq!((r.flows[0].acked, r.turns.len()), (5 * 2920 + 7, 0));
        assert!(r.flows[0].finished.is_some_and(|at| at.0 / MS == 100 + 5 * 250 + 40), "{:?}", r.flows[0]);
    }

    #[test]
    fn flows_that_cannot_wait_are_refused() {
        let refusal = |s: &Scenario| Sim::new(s, &[Stack::named("newreno").unwrap()], 1, ()).err().unwrap().to_string();
        let mut s = row(2, false, None);
        s.flows[0].app.bytes = None;
        assert!(refusal(&s).contains("waits for an endless flow"), "{}", refusal(&s));
        s = row(2, false, None);
        s.flows[1].after = Some(After { flow: 1, think: None });
        assert!(refusal(&s).contains("the number of an earlier flow"), "{}", refusal(&s));
        s = row(1, false, None);
        s.flows[0].app.pieces = Some(PiecesSpec { size: 0, next: Next::Acked(None) });
        assert!(refusal(&s).contains("size"), "{}", refusal(&s));
    }
}
