//! Undo is harmless: whatever is lost, late or resent, it restores at most the reduction by an episode, once, and only if the
//! network had lost none of the segments that the episode resent.

use crate::net::{Do, Net, Path};
use crate::{secs, MSS};
use ackclock_tcp::connection::{Connection, Sides};
use ackclock_tcp::event::{Event, Slot};
use ackclock_tcp::seq::Offset;
use ackclock_tcp::spurious::{dsack::DsackSpec, SpuriousSpec};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::undo::{slow_start_back::SlowStartBackSpec, UndoSpec};
use std::collections::BTreeSet;

const STACKS: [&str; 7] = ["dsack", "dsack-inc", "dsack-avg", "dsack-del", "dsack-ewma", "avg-dev", "rr-tcp"];

/// The facts that an observer can know about the running episode.
#[derive(Default)]
struct Known {
    episode: u32,
    /// The window before the cut, bytes.
    prior: f64,
    /// It resent a segment that had been resent before.
    void: bool,
    resent: Vec<Offset>,
    cwnd: f64,
}

/// How often each event happened.
#[derive(Debug, Default)]
struct Seen {
    undone: u32,
    left: u32,
    void: u32,
}

impl Known {
    fn begins(&mut self, episode: u32, seen: &mut Seen) {
        if episode > self.episode {
            seen.void += u32::from(self.void);
            *self = Known { episode, prior: self.cwnd, cwnd: self.cwnd, ..Known::default() };
        }
    }
}

/// Whether the network lost the first copy of the segment at `start`.
fn was_lost(net: &Net, start: Offset) -> bool {
    net.log.iter().any(|l| l.1 == 0 && l.2 == start && l.3 > 0 && l.5)
}

fn watch(net: &Net, who: &str, seen: &mut Seen) {
    let (mut known, mut judged) = (Known::default(), BTreeSet::new());
    let mut given_back = None;
    for (at, e) in &net.heard[0] {
        match *e {
            Event::Window { by, episode, from, to } => {
                known.cwnd = from.cwnd;
                known.begins(episode, seen);
                known.cwnd = to.cwnd;
                if by == Slot::Undo {
                    let fair = |from: f64, to: f64| to == from || (from < to && to <= known.prior);
                    assert!(fair(from.cwnd, to.cwnd) && fair(from.ssthresh, to.ssthresh), "{who} at {at}: {e:?}");
                    assert_eq!(given_back.replace(episode), None, "{who} at {at}: a second time");
                }
            }
            Event::Mistake { episode, undone, .. } => {
                assert!(judged.insert(episode), "{who} at {at}: episode {episode} was judged twice");
                assert_eq!(given_back.take(), undone.then_some(episode), "{who} at {at}");
                seen.left += u32::from(!undone);
                if undone {
                    seen.undone += 1;
                    assert!(episode == known.episode && !known.void, "{who} at {at}: episode {episode} is void");
                    let lost: Vec<_> = known.resent.iter().filter(|s| was_lost(net, **s)).collect();
                    assert!(lost.is_empty(), "{who} at {at}: episode {episode} resent what was lost: {lost:?}");
                }
            }
            Event::Phase { episode, .. } | Event::Timeout { episode, .. } => known.begins(episode, seen),
            Event::Sent { start, sends, episode, .. } if sends > 1 => {
                assert_eq!(episode, known.episode, "{who} at {at}");
                known.resent.push(start);
                known.void |= sends > 2;
            }
            _ => {}
        }
    }
    assert_eq!(given_back, None, "{who}: given back without a verdict");
}

/// The stack with a different combination of switches for every seed.
fn stack(name: &str, seed: u64) -> Stack {
    let on = |bit: u64| seed >> bit & 1 == 1;
    let judge = DsackSpec {
        judge_timeouts: on(1),
        stop_on_lost_acks: on(2),
        stop_on_network_duplicate: on(3),
        ..DsackSpec::default()
    };
    let undo = SlowStartBackSpec { restore_cwnd: on(0), undo_timeouts: on(1) };
    let mut stack = Stack::named(name).expect("listed");
    (stack.spurious, stack.undo) = (SpuriousSpec::Dsack(judge), UndoSpec::SlowStartBack(undo));
    stack
}

fn path(seed: u64) -> Path {
    let late = [2, 5, 15, 40][(seed / 16 % 4) as usize];
    Path { loss: [[0, 1, 3, 8][(seed / 64 % 4) as usize], seed / 7 % 4], late, ..Path::default() }
}

#[test]
fn undo_restores_at_most_the_reduction_of_an_episode_once_and_only_if_it_resent_nothing_lost() {
    let mut seen = Seen::default();
    for name in STACKS {
        // 679: a segment lost in Recovery was resent after its end, unknown to the undo.
        for seed in (0..512).chain([679]) {
            let stack = stack(name, seed);
            let ends = [Sides::Sender, Sides::Receiver].map(|side| Connection::established(&stack, side, MSS, 60_000));
            let mut net = Net::new(ends, 60_000, path(seed), seed);
            net.at(secs(0), 0, Do::Write(200_000));
            net.run(secs(3_000));
            assert_eq!(net.received[1], 200_000, "{name} seed {seed}: {}", net.describe());
            watch(&net, &format!("{name} seed {seed}"), &mut seen);
        }
    }
    println!("{seen:?}");
    assert!(seen.undone > 1000 && seen.left > 100 && seen.void > 500, "too quiet: {seen:?}");
}
