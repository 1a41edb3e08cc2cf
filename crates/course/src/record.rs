//! Listens to a run and keeps the course of each flow.
//!
//! Each packet has one row with its final fate, while a trace has a record for each event. The verdicts on retransmissions
//! follow at the end, as in the report, so packets that are sent once cost nothing for them.

use crate::flow::{judged, Course, Growing};
use crate::tables::{self, Queue};
use ackclock_sim::fate::Verdict;
use ackclock_sim::watch::{Dropped, Side, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::event::Event;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};

/// The courses of all flows, and the queues.
#[derive(Clone, Debug, Default)]
pub struct Courses {
    /// In the scenario's order.
    pub flows: Vec<Course>,
    /// By directed link.
    pub queues: Vec<Queue>,
}

/// Listens to a run.
#[derive(Debug)]
pub struct Recording {
    flows: Vec<Growing>,
    queues: Vec<Queue>,
}

impl Recording {
    /// Records a run of this many flows.
    pub fn new(flows: usize) -> Self {
        let mut all = Vec::new();
        all.resize_with(flows, Growing::default);
        Recording { flows: all, queues: Vec::new() }
    }

    /// What was recorded, each retransmission with its verdict.
    pub fn finish(self) -> Courses {
        Courses { flows: self.flows.into_iter().map(Growing::finish).collect(), queues: self.queues }
    }

    /// Makes room for this many flows.
    pub fn widen_flows(&mut self, flows: usize) {
        if self.flows.len() < flows {
            self.flows.resize_with(flows, Growing::default);
        }
    }

    /// Takes the verdict on the retransmission that this flow sent last, where the fates of all copies are not known here.
    /// `None`: it is open. Either all retransmissions of a run get their verdicts this way, or none.
    pub fn judged(&mut self, flow: u32, verdict: Option<Verdict>) {
        self.flows[flow as usize].verdicts.push(verdict.map_or(tables::Verdict::Open, judged));
    }

    /// Makes room for the queue of this link.
    #[cold]
    fn widen(&mut self, link: usize) {
        self.queues.resize_with(link + 1, Queue::default);
    }
}

impl Watch for Recording {
    const HEARS_RTO: bool = true;
    const HEARS_QUEUES: bool = true;

    fn tcp(&mut self, at: Time, flow: u32, side: Side, e: Event) {
        if side == Side::Sender {
            self.flows[flow as usize].event(at.as_secs_f64(), e);
        }
    }

    fn rto(&mut self, at: Time, flow: u32, side: Side, rto: Nanos) {
        if side == Side::Sender {
            self.flows[flow as usize].rto(at.as_secs_f64(), rto);
        }
    }

    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, _: u32, sends: u8) {
        let f = &mut self.flows[flow as usize];
        match from {
            Side::Sender => f.sent(at.as_secs_f64(), seg, sends),
            Side::Receiver => f.answered(at.as_secs_f64(), seg),
        }
    }

    fn lost(&mut self, flow: u32, _: Side, number: u32) {
        self.flows[flow as usize].lost(number);
    }

    fn dropped(&mut self, Dropped { at, flow, to, element, nth, seg, sends, .. }: Dropped<'_>) {
        let f = &mut self.flows[flow as usize];
        match to {
            Side::Receiver => f.data_dropped(at.as_secs_f64(), element, nth, seg, sends),
            Side::Sender => f.answer_dropped(seg),
        }
    }

    fn arrived(&mut self, at: Time, flow: u32, to: Side, number: u32, seg: &Segment) {
        let f = &mut self.flows[flow as usize];
        match to {
            Side::Receiver => f.delivered(at.as_secs_f64(), number, seg),
            Side::Sender => f.answer_arrived(at.as_secs_f64(), number, seg),
        }
    }

    fn refused(
        &mut self,
        _: Time,
        flow: u32,
        to: Side,
        _: Refusal,
        _: &Segment,
        sends: u8,
        missing: &[(Offset, Offset)],
    ) {
        if to == Side::Receiver && !missing.is_empty() {
            self.flows[flow as usize].refused(sends, missing);
        }
    }

    fn doubled(&mut self, _: Time, flow: u32, to: Side, seg: &Segment, sends: u8) {
        if to == Side::Receiver {
            self.flows[flow as usize].fates.doubled(seg.seq.0, seg.seq_len() as u32, sends);
        }
    }

    fn queue(&mut self, at: Time, link: u32, packets: u32, _: u64) {
        let i = link as usize;
        if i >= self.queues.len() {
            self.widen(i);
        }
        let q = &mut self.queues[i];
        q.time.push(at.as_secs_f64());
        q.packets.push(packets);
    }
}
