//! The captures of both ends of a live run, and the verdicts on its retransmissions.

use super::hosts::{self, SIDES};
use super::Options;
use crate::clock::Clock;
use crate::error::LiveError;
use crate::pcapng::{Capture, Direction};
use ackclock_lab::scenario::Plan;
use ackclock_sim::watch::Side;
use ackclock_tcp::time::Time;
use ackclock_trace::{truth, Truth};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Does nothing if nothing is captured.
#[derive(Default)]
pub(super) struct Captures(Option<Folder>);

struct Folder {
    path: PathBuf,
    /// Captures of the senders and of the receivers.
    ends: [Capture; 2],
}

impl Captures {
    pub(super) fn new(options: &Options, clock: Clock) -> Result<Self, LiveError> {
        let Some(path) = &options.pcap else { return Ok(Captures(None)) };
        std::fs::create_dir_all(path).map_err(LiveError::system(path.display().to_string()))?;
        let end = |name: &str| Capture::create(&path.join(format!("{name}.pcapng")), name, clock, options.snap);
        Ok(Captures(Some(Folder { path: path.clone(), ends: [end("sender")?, end("receiver")?] })))
    }

    /// A packet at the device of one side.
    pub(super) fn packet(&mut self, at: Time, side: Side, way: Direction, packet: &[u8]) -> Result<(), LiveError> {
        match &mut self.0 {
            Some(folder) => folder.ends[usize::from(side == Side::Receiver)].packet(at, way, packet),
            None => Ok(()),
        }
    }

    /// Completes the captures, and writes the verdicts on the retransmissions next to them.
    pub(super) fn finish(self, plan: &Plan, truth: Truth) -> Result<(), LiveError> {
        let Some(Folder { path, ends }) = self.0 else { return Ok(()) };
        for end in ends {
            end.close()?;
        }
        let written = truth::write(&path, &truth.finish(), |flow| {
            let name = plan.scenario.flows.get(flow as usize).map_or("", |f| &f.name);
            (name, SIDES.map(|side| SocketAddr::V4(hosts::end(flow, side))))
        });
        written.map_err(LiveError::system(path.join(truth::NAME).display().to_string()))
    }
}
