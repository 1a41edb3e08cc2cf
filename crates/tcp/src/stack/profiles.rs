//! The named stacks: their table, and the stacks that have no file of their own; the stacks of one paper or system share a
//! file.

mod blanton_allman;
mod growth;
mod modern;
mod net2;
mod netstack;
mod papers;
mod quic;
mod rr_tcp;
mod tcp_pr;
mod today;
mod undo;

use super::{Options, Stack};
use crate::ack::AckSpec;
use crate::congestion::aimd::AimdSpec;
use crate::congestion::{CongestionSpec, CutFrom};
use crate::detect::dup_ack::DupAckSpec;
use crate::detect::sack::SackSpec;
use crate::detect::{DetectSpec, Guard};
use crate::disorder::DisorderSpec;
use crate::facts::ack::DupRule;
use crate::idle::IdleRule;
use crate::pacing::PacingRule;
use crate::receive_window::ReceiveWindowSpec;
use crate::recovery::newreno::{NewRenoSpec, PartialTimer};
use crate::recovery::reno::RenoSpec;
use crate::recovery::rfc6675::Rfc6675Spec;
use crate::recovery::sack_ff96::SackFf96Spec;
use crate::recovery::RecoverySpec;
use crate::timeout::TimeoutSpec;

/// A named stack: its name, a one-line summary, and its constructor.
pub struct Profile {
    /// The name in `--stack` and scenario files.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    make: fn(&str) -> Stack,
}

/// Every named stack, oldest first.
pub const PROFILES: &[Profile] = &[
    Profile { name: "tahoe", summary: "fast retransmit and slow start, go back N (Jacobson 1988)", make: tahoe },
    Profile { name: "reno", summary: "fast recovery that ends at the first new ACK (RFC 5681)", make: reno },
    Profile {
        name: "reno-no-bugfix",
        summary: "Reno that may cut several times for one window of losses (Net/2)",
        make: reno_no_bugfix,
    },
    Profile {
        name: "net2",
        summary: "BSD Net/2: Reno with a slow clock and an eighth of a segment too much (Hoe 1995 §3.2)",
        make: net2::net2,
    },
    Profile {
        name: "hoe",
        summary: "Net/2 with a measured threshold and a recovery over partial ACKs (Hoe 1995 §7)",
        make: net2::hoe,
    },
    Profile { name: "newreno", summary: "fast recovery over partial ACKs, impatient (RFC 6582)", make: newreno },
    Profile {
        name: "newreno-slow-but-steady",
        summary: "NewReno, timer restarted on every partial ACK, no deflation (ns-2 in 2000)",
        make: slow_but_steady,
    },
    Profile {
        name: "sack-ff96",
        summary: "SACK with a counter of packets in the pipe (Fall & Floyd 1996; ns-2's sack1)",
        make: sack_ff96,
    },
    Profile {
        name: "rfc-6675",
        summary: "SACK with IsLost, NextSeg and limited transmit (RFC 6675, RFC 3042)",
        make: rfc_6675,
    },
    Profile {
        name: "dsack",
        summary: "SACK with Blanton & Allman's changes; needless reductions undone by DSACK (2002, §5)",
        make: blanton_allman::dsack,
    },
    Profile {
        name: "dsack-inc",
        summary: "dsack, threshold plus one at each mistake (§6.2)",
        make: blanton_allman::dsack_inc,
    },
    Profile {
        name: "dsack-avg",
        summary: "dsack, threshold half-way to the event's length (§6.3)",
        make: blanton_allman::dsack_avg,
    },
    Profile {
        name: "dsack-del",
        summary: "dsack, three duplicates and a delay (§6.4)",
        make: blanton_allman::dsack_del,
    },
    Profile {
        name: "dsack-ewma",
        summary: "dsack, threshold as a running average of events (§6.5)",
        make: blanton_allman::dsack_ewma,
    },
    Profile {
        name: "vegas",
        summary: "Reno with a delay-based window and fine-grained timeouts (Brakmo & Peterson 1995)",
        make: growth::vegas,
    },
    Profile { name: "cubic", summary: "rfc-6675 with a window that is a cubic function of time (RFC 9438)", make: growth::cubic },
    Profile {
        name: "fack",
        summary: "SACK by the distance to the forward-most byte (Mathis & Mahdavi 1996)",
        make: modern::fack,
    },
    Profile {
        name: "rate-halving",
        summary: "RFC 6675's detection, one segment for every two delivered (1999)",
        make: modern::rate_halving,
    },
    Profile {
        name: "prr",
        summary: "RFC 6675's detection, the window reduced in proportion (RFC 9937)",
        make: modern::prr,
    },
    Profile {
        name: "ncr-careful",
        summary: "waits for two thirds of the flight, new data for every second duplicate (RFC 4653)",
        make: modern::ncr_careful,
    },
    Profile {
        name: "ncr-aggressive",
        summary: "waits for half of the flight, new data for every duplicate (RFC 4653)",
        make: modern::ncr_aggressive,
    },
    Profile {
        name: "rack-tlp",
        summary: "time-based loss detection, tail loss probes, proportional reduction (RFC 8985, RFC 9937)",
        make: modern::rack_tlp,
    },
    Profile {
        name: "avg-dev",
        summary: "dsack, threshold from the average and deviation of events (Leung & Ma 2005)",
        make: papers::avg_dev,
    },
    Profile {
        name: "right-edge",
        summary: "recovery over partial ACKs, a new segment for each duplicate (Balakrishnan and others 1998)",
        make: net2::right_edge,
    },
    Profile {
        name: "lin-kung",
        summary: "right-edge, and only two new segments before a loss is declared (Lin & Kung 1998)",
        make: net2::lin_kung,
    },
    Profile {
        name: "robust",
        summary: "Robust Recovery: new data probes the path while losses are repaired (Wang & Shin)",
        make: papers::robust,
    },
    Profile {
        name: "eifel",
        summary: "NewReno, spurious timeouts undone by timestamps (RFC 3522, RFC 4015); fast retransmits also with spurious.judge_fast_retransmits",
        make: undo::eifel,
    },
    Profile {
        name: "frto",
        summary: "rfc-6675 that detects spurious timeouts by F-RTO with SACK (RFC 5682, RFC 4015)",
        make: undo::frto,
    },
    Profile {
        name: "tcp-pr",
        summary: "a timer for each packet, duplicates ignored (Bohacek and others 2003)",
        make: tcp_pr::tcp_pr,
    },
    Profile {
        name: "rfc-today",
        summary: "current RFCs combined: CUBIC, HyStart++, RACK-TLP, PRR, F-RTO, Eifel",
        make: today::rfc_today,
    },
    Profile {
        name: "linux-2025",
        summary: "Linux 6.x: CUBIC, HyStart, RACK-TLP, PRR, F-RTO, undo by DSACK and timestamps",
        make: today::linux,
    },
    Profile { name: "linux-reno-2025", summary: "the same with Reno", make: today::linux_reno },
    Profile { name: "linux-bbr-2025", summary: "the same with BBR, paced", make: today::linux_bbr },
    Profile {
        name: "rr-tcp",
        summary: "dsack, threshold at the 90th percentile of past reordering (Zhang and others 2003, RR-TCP)",
        make: rr_tcp::rr_tcp,
    },
    Profile {
        name: "quic-9002",
        summary: "QUIC's loss detection by packet order and time, probes instead of timeouts, NewReno in bytes (RFC 9002)",
        make: quic::quic_9002,
    },
    Profile {
        name: "quic-undo",
        summary: "quic-9002, window restored when every packet declared lost is acknowledged (MsQuic)",
        make: quic::quic_undo,
    },
    Profile {
        name: "gvisor",
        summary: "gVisor's netstack of February 2026: Reno, RACK-TLP, mistakes counted but not undone",
        make: netstack::gvisor,
    },
    Profile {
        name: "gvisor-no-rack",
        summary: "gvisor with RACK off, as in Tailscale 1.102: two segments that arrive early indicate a loss",
        make: netstack::gvisor_no_rack,
    },
    Profile {
        name: "late",
        summary: "lost after being overtaken for longer than late segments take here; CUBIC, undo by DSACK (this project)",
        make: today::late,
    },
];

impl Stack {
    /// The named stack, if there is one.
    pub fn named(name: &str) -> Option<Stack> {
        PROFILES.iter().find(|p| p.name == name).map(|p| (p.make)(p.name))
    }

    /// The names of all named stacks.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|p| p.name)
    }
}

/// The common base: RFC defaults around a detector and a recovery.
fn base(name: &str, detect: DetectSpec, recovery: RecoverySpec) -> Stack {
    Stack {
        name: name.into(),
        rto: Default::default(),
        detect,
        disorder: DisorderSpec::Nothing,
        recovery,
        timeout: TimeoutSpec::default(),
        congestion: CongestionSpec::default(),
        startup: Default::default(),
        spurious: Default::default(),
        undo: Default::default(),
        ack: AckSpec::Every,
        receive_window: ReceiveWindowSpec::Fixed,
        dup_rule: DupRule::Rfc5681,
        idle: IdleRule::Keep,
        pacing: PacingRule::Off,
        options: Options::default(),
        limits: Default::default(),
    }
}

/// RFC 5681, the base of the loss recovery RFCs, restarts after a pause (§4.1).
fn restarting(stack: Stack) -> Stack {
    Stack { idle: IdleRule::Restart, ..stack }
}

fn dup_ack(guard: Guard) -> DetectSpec {
    DetectSpec::DupAck(DupAckSpec { guard, ..Default::default() })
}

fn tahoe(name: &str) -> Stack {
    base(name, dup_ack(Guard::Careful), RecoverySpec::Tahoe)
}

fn reno(name: &str) -> Stack {
    restarting(base(name, dup_ack(Guard::Careful), RecoverySpec::Reno(RenoSpec::default())))
}

fn reno_no_bugfix(name: &str) -> Stack {
    base(name, dup_ack(Guard::Off), RecoverySpec::Reno(RenoSpec::default()))
}

fn newreno(name: &str) -> Stack {
    restarting(base(name, dup_ack(Guard::Careful), RecoverySpec::Newreno(NewRenoSpec::default())))
}

fn slow_but_steady(name: &str) -> Stack {
    let spec = NewRenoSpec { timer: PartialTimer::SlowButSteady, deflate: false, ..Default::default() };
    base(name, dup_ack(Guard::Careful), RecoverySpec::Newreno(spec))
}

fn sack_ff96(name: &str) -> Stack {
    Stack {
        options: Options { sack: true, ..Options::default() },
        dup_rule: DupRule::NewSackInfo,
        congestion: CongestionSpec::Aimd(AimdSpec { cut_from: CutFrom::Window, ..Default::default() }),
        ..base(name, dup_ack(Guard::AfterTimeout), RecoverySpec::SackFf96(SackFf96Spec::default()))
    }
}

fn rfc_6675(name: &str) -> Stack {
    Stack {
        options: Options { sack: true, dsack: true, ..Options::default() },
        dup_rule: DupRule::NewSackInfo,
        disorder: DisorderSpec::LimitedTransmit,
        timeout: TimeoutSpec::Sack(Default::default()),
        idle: IdleRule::Restart,
        ..base(name, DetectSpec::Sack(SackSpec::default()), RecoverySpec::Rfc6675(Rfc6675Spec::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::threshold::inc::UpdatePer;
    use crate::detect::threshold::ThresholdSpec;

    #[test]
    fn every_named_stack_is_valid_and_carries_its_name() {
        for p in PROFILES {
            let stack = Stack::named(p.name).expect("listed");
            assert_eq!((stack.validate(), stack.name.as_str()), (Ok(()), p.name));
        }
    }

    #[test]
    fn without_sack_every_named_stack_becomes_one_that_needs_none() {
        for name in Stack::names() {
            let stack = Stack::named(name).expect("listed").without_sack();
            assert_eq!((stack.validate(), stack.options.sack), (Ok(()), false), "{name}");
        }
        assert_eq!(Stack::named("reno").map(|s| s.without_sack()), Stack::named("reno"));
    }

    #[test]
    fn without_sack_no_part_is_kept_that_needs_it() {
        let mut counts_dsacks = Stack::named("dsack-inc").expect("listed");
        if let Some(ThresholdSpec::Inc(inc)) = counts_dsacks.detect.threshold_mut() {
            inc.update_per = UpdatePer::Dsack;
        }
        let mut waits = Stack::named("linux-2025").expect("listed");
        waits.disorder = DisorderSpec::Ncr(Default::default());
        for with in [counts_dsacks, waits] {
            assert_eq!(with.validate(), Ok(()));
            assert_eq!(with.without_sack().validate(), Ok(()), "{with:?}");
        }
        let mut pure = Stack::named("linux-2025").expect("listed").without_sack();
        pure.disorder = DisorderSpec::Pipe;
        assert_eq!(pure.without_sack().disorder, DisorderSpec::Pipe, "duplicates tell it what arrived");
    }
}
