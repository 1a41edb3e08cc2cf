//! Checks descriptions, before anything runs, for parts of a stack that do not fit together.

use super::{Limits, Options, Stack};
use crate::error::StackError;
use crate::facts::ack::DupRule;
use crate::idle::IdleRule;
use crate::needs::{Need, Requirement};
use crate::pacing::PacingRule;

impl Stack {
    /// Checks each part, then that the parts fit together.
    ///
    /// # Errors
    /// One sentence that names the parameter, the value found and the values allowed.
    pub fn validate(&self) -> Result<(), StackError> {
        let Stack {
            name: _,
            ack,
            receive_window,
            startup,
            rto,
            detect,
            disorder,
            recovery,
            timeout,
            congestion,
            spurious,
            undo,
            dup_rule,
            idle: IdleRule::Keep | IdleRule::Restart | IdleRule::Halve,
            pacing: PacingRule::Off | PacingRule::Linux,
            options,
            limits,
        } = self;
        options.validate(*dup_rule)?;
        limits.validate()?;
        ack.validate()?;
        receive_window.validate()?;
        startup.validate()?;
        rto.validate()?;
        detect.validate()?;
        disorder.validate()?;
        recovery.validate()?;
        congestion.validate()?;
        spurious.validate()?;
        undo.validate()?;
        let (repairs, windows) = ([recovery.needs(), timeout.needs()], [congestion.needs(), spurious.needs()]);
        let needs = [detect.needs(), disorder.needs()].into_iter().chain(repairs).chain(windows);
        for Requirement { need, key, found, allowed } in needs.flatten() {
            StackError::unless(self.offers(need), key, &found, allowed)?;
        }
        Ok(())
    }

    /// Whether some part meets the needs of another part.
    pub(super) fn offers(&self, need: Need) -> bool {
        match need {
            Need::Sack => self.options.sack,
            Need::Arrivals => self.options.sack || self.dup_rule == DupRule::EmulatedSack,
            Need::EmulatedSack => self.dup_rule == DupRule::EmulatedSack,
            Need::Timestamps => self.options.timestamps,
            Need::EachLoss => self.detect.declares_each_loss(),
            Need::MarksInRecovery => self.detect.judges_in_recovery(),
            Need::Resends(ways) => ways.contains(&self.recovery.resends()),
            Need::ResendsByMark => self.timeout.resends_by_mark(),
            Need::EachDsack => self.spurious.tells_each_dsack(),
            Need::Samples => self.spurious.measures(self.options.timestamps),
            Need::Paced => !self.pacing.is_off(),
            Need::SetsWindow => self.congestion.sets_window(),
            Need::LeavesWindow => self.recovery.leaves_window(),
        }
    }
}

impl Options {
    fn validate(&self, dup_rule: DupRule) -> Result<(), StackError> {
        let Options { sack, dsack, sack_blocks, late_sack: _, timestamps: _, window_scale, rcv_wscale, ecn: _ } = *self;
        StackError::unless(
            (1..=4).contains(&sack_blocks),
            "options.sack_blocks",
            &sack_blocks,
            "1 to 4 (RFC 2018 §3)",
        )?;
        let shift = rcv_wscale.unwrap_or(0);
        StackError::unless(shift <= 14, "options.rcv_wscale", &shift, "0 to 14 (RFC 7323 §2.3)")?;
        let allowed = "only together with options.window_scale = true";
        StackError::unless(window_scale || rcv_wscale.is_none(), "options.rcv_wscale", &shift, allowed)?;
        let allowed = "only together with options.sack = true (RFC 2883 §4)";
        StackError::unless(sack || !dsack, "options.dsack", &"true", allowed)?;
        let allowed = "only together with options.sack = true, otherwise no ACK is ever a duplicate";
        let by_sack = match dup_rule {
            DupRule::NewSackInfo => Some("\"new-sack-info\""),
            DupRule::Netstack => Some("\"netstack\""),
            DupRule::Rfc5681 | DupRule::Ns2 | DupRule::EmulatedSack => None,
        };
        StackError::unless(sack || by_sack.is_none(), "dup_rule", &by_sack.unwrap_or_default(), allowed)?;
        let allowed = "only together with options.sack = false, since SACK reports which segments arrived";
        StackError::unless(!sack || dup_rule != DupRule::EmulatedSack, "dup_rule", &"\"emulated-sack\"", allowed)
    }
}

impl Limits {
    fn validate(&self) -> Result<(), StackError> {
        let Limits { maxburst_segs, cwnd_cap_segs, max_train, avoid_silly_window: _, window_edge: _, syn_repeats: _ } =
            *self;
        StackError::unless(max_train > 0, "limits.max_train", &0, "1 or more")?;
        for (key, n) in [("limits.maxburst_segs", maxburst_segs), ("limits.cwnd_cap_segs", cwnd_cap_segs)] {
            StackError::unless(n != Some(0), key, &0, "1 or more (omit it for no limit)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::threshold::ThresholdSpec;
    use crate::spurious::linux::LinuxSpec;
    use crate::spurious::SpuriousSpec;

    #[test]
    fn a_threshold_that_learns_from_mistakes_is_refused_beside_a_judge_that_measures_none() {
        let stack = |threshold: ThresholdSpec, timestamps, option| {
            let mut stack = crate::testing::named("dsack-avg");
            *stack.detect.threshold_mut().expect("it counts") = threshold;
            stack.spurious = SpuriousSpec::Linux(LinuxSpec { dsack: true, timestamps });
            stack.options.timestamps = option;
            stack.validate().map_err(|e| e.to_string())
        };
        let learning = [
            ThresholdSpec::Inc(Default::default()),
            ThresholdSpec::Avg(Default::default()),
            ThresholdSpec::AvgDev(Default::default()),
            ThresholdSpec::Fa(Default::default()),
        ];
        for t in learning {
            for (timestamps, option) in [(false, false), (false, true), (true, false)] {
                let why = stack(t.clone(), timestamps, option).expect_err("it could never learn");
                assert!(why.contains("detect.threshold"), "{why}");
            }
            assert_eq!(stack(t, true, true), Ok(()));
        }
        assert_eq!(stack(ThresholdSpec::Fixed(Default::default()), false, false), Ok(()));
    }
}
