//! The connection under test: how the script's addresses, sequence numbers and timestamps correspond to the TCP's.
//!
//! A script counts sequence numbers from 0 on each side; a SYN may have another number, which then denotes the initial one.

use crate::script::syntax::{Segment, TcpOption};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The first port of the script's own ends.
const FIRST_PORT: u16 = 40_001;
/// How many such ports there are.
const PORTS: u16 = 20_000;

/// The connection under test, if there is one.
#[derive(Default)]
pub(super) struct Numbers {
    pub(super) flow: Option<Flow>,
    ports: u16,
}

/// The stage of a connection, from the script's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// `socket` made it.
    Fresh,
    /// `listen`: the next packet of the script opens a connection.
    Listening,
    /// `connect`: the next SYN that is expected is its own.
    Connecting,
    /// A packet of the script went to a listener, or to a port without one.
    Received,
    /// A SYN was expected.
    SynSent,
    /// Both sides' numbers are known.
    Open,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) stage: Stage,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    /// The number of the TCP's SYN in the script, and in reality.
    script_isn: u32,
    real_isn: u32,
    /// The number of the script's own SYN.
    remote_isn: u32,
    /// The expected timestamps, and the actual ones in their place.
    timestamps: BTreeMap<u32, u32>,
    first_timestamp: Option<(u32, u32)>,
}

impl Numbers {
    /// `socket` was called.
    pub(super) fn fresh(&mut self, local: SocketAddr, remote: SocketAddr) {
        self.flow = Some(Flow::new(Stage::Fresh, local, remote));
    }

    pub(super) fn set_stage(&mut self, stage: Stage) {
        if let Some(flow) = &mut self.flow {
            flow.stage = stage;
        }
    }

    /// `connect` was called; a second call, which queries the result of the first, changes nothing.
    pub(super) fn set_connecting(&mut self) {
        if let Some(flow) = self.flow.as_mut().filter(|flow| flow.stage == Stage::Fresh) {
            flow.stage = Stage::Connecting;
        }
    }

    /// The connection for a segment that the script sends.
    pub(super) fn for_injected(&mut self, segment: &Segment, local: SocketAddr, remote: SocketAddr) -> &mut Flow {
        let opens = self.flow.as_ref().is_none_or(|flow| flow.stage == Stage::Listening);
        let (seq, syn_ack) = (segment.seq.unwrap_or(0), segment.flags.syn && segment.flags.ack);
        if opens {
            let remote = SocketAddr::new(remote.ip(), FIRST_PORT + self.ports);
            self.ports = (self.ports + 1) % PORTS;
            self.flow = Some(Flow { remote_isn: seq, ..Flow::new(Stage::Received, local, remote) });
        }
        let flow = self.flow.get_or_insert_with(|| Flow::new(Stage::Received, local, remote));
        if flow.stage == Stage::SynSent && (syn_ack || segment.flags.syn) {
            flow.remote_isn = seq;
            flow.stage = if syn_ack { Stage::Open } else { Stage::SynSent };
        }
        flow
    }
}

impl Flow {
    fn new(stage: Stage, local: SocketAddr, remote: SocketAddr) -> Self {
        Flow {
            stage,
            local,
            remote,
            script_isn: 0,
            real_isn: 0,
            remote_isn: 0,
            timestamps: BTreeMap::new(),
            first_timestamp: None,
        }
    }

    /// A packet of the TCP is expected: the numbers of its SYN become known.
    pub(super) fn expects(&mut self, segment: &Segment) {
        let (syn, ack) = (segment.flags.syn, segment.flags.ack);
        if self.stage == Stage::Connecting && syn && !ack {
            self.stage = Stage::SynSent;
            self.script_isn = segment.seq.unwrap_or(0);
        }
        if self.stage == Stage::Received && syn && ack {
            self.script_isn = segment.seq.unwrap_or(0);
        }
    }

    /// Whether a packet of the TCP belongs to this connection. Records the number of its SYN.
    pub(super) fn takes(&mut self, src: SocketAddr, dst: SocketAddr, real: &Segment, expected: &Segment) -> bool {
        let (syn, ack) = (real.flags.syn, real.flags.ack);
        if self.stage == Stage::SynSent && syn && !ack && dst == self.remote && src != self.local {
            (self.local, self.real_isn) = (src, real.seq.unwrap_or(0));
            return true;
        }
        if (src, dst) != (self.local, self.remote) {
            return false;
        }
        if self.stage == Stage::SynSent && syn && !ack {
            self.real_isn = real.seq.unwrap_or(0);
        }
        if self.stage == Stage::Received && expected.flags.syn && expected.flags.ack {
            (self.stage, self.real_isn) = (Stage::Open, real.seq.unwrap_or(0));
        }
        true
    }

    /// The script's number for one of the TCP's, and back.
    fn base(&self, syn: bool) -> u32 {
        if syn {
            self.real_isn.wrapping_sub(self.script_isn)
        } else {
            self.real_isn
        }
    }

    /// A segment of the TCP, in the script's numbers.
    pub(super) fn to_script(&self, real: &mut Segment) {
        let syn = real.flags.syn;
        let theirs = if syn { 0 } else { self.remote_isn };
        real.seq = real.seq.map(|seq| seq.wrapping_sub(self.base(syn)));
        if real.flags.ack {
            real.ack = real.ack.map(|ack| ack.wrapping_sub(theirs));
        }
        for option in real.options.iter_mut().flatten() {
            if let TcpOption::Sack(blocks) = option {
                for (left, right) in blocks {
                    (*left, *right) = (left.wrapping_sub(theirs), right.wrapping_sub(theirs));
                }
            }
        }
    }

    /// A segment of the script, in the TCP's numbers.
    ///
    /// # Errors
    /// It echoes a timestamp that was never expected: the value.
    pub(super) fn to_real(&self, segment: &Segment) -> Result<Segment, u32> {
        let mut real = segment.clone();
        let syn = segment.flags.syn;
        let ours = self.base(syn);
        real.seq = Some(segment.seq.unwrap_or(0).wrapping_add(if syn { 0 } else { self.remote_isn }));
        if segment.flags.ack {
            real.ack = Some(segment.ack.unwrap_or(0).wrapping_add(ours));
        }
        for option in real.options.iter_mut().flatten() {
            match option {
                TcpOption::Sack(blocks) => {
                    for (left, right) in blocks {
                        (*left, *right) = (left.wrapping_add(ours), right.wrapping_add(ours));
                    }
                }
                TcpOption::Timestamps { ecr, .. } if segment.flags.ack => *ecr = self.real_echo(*ecr)?,
                TcpOption::Timestamps { .. }
                | TcpOption::Eol
                | TcpOption::Nop
                | TcpOption::Mss(_)
                | TcpOption::WindowScale(_)
                | TcpOption::SackOk
                | TcpOption::Other(_) => {}
            }
        }
        Ok(real)
    }

    /// The TCP's number for one that an ICMP message quotes.
    pub(super) fn quoted(&self, seq: u32) -> u32 {
        seq.wrapping_add(self.real_isn)
    }

    fn real_echo(&self, ecr: u32) -> Result<u32, u32> {
        self.timestamps.get(&ecr).copied().ok_or(ecr)
    }

    /// Records the timestamp of a packet in place of the expected one; returns it in the script's clock.
    pub(super) fn note_timestamp(&mut self, expected: u32, real: u32) -> u32 {
        self.timestamps.insert(expected, real);
        let (script, first) = *self.first_timestamp.get_or_insert((expected, real));
        script.wrapping_add(real.wrapping_sub(first))
    }
}
