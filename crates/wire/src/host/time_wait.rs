//! Connections in TIME-WAIT, which wait for old packets to disappear: a few numbers instead of a connection.
//!
//! Source: RFC 9293 §3.6.1 and §3.10.7.4 (TIME-WAIT), RFC 6191 §2 (which SYN may open a new connection immediately), RFC 7323
//! §5.3 (PAWS), RFC 5961 §3.2 (which RST counts). Decision 0126.

use super::slot::Place;
use super::slots::Slots;
use super::table::Pair;
use super::timers::Timers;
use super::{Arrival, Host, Id, Watch};
use crate::endpoint::Endpoint;
use crate::options::Timestamps;
use crate::packet::{Header, Packet};
use ackclock_tcp::connection::is_newer;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::time::{Nanos, Time};

/// Twice the maximum segment lifetime, as in the engine: 2 × 30 s (RFC 9293 §3.4.2 leaves it to us).
const TIME_WAIT: Nanos = Nanos::from_secs(60);
/// The smallest distance of a new connection's numbers from the last connection's, as in Linux (`net/ipv4/tcp_minisocks.c`,
/// `tcp_timewait_state_process`).
const APART: u32 = 0xffff + 2;

/// The connections in TIME-WAIT.
pub(super) struct TimeWaits {
    all: Slots<TimeWait>,
    timers: Timers,
    most: usize,
}

/// The remaining state of a connection.
struct TimeWait {
    pair: Pair,
    snd_nxt: SeqNum,
    rcv_nxt: SeqNum,
    window: u16,
    label: u32,
    /// Our clock's offset, and the newest of the peer's timestamps.
    timestamps: Option<(u32, u32)>,
}

/// The verdict on a late segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Late {
    Ignored,
    Answered,
    /// The peer's FIN, retransmitted.
    Restarted,
    /// A valid RST.
    Ended,
    /// A SYN that may open a new connection.
    Opens,
}

impl TimeWaits {
    pub(super) fn new(most: usize) -> Self {
        TimeWaits { all: Slots::new(), timers: Timers::new(), most }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.timers.next()
    }

    /// The connection that entered TIME-WAIT first.
    pub(super) fn oldest(&self) -> Option<Id> {
        self.timers.first().and_then(|(_, index)| self.all.at(index))
    }
}

impl TimeWait {
    fn of(pair: Pair, endpoint: &Endpoint) -> Self {
        let last = endpoint.last_ack();
        TimeWait {
            pair,
            snd_nxt: last.seq,
            rcv_nxt: last.ack,
            window: last.window,
            label: last.label,
            timestamps: last.options.timestamps.map(|t| (t.value, t.echo)),
        }
    }

    /// RFC 9293 §3.10.7.4 in its order.
    fn judge(&self, packet: &Packet<'_>) -> Late {
        let header = &packet.header;
        let has = |flag: u8| header.flags & flag != 0;
        let len = packet.payload.len() as u32 + u32::from(has(Segment::SYN)) + u32::from(has(Segment::FIN));
        let end = header.seq.0.wrapping_add(len);
        let age = self.age(header);
        if has(Segment::RST) {
            return if header.seq == self.rcv_nxt { Late::Ended } else { Late::Ignored };
        }
        if has(Segment::SYN) {
            // RFC 6191 asks for more than the last number received, the one before `rcv_nxt`; Linux and BSD for more than `rcv_nxt`.
            let later = is_after(header.seq.0, self.rcv_nxt.0);
            let old = self.timestamps.map(|(_, newest)| newest);
            // Without earlier timestamps it is unknown whether there would be any now: the sequence number decides.
            let new = header.options.timestamps.filter(|_| old.is_some()).map(|t| t.value);
            let newer = is_newer(old, new, later);
            return if newer && !has(Segment::ACK) { Late::Opens } else { Late::Answered };
        }
        if age.is_some_and(|age| age < 0) {
            return Late::Answered;
        }
        // Fifth: without an ACK a segment in the window is dropped.
        let before_end = header.seq.0.wrapping_sub(self.rcv_nxt.0) < u32::from(self.window).max(1);
        if !has(Segment::ACK) && before_end {
            return Late::Ignored;
        }
        match () {
            () if has(Segment::FIN) && end == self.rcv_nxt.0 => Late::Restarted,
            () if len > 0 || header.seq != self.rcv_nxt => Late::Answered,
            () => Late::Ignored,
        }
    }

    /// The difference of a segment's timestamp from the newest one; `None` if either is missing.
    fn age(&self, header: &Header) -> Option<i32> {
        let (Some((_, newest)), Some(t)) = (self.timestamps, header.options.timestamps) else { return None };
        Some(t.value.wrapping_sub(newest) as i32)
    }

    /// The last ACK again, with the current time.
    fn ack(&self, now: Time) -> Header {
        let mut header = crate::border::bare_ack(self.pair.local, self.pair.remote);
        (header.seq, header.ack, header.window, header.label) = (self.snd_nxt, self.rcv_nxt, self.window, self.label);
        let clock = (now.0 / 1_000_000) as u32;
        header.options.timestamps =
            self.timestamps.map(|(offset, newest)| Timestamps { value: clock.wrapping_add(offset), echo: newest });
        header
    }
}

fn is_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl Host {
    /// A connection enters TIME-WAIT. Packets no longer find it; its remaining state answers them.
    pub(super) fn begin_wait(&mut self, now: Time, id: Id) {
        let Some(slot) = self.slots.get_mut(id).filter(|slot| slot.routed) else { return };
        slot.routed = false;
        let (pair, left) = (slot.pair, TimeWait::of(slot.pair, &slot.endpoint));
        self.table.remove(&pair);
        if self.time_waits.most == 0 {
            return;
        }
        if self.time_waits.len() >= self.time_waits.most {
            self.counters.time_wait_overflows += 1;
            if let Some(oldest) = self.time_waits.oldest() {
                self.end_wait(oldest);
            }
        }
        let wait = self.time_waits.all.insert(left);
        self.time_waits.timers.set(wait.index(), Some(now + TIME_WAIT));
        self.table.insert(pair, Place::TimeWait(wait));
        self.counters.time_waited += 1;
    }

    /// Removes connections whose TIME-WAIT has expired.
    pub(super) fn end_waits(&mut self, now: Time) {
        while self.time_waits.next().is_some_and(|at| at <= now) {
            let Some(oldest) = self.time_waits.oldest() else { return };
            self.end_wait(oldest);
        }
    }

    pub(super) fn end_wait(&mut self, id: Id) {
        self.time_waits.timers.set(id.index(), None);
        if let Some(wait) = self.time_waits.all.remove(id) {
            self.table.remove(&wait.pair);
        }
    }

    /// A packet of a connection in TIME-WAIT.
    #[cold]
    pub(super) fn on_late<W: Watch>(&mut self, now: Time, id: Id, packet: &Packet<'_>, watch: &mut W) -> Arrival {
        let Some(wait) = self.time_waits.all.get(id) else { return Arrival::Ignored };
        let (pair, ack) = (wait.pair, wait.ack(now));
        match wait.judge(packet) {
            Late::Ignored => return Arrival::Ignored,
            Late::Ended if self.config.rfc1337 => return Arrival::Ignored,
            Late::Ended => {
                self.end_wait(id);
                return Arrival::Ignored;
            }
            Late::Opens => {
                if let Some(at) = self.listeners.for_packet(pair.local).filter(|at| self.has_place(*at)) {
                    let after = wait.snd_nxt.0.wrapping_add(APART);
                    self.end_wait(id);
                    self.counters.time_wait_recycled += 1;
                    let mut initial = self.initial(pair, now);
                    initial.isn = if is_after(after, initial.isn.0) { SeqNum(after) } else { initial.isn };
                    return self.open_passively(now, (pair, initial), packet, at, watch);
                }
            }
            Late::Restarted => self.time_waits.timers.set(id.index(), Some(now + TIME_WAIT)),
            Late::Answered => {}
        }
        if self.late_acks.take(now) {
            return self.reply(ack);
        }
        Arrival::Ignored
    }
}
