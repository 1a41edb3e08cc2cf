//! The truth about every retransmission of a run, by its frame numbers in the captures of both ends.
//!
//! The verdicts are those of [`ackclock_sim::fate`]: the driver of the network reported every copy, drop and refusal.

use crate::file::NewFile;
use ackclock_sim::fate::{Fates, Verdict};
use ackclock_sim::watch::{Dropped, Side, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;

/// The file next to the captures.
pub const NAME: &str = "truth.csv";
const HEADER: &str =
    "flow,source,destination,time_ns,seq,length,sends,sender_frame,middle_frame,receiver_frame,verdict\n";

/// A retransmission of data by a flow's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// The flow.
    pub flow: u32,
    /// When it was sent.
    pub at: Time,
    /// Its first byte, counted from the SYN, which is 0.
    pub seq: Offset,
    /// Bytes of payload.
    pub len: u32,
    /// The largest number of transmissions of any of its bytes, this one included; at least 2.
    pub sends: u8,
    /// Its frame in the capture of the senders, from 1.
    pub sender_frame: u64,
    /// Its frame in the capture at the node between the ends, if there is one and the packet passed there; the first one if it
    /// passed twice.
    pub middle_frame: Option<u64>,
    /// Its frame in the capture of the receivers, if it arrived; the first one if the network duplicated it.
    pub receiver_frame: Option<u64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Listens to a run. A capture must be written at the same calls: a frame of the sending side for each [`Watch::sent`], one of
/// the receiving side for each [`Watch::arrived`].
#[derive(Clone, Debug, Default)]
pub struct Truth {
    flows: Vec<Flow>,
    /// Frames in the captures of the senders and of the receivers so far.
    frames: [u64; 2],
    /// By directed link: whether it leaves the node between the ends; empty without such a node. Frames there so far.
    leaves: Vec<bool>,
    middle: u64,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    /// Packets of its sender so far.
    sent: u32,
    /// Its retransmissions, by the numbers of their packets.
    again: Vec<(u32, Retransmission)>,
    fates: Fates,
}

impl Truth {
    /// Returns a listener for a run of `flows` flows.
    pub fn new(flows: u32) -> Self {
        Truth { flows: vec![Flow::default(); flows as usize], ..Truth::default() }
    }

    /// Also follows a capture at a node: the directed links for which `leaves` is true begin there. The listener used together
    /// with this one must enable [`Watch::HEARS_HOPS`].
    #[must_use]
    pub fn with_middle(self, leaves: Vec<bool>) -> Self {
        Truth { leaves, ..self }
    }

    /// All retransmissions in the order of transmission.
    pub fn finish(self) -> Vec<Retransmission> {
        let one = |flow: Flow| {
            let verdicts = flow.fates.each();
            flow.again.into_iter().zip(verdicts).map(|((_, r), verdict)| Retransmission { verdict, ..r })
        };
        let mut all: Vec<Retransmission> = self.flows.into_iter().flat_map(one).collect();
        all.sort_unstable_by_key(|r| r.sender_frame);
        all
    }

    fn flow(&mut self, flow: u32) -> &mut Flow {
        let i = flow as usize;
        if i >= self.flows.len() {
            self.flows.resize_with(i + 1, Flow::default);
        }
        &mut self.flows[i]
    }

    /// The retransmission in this packet on its way to `to`.
    fn find(&mut self, flow: u32, to: Side, number: u32) -> Option<&mut Retransmission> {
        let again = &mut self.flows.get_mut(flow as usize)?.again;
        let i = again.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        (to == Side::Receiver).then(|| &mut again[i].1)
    }

    #[cold]
    fn again(&mut self, at: Time, flow: u32, seg: &Segment, sends: u8) {
        let sender_frame = self.frames[0];
        let f = self.flow(flow);
        let Segment { seq, len, .. } = *seg;
        f.fates.retransmitted(seq.0, seg.seq_len() as u32, sends, None);
        let verdict = Verdict::Needless;
        let r = Retransmission {
            flow,
            at,
            seq,
            len,
            sends,
            sender_frame,
            middle_frame: None,
            receiver_frame: None,
            verdict,
        };
        f.again.push((f.sent, r));
    }
}

impl Watch for Truth {
    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, _: u32, sends: u8) {
        match from {
            Side::Receiver => self.frames[1] += 1,
            Side::Sender => {
                self.frames[0] += 1;
                if seg.len > 0 && sends > 1 {
                    self.again(at, flow, seg, sends);
                }
                let f = self.flow(flow);
                f.sent = f.sent.wrapping_add(1);
            }
        }
    }

    fn arrived(&mut self, _: Time, flow: u32, to: Side, number: u32, _: &Segment) {
        let frames = &mut self.frames[usize::from(to == Side::Receiver)];
        *frames += 1;
        let frame = *frames;
        if let Some(r) = self.find(flow, to, number) {
            r.receiver_frame.get_or_insert(frame);
        }
    }

    fn passed(&mut self, _: Time, link: u32, flow: u32, to: Side, number: u32, _: &Segment) {
        if self.leaves.get(link as usize).is_some_and(|here| *here) {
            self.middle += 1;
            let frame = self.middle;
            if let Some(r) = self.find(flow, to, number) {
                r.middle_frame.get_or_insert(frame);
            }
        }
    }

    fn dropped(&mut self, Dropped { flow, to, seg, sends, .. }: Dropped<'_>) {
        if to == Side::Receiver && seg.len > 0 {
            self.flow(flow).fates.dropped(seg.seq.0, seg.seq_len() as u32, sends);
        }
    }

    fn refused(
        &mut self,
        _: Time,
        flow: u32,
        to: Side,
        _: Refusal,
        seg: &Segment,
        sends: u8,
        missing: &[(Offset, Offset)],
    ) {
        if to == Side::Receiver && seg.len > 0 {
            let fates = &mut self.flow(flow).fates;
            missing.iter().for_each(|(left, right)| fates.refused(left.0, (*right - *left) as u32, sends));
        }
    }

    fn doubled(&mut self, _: Time, flow: u32, to: Side, seg: &Segment, sends: u8) {
        if to == Side::Receiver && seg.len > 0 {
            self.flow(flow).fates.doubled(seg.seq.0, seg.seq_len() as u32, sends);
        }
    }
}

/// Writes [`NAME`] into `folder`, one line for each retransmission. `end` returns a flow's name and the addresses of its sender
/// and receiver.
///
/// # Errors
/// Errors of the system; no file remains in that case.
pub fn write<'a>(
    folder: &Path,
    rows: &[Retransmission],
    end: impl Fn(u32) -> (&'a str, [SocketAddr; 2]),
) -> io::Result<()> {
    let mut text = HEADER.to_owned();
    for r in rows {
        let (name, [from, to]) = end(r.flow);
        let Retransmission { at, seq, len, sends, sender_frame, verdict, .. } = r;
        let verdict = match verdict {
            Verdict::Needed => "needed",
            Verdict::Refused => "refused",
            Verdict::Needless => "needless",
        };
        let number = |f: Option<u64>| f.map(|f| f.to_string()).unwrap_or_default();
        let (middle, receiver, name) = (number(r.middle_frame), number(r.receiver_frame), quoted(name));
        // A write to a text cannot fail.
        let _ = write!(text, "{name},{from},{to},{},{seq},{len},{sends},", at.0);
        let _ = writeln!(text, "{sender_frame},{middle},{receiver},{verdict}");
    }
    let mut file = NewFile::create(&folder.join(NAME))?;
    file.write_all(text.as_bytes())?;
    file.keep()
}

/// A value in quotes, if it needs them (RFC 4180 §2).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
