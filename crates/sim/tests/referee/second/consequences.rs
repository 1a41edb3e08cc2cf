//! What must follow from an answer: the next phase, the cut that is applied, the probe that is sent, the record of an episode, and
//! who is told of a segment.

use super::witness::Notebook;
use super::{advances, end_of};
use ackclock_tcp::congestion::Cut;
use ackclock_tcp::detect::Verdict;
use ackclock_tcp::event::{Phase, Slot, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Flow;
use ackclock_tcp::facts::episode::Episode;
use ackclock_tcp::facts::scoreboard::{Marks, Sent};
use ackclock_tcp::time::Time;

/// Answers whose consequences are awaited.
#[derive(Default)]
pub(super) struct Awaited {
    /// The last answer of an owner of Recovery or Loss on this ACK; a mistake found in Loss.
    flow: Option<Flow>,
    mistake: bool,
    /// The cut that was computed and is not applied yet.
    cut: Option<Cut>,
    /// A probe that the detector asked for, and when.
    probe: Option<Time>,
    /// The newest episode: when its hole filled, after how many duplicates, when the last came, and segments resent in it.
    filled: Option<Time>,
    dups: u32,
    last_dup: Option<Time>,
    resent: u32,
    /// Segments sent by Disorder, Recovery and Loss, resent ones, those of an episode; and how many were told.
    sent: [u32; 5],
    informed: [u32; 5],
    /// Segments sent, and told to the timer.
    all: (u32, u32),
}

fn index(by: Slot) -> Option<usize> {
    match by {
        Slot::Disorder => Some(0),
        Slot::Recovery => Some(1),
        Slot::Timeout => Some(2),
        Slot::Sequencer | Slot::Startup | Slot::Congestion | Slot::Undo => None,
    }
}

impl Notebook {
    fn require(&mut self, holds: bool, why: impl FnOnce() -> String) {
        self.expect(holds || !self.complete, why);
    }

    pub(super) fn forget_answers(&mut self) {
        (self.awaited.flow, self.awaited.mistake) = (None, false);
    }

    pub(super) fn answers(&mut self, flow: Flow, mistake: bool) {
        (self.awaited.flow, self.awaited.mistake) = (Some(flow), mistake);
    }

    /// The phase after an ACK that came in `owner`'s phase.
    pub(super) fn check_phase(&mut self, a: &AckEvent, owner: Phase, verdict: Verdict) {
        let after_flow = |flow: Option<Flow>, running: Phase| match flow {
            None | Some(Flow::Continue(_)) => running,
            Some(Flow::Done { .. }) => Phase::Open,
            Some(Flow::Restart | Flow::Rewind) => Phase::Loss,
            // Another one began, which has answered since.
            Some(Flow::Begin) => Phase::Recovery,
        };
        let (flow, phase) = (self.awaited.flow, self.judge.book.phase);
        let lost = matches!(verdict, Verdict::Lost(_) | Verdict::Collapsed(_));
        let known = match owner {
            Phase::Open | Phase::Disorder if lost => after_flow(flow, Phase::Recovery),
            Phase::Open if verdict == Verdict::Suspect => Phase::Disorder,
            Phase::Disorder if verdict == Verdict::Clear && advances(a) => Phase::Open,
            Phase::Open | Phase::Disorder => owner,
            Phase::Loss if self.awaited.mistake => Phase::Open,
            Phase::Recovery => after_flow(flow, Phase::Recovery),
            // A fast retransmit may have begun.
            Phase::Loss if phase == Phase::Recovery => Phase::Recovery,
            Phase::Loss => after_flow(flow, Phase::Loss),
        };
        self.require(phase == known, || format!("after {verdict:?} and {flow:?} in {owner:?} it is in {phase:?}"));
    }

    pub(super) fn await_cut(&mut self, cut: Cut) {
        self.awaited.cut = Some(cut);
    }

    /// An owner of Recovery or Loss begins: the threshold is cut, and the window is not.
    pub(super) fn check_cut_threshold(&mut self, w: &Window) {
        if let Some(cut) = self.awaited.cut.take() {
            self.require(w.ssthresh == cut.ssthresh, || format!("{cut:?} has led to {w:?}"));
        }
    }

    /// The detector is told of a cut without an episode: a mark lowers the window, a repaired loss sets it.
    pub(super) fn check_cut_applied(&mut self, w: &Window) {
        if let Some(cut) = self.awaited.cut.take() {
            let same = w.ssthresh == cut.ssthresh && w.cwnd <= cut.cwnd;
            self.require(same, || format!("{cut:?} has led to {w:?}"));
        }
    }

    pub(super) fn await_probe(&mut self, now: Time) {
        self.awaited.probe = Some(now);
    }

    pub(super) fn no_probe(&mut self) {
        self.awaited.probe = None;
    }

    /// A probe is new data if some may be sent, else the last segment, at once. `next`: what could be sent before.
    pub(super) fn check_probe(&mut self, at: Time, start: u64, new_data: bool, next: Option<u64>) {
        let Some(asked) = self.awaited.probe.take() else { return };
        let last = self.judge.book.out.last().map(|p| p.start);
        let right = if new_data { next != Some(0) } else { next.is_none_or(|n| n == 0) && last == Some(start) };
        self.require(asked == at && right, || {
            format!("a probe of {start}, asked for at {asked:?}; new {new_data}, {next:?}")
        });
    }

    /// Nothing else happens before the probe.
    pub(super) fn probe_was_sent(&mut self) {
        let asked = self.awaited.probe;
        let now = self.judge.book.now;
        self.require(asked.is_none_or(|at| at == now), || format!("a probe asked for at {asked:?} was not sent"));
    }

    pub(super) fn episode_begins(&mut self, ep: &Episode) {
        let a = &mut self.awaited;
        (a.filled, a.dups, a.last_dup, a.resent) = (None, 0, Some(ep.last_dup), 0);
    }

    /// What the record of a running Recovery says of its hole.
    pub(super) fn check_hole_of(&mut self, ep: &Episode, a: &AckEvent, now: Time) {
        if self.awaited.filled.is_none() {
            if advances(a) {
                (self.awaited.filled, self.awaited.dups) = (Some(now), a.dup_run);
            } else if a.is_dup {
                self.awaited.last_dup = Some(now);
            }
        }
        let seen = (ep.filled, ep.dupacks_to_fill, Some(ep.last_dup), ep.retransmits);
        let known = (self.awaited.filled, self.awaited.dups, self.awaited.last_dup, self.awaited.resent);
        self.require(seen == known, || format!("the hole is recorded as {seen:?}, and it should be {known:?}"));
    }

    /// A segment was sent, as the notebook knows.
    pub(super) fn tally_sent(&mut self, by: Slot, again: bool, marked: bool) {
        let a = &mut self.awaited;
        a.all.0 += 1;
        if let Some(i) = index(by) {
            a.sent[i] += 1;
        }
        a.sent[3] += u32::from(again);
        a.sent[4] += u32::from(again && !marked && self.judge.book.episode > 0);
    }

    pub(super) fn timer_informed(&mut self) {
        self.awaited.all.1 += 1;
    }

    pub(super) fn owner_informed(&mut self, by: Slot) {
        if let Some(i) = index(by) {
            self.awaited.informed[i] += 1;
        }
    }

    pub(super) fn detector_informed(&mut self, sent: &Sent) {
        self.awaited.informed[3] += u32::from(sent.sends > 1);
        if sent.marks.any(Marks::PROBE) && sent.sends > 1 {
            // Of a closed window: no episode resends it.
            self.awaited.sent[4] -= u32::from(self.judge.book.episode > 0);
        }
        let end = self.judge.book.max;
        self.require(end_of(sent) <= end, || format!("a segment ends at {}, after {end}", end_of(sent)));
    }

    pub(super) fn judge_informed(&mut self, ep: &Episode) {
        self.awaited.informed[4] += 1;
        self.awaited.resent += 1;
        let known = self.awaited.resent;
        self.require(ep.retransmits == known, || format!("{} segments resent, and not {known}", ep.retransmits));
    }

    /// Everybody was told of each segment.
    pub(super) fn check_informed(&mut self) {
        let (sent, informed, all) = (self.awaited.sent, self.awaited.informed, self.awaited.all);
        self.require(sent == informed && all.0 == all.1, || {
            format!("{sent:?} {} were sent, {informed:?} {} told", all.0, all.1)
        });
    }
}
