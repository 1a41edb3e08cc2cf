//! Invariants of every undo, whatever the network does: never above the earlier window, never twice, never for a void
//! episode. Random schedules with real losses, late packets and paths that stall.

use super::seams::custom;
use super::*;
use crate::connection::{Connection, Sides};
use crate::event::Cause;
use crate::facts::episode::{Episode, Mistake};
use crate::spurious::{eifel::EifelSpec, linux::LinuxSpec, rtt_min::RttMinSpec, Spurious, SpuriousSpec};
use crate::timeout::frto::{Form, FrtoSpec};
use crate::timeout::TimeoutSpec;
use crate::undo::{slow_start_back::SlowStartBackSpec, UndoSpec};
use std::collections::{BTreeMap, BTreeSet};

const SCHEDULES: u64 = 10_000;
const SEGMENTS: u64 = 60;
const RWND: u64 = 100_000;

/// A small generator written here: tests of results must not depend on an external one.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// The effect of one schedule on packets: percentages lost in each direction and delayed, and when and for how long the path
/// stalls.
struct Schedule {
    loss: [u64; 2],
    late: u64,
    stop: (u64, u64),
    rng: Rng,
}

impl Schedule {
    fn new(seed: u64) -> Schedule {
        let mut rng = Rng(seed ^ 0x5eed);
        rng.below(2);
        let loss = [[0, 1, 3, 10][rng.below(4) as usize], rng.below(4)];
        let late = [0, 3, 10, 30][rng.below(4) as usize];
        let stop = (rng.below(1500), [0, 1100, 1500, 2500][rng.below(4) as usize]);
        Schedule { loss, late, stop, rng }
    }

    /// When a packet sent now arrives, in milliseconds, unless it is lost.
    fn arrival(&mut self, from: usize, now: u64) -> Option<u64> {
        if self.rng.below(100) < self.loss[from] {
            return None;
        }
        let late = if self.rng.below(100) < self.late { self.rng.below(150) } else { 0 };
        let (begin, length) = self.stop;
        // While the path stalls, everything waits in order.
        let waits =
            if (begin..begin + length).contains(&now) { (begin + length - now) + (now - begin) / 50 } else { 0 };
        Some(now + 50 + late + waits)
    }
}

/// The amounts that undos have restored in one run, checked during the run.
#[derive(Default)]
struct Check {
    undone: BTreeSet<u32>,
    by_cause: [u32; 2],
}

impl Check {
    fn input(&mut self, who: &str, before: &[Episode], heard: &[(Time, Event)]) {
        let mut written = None;
        for (at, e) in heard {
            match *e {
                Event::Window { by: Slot::Undo, from, to, .. } => {
                    assert_eq!(written.replace((from, to)), None, "{who} at {at}: twice for one verdict");
                }
                Event::Mistake { episode, undone, cause } => {
                    assert_eq!(undone, written.is_some(), "{who} at {at}");
                    let Some((from, to)) = written.take() else { continue };
                    let ep = before.iter().find(|ep| ep.id == episode);
                    let ep = ep.unwrap_or_else(|| panic!("{who} at {at}: episode {episode} is not remembered"));
                    assert!(!ep.void, "{who} at {at}: episode {episode} was void");
                    assert!(self.undone.insert(episode), "{who} at {at}: episode {episode} a second time");
                    let most = ep.prior.cwnd.max(ep.prior.ssthresh);
                    assert!(to.cwnd <= ep.prior.cwnd.max(from.cwnd), "{who} at {at}: {from:?} to {to:?}, {ep:?}");
                    assert!(to.ssthresh <= most.max(from.ssthresh), "{who} at {at}: {from:?} to {to:?}, {ep:?}");
                    self.by_cause[usize::from(cause == Cause::Rto)] += 1;
                }
                _ => {}
            }
        }
        assert_eq!(written, None, "{who}: given back without a verdict");
    }
}

fn remembered(c: &Connection) -> Vec<Episode> {
    let mut ledger = c.sender().unwrap().cold.ledger.clone();
    let newest = ledger.count();
    (newest.saturating_sub(3).max(1)..=newest).filter_map(|id| ledger.get(id).cloned()).collect()
}

fn run(stack: &Stack, seed: u64) -> Check {
    let who = format!("{} {:?} {:?} seed {seed}", stack.name, stack.spurious, stack.timeout);
    let (mut schedule, mut check) = (Schedule::new(seed), Check::default());
    let mut ends = [Sides::Sender, Sides::Receiver].map(|side| Connection::established(stack, side, MSS, RWND));
    let (mut under_way, mut number, mut now) = (BTreeMap::<(u64, u64), (usize, Segment)>::new(), 0, 0);
    ends[0].write(SEGMENTS * u64::from(MSS));
    while ends[0].acked() < SEGMENTS * u64::from(MSS) {
        for (end, c) in ends.iter_mut().enumerate() {
            let (mut out, before) = (Segment::EMPTY, number);
            let mut heard: Vec<(Time, Event)> = vec![];
            while c.poll_transmit(ms(now), &mut out, &mut heard) {
                number += 1;
                assert!(number - before < 1000, "{who}: never stops sending");
                if let Some(at) = schedule.arrival(end, now) {
                    under_way.insert((at, number), (1 - end, out));
                }
            }
        }
        // Timers fall between milliseconds; the schedule's clock is coarser.
        let timers = ends.iter().filter_map(|c| c.next_timer()).map(|t| t.0.div_ceil(1_000_000));
        let next =
            timers.chain(under_way.keys().next().map(|k| k.0)).min().unwrap_or_else(|| panic!("{who}: stands still"));
        now = next.max(now);
        assert!(now < 3_600_000, "{who}: an hour has passed");
        let before = remembered(&ends[0]);
        let mut heard: Vec<(Time, Event)> = vec![];
        match under_way.first_entry().filter(|e| e.key().0 <= now) {
            Some(entry) => {
                let (end, seg) = entry.remove();
                ends[end].on_segment(ms(now), &seg, &mut heard);
            }
            None => ends.iter_mut().for_each(|c| c.on_timer(ms(now), &mut heard)),
        }
        check.input(&who, &before, &heard);
    }
    check
}

/// Accuses any remembered episode at any time: running or over, void or already undone.
struct Accuser(u64);

impl Spurious for Accuser {
    fn on_ack(&mut self, _: &AckEvent, ledger: &mut Ledger, _: &Scoreboard, _: &Ctx) -> Option<Mistake> {
        self.0 += 1;
        let newest = ledger.count();
        let ep = ledger.get(newest.checked_sub((self.0 / 3 % 4) as u32)?)?;
        self.0.is_multiple_of(3).then_some(Mistake { episode: ep.id, cause: ep.cause, sample: None })
    }
}

/// Every named stack with an undo, and judges and undos in combinations that no named stack has.
fn stacks() -> Vec<Stack> {
    let mut all: Vec<Stack> = Stack::names().map(named).filter(|s| s.undo != UndoSpec::Nothing).collect();
    let stamped = |mut s: Stack| {
        s.options.timestamps = true;
        s
    };
    let restore = || UndoSpec::Restore(Default::default());
    let frto = |form| TimeoutSpec::Frto(FrtoSpec { form, ..Default::default() });
    let eifel = SpuriousSpec::Eifel(EifelSpec { judge_fast_retransmits: true });
    let back = SlowStartBackSpec { restore_cwnd: true, undo_timeouts: true };
    let rtt_min = SpuriousSpec::RttMin(RttMinSpec { judge_fast_retransmits: true, ..Default::default() });
    all.extend([
        Stack { spurious: eifel.clone(), ..named("eifel") },
        stamped(Stack { spurious: eifel, timeout: frto(Form::Sack), ..named("frto") }),
        Stack { timeout: frto(Form::Basic), spurious: SpuriousSpec::Nothing, ..named("eifel") },
        Stack { spurious: rtt_min, undo: UndoSpec::SlowStartBack(back.clone()), ..named("newreno") },
        stamped(Stack {
            spurious: SpuriousSpec::Linux(LinuxSpec::default()),
            undo: restore(),
            timeout: frto(Form::Linux),
            ..named("rfc-6675")
        }),
        Stack { undo: restore(), ..named("dsack-inc") },
    ]);
    let accuser = || SpuriousSpec::Custom(custom::<dyn Spurious>(|| Box::new(Accuser(0))));
    let undos = [restore(), UndoSpec::EifelResponse(Default::default()), UndoSpec::SlowStartBack(back)];
    all.extend(undos.map(|undo| Stack { spurious: accuser(), undo, ..named("rfc-6675") }));
    all
}

#[test]
fn no_undo_restores_more_than_there_was_or_twice_or_for_a_void_episode() {
    let stacks = stacks();
    assert!(stacks.len() > 10);
    for stack in stacks {
        assert_eq!(stack.validate(), Ok(()));
        let mut undone = [0; 2];
        for seed in 0..SCHEDULES {
            let by_cause = run(&stack, seed).by_cause;
            (undone[0], undone[1]) = (undone[0] + by_cause[0], undone[1] + by_cause[1]);
        }
        println!("{} {:?}: {undone:?} fast retransmits and timeouts undone", stack.name, stack.spurious);
        assert!(undone[0] + undone[1] > 100, "{}: too quiet", stack.name);
    }
}
