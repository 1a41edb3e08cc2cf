//! Netstack's judge: Eifel detection that only counts.
//!
//! Source: gVisor's netstack, `recordRetransmitTS` and `detectSpuriousRecovery` in `pkg/tcpip/transport/tcp/snd.go` (module
//! gvisor.dev/gvisor v0.0.0-20260224225140-573d5e7127a8), in our words; RFC 3522 §3.2.
//!
//! Idea: an ACK of new data that echoes a timestamp older than the start of the repair was triggered by a segment sent before it.
//! This is counted, and the repair continues unchanged.
//!
//! | source | here |
//! | --- | --- |
//! | retransmitTS (0: none) | `stamp` of `watch` |
//! | inRecovery | an earlier episode that has not ended |
//! | spuriousRecovery | `found` |
//! | SegmentsAckedWithDSACK | `dsack_seen`, per connection; netstack counts those of all connections |
//!
//! Departures: the verdict comes when the repair is over, because an earlier one would end it. A repair that a timeout interrupts
//! is not counted. Unlike in RFC 3522, every ACK of new data is checked, not only the first. Unsaid: nothing.

use super::Spurious;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Ledger, Mistake};
use crate::facts::scoreboard::Scoreboard;
use crate::segment::{is_older, timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NetstackSpec {
    /// Whether DSACKs are considered, as in netstack with RACK only. Default: yes.
    pub dsack: bool,
}

impl Default for NetstackSpec {
    fn default() -> Self {
        NetstackSpec { dsack: true }
    }
}

/// The judge at work.
pub struct Netstack {
    dsack: bool,
    /// The running repair and the timestamp of its beginning.
    watch: Option<(u32, u32)>,
    found: bool,
    dsack_seen: bool,
}

impl Netstack {
    pub(super) fn new(spec: &NetstackSpec) -> Self {
        Netstack { dsack: spec.dsack, watch: None, found: false, dsack_seen: false }
    }
}

impl Spurious for Netstack {
    fn on_begin(&mut self, ledger: &mut Ledger, _: &Scoreboard, cx: &Ctx) {
        let id = ledger.count();
        let under_way = id > 1 && ledger.get(id - 1).is_some_and(|ep| ep.ended.is_none());
        (self.watch, self.found) = ((!under_way).then(|| (id, timestamp(cx.now))), false);
    }
    fn passes_over(&self, ack: &AckEvent, _: &Ctx) -> bool {
        self.watch.is_none() && ack.dsack.is_none()
    }
    fn on_ack(&mut self, ack: &AckEvent, _: &mut Ledger, _: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        let dsack = self.dsack && ack.dsack.is_some();
        self.dsack_seen |= dsack;
        if let Some((_, stamp)) = self.watch.filter(|_| ack.advances() && !dsack) {
            // RFC 3522 §3.2 (5): all of a window's ACKs may have been lost.
            let informs = self.dsack_seen || cx.snd_una < cx.snd_max;
            self.found |= informs && ack.tsecr.is_some_and(|echo| is_older(echo, stamp));
        }
        None
    }
    fn on_episode_end(&mut self, ep: &mut Episode, _: &Ctx) -> Option<Mistake> {
        let found = std::mem::take(&mut self.found);
        let (id, _) = self.watch.take()?;
        (found && id == ep.id && !ep.void).then_some(Mistake { episode: id, cause: ep.cause, sample: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::{blank, context, episode};
    use crate::time::Time;

    #[test]
    fn an_old_echo_proves_nothing_on_an_ack_of_all_data_until_a_dsack_was_seen() {
        // RFC 3522 §3.2 (5): all of a window's ACKs may have been lost.
        for (left, dsack_seen, mistake) in [(1000, false, true), (0, false, false), (0, true, true)] {
            let mut judge = Netstack { dsack_seen, watch: Some((1, 5000)), ..Netstack::new(&NetstackSpec::default()) };
            let ack = AckEvent { prior_una: Offset(1), ack: Offset(1001), tsecr: Some(4999), ..blank() };
            let cx = Ctx { snd_una: Offset(1001), snd_max: Offset(1001 + left), ..context() };
            let (mut ledger, board) = (Ledger::default(), Scoreboard::default());
            assert_eq!(judge.on_ack(&ack, &mut ledger, &board, &cx), None, "the end of the repair tells");
            let found = judge.on_episode_end(&mut episode(), &Ctx { now: Time(9), ..cx });
            assert_eq!(found.is_some(), mistake, "{left} bytes are left, a DSACK was seen: {dsack_seen}");
        }
    }
}
