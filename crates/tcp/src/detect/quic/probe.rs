//! The probe timeout: when nothing is acknowledged, a probe is sent (RFC 9002 §6.2).

use crate::time::{Nanos, Time};

/// The probe's timer.
pub(super) struct Pto {
    max: Nanos,
    /// When the last packet was sent (else the first ACK arrived), and the last known PTO.
    quiet: Option<(Time, Nanos)>,
    /// pto_count: probe timeouts since data was last acknowledged.
    count: u32,
}

impl Pto {
    pub(super) fn new(max: Nanos) -> Self {
        Pto { max, quiet: None, count: 0 }
    }

    /// An ack-eliciting packet was sent: the timer restarts (§6.2.1).
    pub(super) fn restart(&mut self, now: Time, pto: Nanos) {
        self.quiet = Some((now, pto));
    }

    /// An ACK left data outstanding: PTO may have changed, and the timer runs.
    pub(super) fn keep(&mut self, now: Time, pto: Nanos) {
        self.quiet = Some((self.quiet.map_or(now, |q| q.0), pto));
    }

    /// Another packet is sent now in place of the probe.
    pub(super) fn postpone(&mut self, now: Time) {
        if let Some(quiet) = &mut self.quiet {
            quiet.0 = now;
        }
    }

    /// Stops the timer: nothing is outstanding.
    pub(super) fn stop(&mut self) {
        (self.quiet, self.count) = (None, 0);
    }

    /// Data was acknowledged: the back-off ends (§6.2.1).
    pub(super) fn acknowledged(&mut self) {
        self.count = 0;
    }

    /// It fired; returns how often it has since data was last acknowledged, this time included.
    pub(super) fn fire(&mut self, now: Time) -> u32 {
        self.count += 1;
        self.postpone(now);
        self.count
    }

    /// §6.2.1: doubled with each probe.
    pub(super) fn deadline(&self) -> Option<Time> {
        let backed_off = |pto: Nanos| Nanos(pto.0.saturating_mul(1 << self.count.min(32))).min(self.max);
        self.quiet.map(|(since, pto)| since + backed_off(pto))
    }
}
