//! Linux's count of duplicates without SACK, worked out once more.

use super::counting::{allows, repairs};
use super::{advances, board, is_older, ms, segments};
use ackclock_tcp::detect::linux_no_sack::LinuxNoSackSpec;
use ackclock_tcp::detect::{Detector, Guard, Learner, Timekeeper, Verdict};
use ackclock_tcp::event::{Phase, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};

/// Linux's `tcp_newreno_mark_lost` and `tcp_check_reno_reordering`.
pub(super) struct LinuxNoSack {
    spec: LinuxNoSackSpec,
    reordering: u32,
    retrans_stamp: Option<u32>,
    high_seq: Option<u64>,
}

impl LinuxNoSack {
    pub(super) fn new(spec: &LinuxNoSackSpec) -> LinuxNoSack {
        LinuxNoSack { spec: spec.clone(), reordering: spec.dupthresh, retrans_stamp: None, high_seq: None }
    }
}

impl Detector for LinuxNoSack {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let arrived = board.presumed();
        if cx.phase == Phase::Open && !ack.is_dup && self.high_seq.is_none() && arrived == 0 {
            return Verdict::Clear;
        }
        let partial = advances(ack) && self.high_seq.is_some_and(|high| ack.ack.0 < high);
        // tcp_packet_delayed.
        let delayed = match (ack.tsecr, self.retrans_stamp) {
            (Some(echo), Some(stamp)) => is_older(echo, stamp),
            _ => false,
        };
        if partial && delayed {
            let metric = segments(ack.ack.0 - ack.prior_una.0, cx).min(u64::from(self.spec.max_reordering)) as u32;
            self.reordering = u32::max(self.reordering, metric);
        }
        if repairs(cx) {
            if cx.phase == Phase::Loss {
                self.high_seq = None;
                return Verdict::Suspect;
            }
            let head = board::oldest(board).is_some_and(|s| board::lost(s) || board::resent(s));
            let another = partial && !delayed && !head;
            return if another { Verdict::More(board.mark_head_lost()) } else { Verdict::Suspect };
        }
        self.high_seq = None;
        // tcp_retrans_stamp_cleanup.
        if board.iter().all(|s| !board::resent(s)) && board::oldest(board).is_none_or(|s| s.sends < 2) {
            self.retrans_stamp = None;
        }
        let enough = arrived >= u64::from(self.reordering) * u64::from(cx.mss);
        if enough && allows(Guard::Careful, cx) {
            let lost = board.mark_head_lost();
            if lost > 0 {
                self.high_seq = Some(cx.snd_max.0);
                return Verdict::Lost(lost);
            }
        }
        if arrived == 0 {
            Verdict::Clear
        } else {
            Verdict::Suspect
        }
    }
    fn dupthresh(&self, _: &Window, _: &Ctx) -> Option<u32> {
        Some(self.reordering)
    }
}

impl Timekeeper for LinuxNoSack {
    fn on_sent(&mut self, _: Xmit, sent: &Sent, _: &Ctx) {
        self.retrans_stamp = self.retrans_stamp.or(Some(ms(sent.at)));
    }
}

impl Learner for LinuxNoSack {
    fn on_rto(&mut self, _: u32, _: &Window, _: &Ctx) {
        self.high_seq = None;
    }
    fn on_excess(&mut self, segments: u32) {
        self.reordering = u32::min(segments, self.spec.max_reordering);
    }
}
