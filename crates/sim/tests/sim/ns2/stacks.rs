//! ns-2.35's senders in the logs' `clean` profile, as stacks: each a named stack with ns-2's
//! conventions.

use ackclock_tcp::congestion::aimd::AimdSpec;
use ackclock_tcp::congestion::CongestionSpec;
use ackclock_tcp::congestion::CutFrom;
use ackclock_tcp::facts::ack::DupRule;
use ackclock_tcp::recovery::newreno::FullAck;
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::rto::rfc6298::Rfc6298Spec;
use ackclock_tcp::rto::RtoSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::timeout::go_back_n::GoBackNSpec;
use ackclock_tcp::timeout::TimeoutSpec;

/// Names in ns-2's logs, and ours.
pub(crate) const VARIANTS: [(&str, &str); 6] = [
    ("tahoe", "tahoe"),
    ("reno", "reno"),
    ("renonb", "reno-no-bugfix"),
    ("newreno", "newreno"),
    ("newreno0", "newreno-slow-but-steady"),
    ("sack1", "sack-ff96"),
];

/// The stack of a variant.
///
/// # Errors
/// A sentence with the known variants.
pub(crate) fn clean(variant: &str) -> Result<Stack, String> {
    let named = VARIANTS.iter().find(|v| v.0 == variant).and_then(|v| Stack::named(v.1));
    let known = || VARIANTS.map(|v| v.0).join(", ");
    let mut s = named.ok_or_else(|| format!("unknown variant \"{variant}\"; known are {}", known()))?;
    // A cut halves the window (ssthresh in whole segments), again at every timeout.
    s.congestion = CongestionSpec::Aimd(AimdSpec { cut_from: CutFrom::Window, ..AimdSpec::default() });
    // tcpTick_ 0.01, minrto_ 1, maxrto_ 60, rtxcur_init_ 3.
    let (tick, initial) = (Nanos::from_millis(10), Nanos::from_secs(3));
    s.rto = RtoSpec::Rfc6298(Rfc6298Spec { tick, initial, ..Rfc6298Spec::default() });
    // SACKed data is retransmitted after a timeout; a sink reports at most maxSackBlocks_ 3.
    s.timeout = TimeoutSpec::GoBackN(GoBackNSpec { skip_sacked: false, ..Default::default() });
    s.options.sack_blocks = 3;
    if variant != "sack1" {
        s.dup_rule = DupRule::Ns2;
    }
    if let RecoverySpec::Newreno(n) = &mut s.recovery {
        (n.full_ack, n.grow_on_exit, n.burst_segs) = (FullAck::Keep, true, Some(2));
    }
    Ok(s)
}
