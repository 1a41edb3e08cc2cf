//! Counts for each flow what the simulator itself does not.

use ackclock_sim::watch::{DropWhy, Side, Watch};
use ackclock_tcp::event::{Event, Phase};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::Time;

/// By flow.
#[derive(Clone, Debug)]
pub(crate) struct Tally(pub(crate) Vec<FlowTally>);

/// Of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowTally {
    pub(crate) data_drops: u64,
    pub(crate) ack_drops: u64,
    pub(crate) timeouts: u64,
    pub(crate) fast_recoveries: u64,
    pub(crate) dupthresh: DupThreshTally,
}

/// The duplicate ACK threshold of one flow over a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DupThreshTally {
    /// What is in force since when; `None` before the first ACK, and for a detector that counts no duplicates.
    now: Option<(u32, Time)>,
    /// When the first was told.
    since: Time,
    mss: u32,
    cwnd: f64,
    /// Segments times nanoseconds up to the last change.
    area: u128,
    pub(crate) max: Option<u32>,
    /// The largest in force when the first segment after a timeout was sent.
    pub(crate) after_timeout_max: Option<u32>,
    timed_out: bool,
    /// The largest share of its ceiling after an ACK, see [`DupThreshTally::ceiling`].
    pub(crate) of_ceiling_max: Option<f64>,
}

impl DupThreshTally {
    fn changed(&mut self, at: Time, dupthresh: u32, mss: u32, cwnd: f64) {
        match self.now {
            Some((before, from)) => self.area += u128::from(before) * u128::from(at.since(from).0),
            None => self.since = at,
        }
        (self.now, self.mss, self.cwnd) = (Some((dupthresh, at)), mss, cwnd);
        self.max = self.max.max(self.now.map(|n| n.0));
    }

    /// Blanton & Allman 2002 §6.6, in real segments; never below the three duplicates of RFC 5681.
    fn ceiling(&self) -> f64 {
        let segs = self.cwnd / f64::from(self.mss);
        (0.9 * segs).min(segs - 1.0).max(3.0)
    }

    fn event(&mut self, at: Time, e: Event) {
        match e {
            Event::Threshold { dupthresh, mss, cwnd } => self.changed(at, dupthresh, mss, cwnd),
            Event::Window { to, .. } => self.cwnd = to.cwnd,
            Event::Timeout { .. } => self.timed_out = true,
            Event::Sent { .. } if self.timed_out => {
                self.timed_out = false;
                self.after_timeout_max = self.after_timeout_max.max(self.now.map(|n| n.0));
            }
            // The window and the threshold may change one after the other while an ACK is read; it has been read now.
            Event::Acked { .. } => {
                if let Some((dupthresh, _)) = self.now {
                    let share = f64::from(dupthresh) / self.ceiling();
                    self.of_ceiling_max = Some(self.of_ceiling_max.map_or(share, |m| m.max(share)));
                }
            }
            _ => {}
        }
    }

    /// The mean over the time from the first ACK to `end`, segments.
    pub(crate) fn mean(&self, end: Time) -> Option<f64> {
        let (last, from) = self.now?;
        let area = self.area + u128::from(last) * u128::from(end.since(from).0);
        let time = end.since(self.since).0;
        Some(if time == 0 { f64::from(last) } else { area as f64 / time as f64 })
    }
}

impl Watch for Tally {
    fn tcp(&mut self, at: Time, flow: u32, side: Side, e: Event) {
        let Some(f) = self.0.get_mut(flow as usize).filter(|_| side == Side::Sender) else { return };
        f.dupthresh.event(at, e);
        match e {
            Event::Timeout { .. } => f.timeouts += 1,
            Event::Phase { to: Phase::Recovery, .. } => f.fast_recoveries += 1,
            _ => {}
        }
    }

    fn sent(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, _: u8) {}

    fn dropped(&mut self, _: Time, flow: u32, to: Side, _: u32, _: u64, _: DropWhy, seg: &Segment) {
        let Some(f) = self.0.get_mut(flow as usize) else { return };
        match to {
            Side::Receiver if seg.seq_len() > 0 => f.data_drops += 1,
            Side::Sender if seg.seq_len() == 0 => f.ack_drops += 1,
            _ => {}
        }
    }

    fn delivered(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32) {}

    fn queue(&mut self, _: Time, _: u32, _: u32, _: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_tcp::event::{Slot, Window};
    use ackclock_tcp::seq::Offset;

    #[test]
    fn the_threshold_is_averaged_over_time_and_held_against_the_window_after_each_ack() {
        let mut t = DupThreshTally::default();
        assert_eq!((t.max, t.mean(Time(9))), (None, None));
        let told = |dupthresh| Event::Threshold { dupthresh, mss: 1000, cwnd: 20_000.0 };
        let acked = Event::Acked { ack: Offset(1), delivered: 0, dup_run: 0, pipe: 0 };
        t.event(Time(100), told(3));
        t.event(Time(110), told(12));
        t.event(Time(110), acked);
        assert_eq!((t.max, t.mean(Time(120)), t.of_ceiling_max), (Some(12), Some(7.5), Some(12.0 / 18.0)));
        // A window too small for the threshold between two ACKs is no breach, one after an ACK is.
        let w = |segs: f64| Window { cwnd: segs * 1000.0, ssthresh: 0.0 };
        let written = |segs| Event::Window { by: Slot::Congestion, episode: 1, from: w(20.0), to: w(segs) };
        t.event(Time(120), written(6.0));
        t.event(Time(120), written(20.0));
        t.event(Time(120), acked);
        assert_eq!(t.of_ceiling_max, Some(12.0 / 18.0));
        t.event(Time(121), written(6.0));
        t.event(Time(121), acked);
        assert_eq!(t.of_ceiling_max, Some(12.0 / 5.0));
        assert_eq!(t.after_timeout_max, None);
        t.event(Time(130), Event::Timeout { episode: 2, backoff: 0 });
        t.event(Time(130), told(3));
        t.event(Time(130), Event::Sent { start: Offset(1), len: 1000, episode: 2, sends: 2, by: Slot::Timeout });
        assert_eq!((t.after_timeout_max, t.max), (Some(3), Some(12)));
    }
}
