//! The victim in this process: a host, and the packets that it sends.

use crate::attack::{at, header, host, Victim, ACK, MSS, SYN};
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::host::{Host, Id};
use ackclock_wire::{parse, Checksums, Dialect, Header, Options, Writing};

const FIN: u8 = 0x01;

/// What an attack has led to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Damage {
    /// Packets of the attacker.
    pub(crate) packets: u64,
    /// Packets of the victim.
    pub(crate) answers: u64,
    /// Their bytes.
    pub(crate) answer_bytes: u64,
    /// Data bytes among these.
    pub(crate) data_bytes: u64,
    /// Connections that the victim keeps.
    pub(crate) connections: usize,
}

/// A host with a listener, and the packets of its attacker.
pub(crate) struct InMemory {
    host: Host,
    id: Option<Id>,
    now: Time,
    buf: Vec<u8>,
    sent: Vec<u8>,
    /// The victim's next sequence number, as the attacker knows it.
    next: SeqNum,
    damage: Damage,
}

impl InMemory {
    /// A victim whose clock begins.
    pub(crate) fn new() -> InMemory {
        let (buf, sent) = (vec![0; 70_000], vec![0; 70_000]);
        InMemory { host: host(), id: None, now: Time(1), buf, sent, next: SeqNum(0), damage: Damage::default() }
    }

    /// The damage so far.
    pub(crate) fn damage(&self) -> Damage {
        Damage { connections: self.host.connections(), ..self.damage }
    }

    /// Whether a client that behaves well can open a connection now.
    pub(crate) fn opens(&mut self) -> bool {
        let (src, options) = (at(9, 999), Options { mss: Some(MSS), ..Options::default() });
        self.hear(&Header { src, options, ..header(SYN, SeqNum(77), SeqNum(0)) }, 0);
        self.hear(&Header { src, ..header(ACK, SeqNum(78), self.next) }, 0);
        self.host.accept(at(1, 7)).is_some()
    }

    fn send(&mut self) {
        while let Some(w) = self.host.poll_transmit(self.now, Writing::Whole, &mut self.sent, &mut ()).expect("room") {
            let packet = parse(&self.sent[..w.len], Checksums::Trust).expect("a packet");
            self.damage.answers += 1;
            self.damage.answer_bytes += w.len as u64;
            self.damage.data_bytes += packet.payload.len() as u64;
            let takes = packet.payload.len() as u32 + u32::from(packet.header.flags & (SYN | FIN) != 0);
            self.next = SeqNum(packet.header.seq.0.wrapping_add(takes));
        }
    }
}

impl Victim for InMemory {
    fn hear(&mut self, header: &Header, payload: usize) {
        let written = header.write(Dialect::Linux, Writing::Whole, &mut self.buf, payload, |p| p.fill(3));
        let len = written.expect("a packet").len;
        let packet = parse(&self.buf[..len], Checksums::Trust).expect("a packet");
        self.damage.packets += 1;
        self.host.on_packet(self.now, &packet, &mut ());
        self.send();
    }

    fn pass(&mut self, time: Nanos) {
        let end = self.now + time;
        while let Some(due) = self.host.next_timer().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.host.on_timer(self.now, &mut ());
            self.send();
        }
        self.now = end;
    }

    fn settle(&mut self) {}

    fn next(&self) -> SeqNum {
        self.next
    }

    fn accept(&mut self) {
        self.id = self.host.accept(at(1, 7));
    }

    fn write(&mut self) {
        let end = self.id.and_then(|id| self.host.endpoint_mut(id)).expect("open");
        while end.write(&[9; 4096]) > 0 {}
        self.send();
    }

    fn read(&mut self) {
        self.id.and_then(|id| self.host.endpoint_mut(id)).expect("open").consume(usize::MAX);
        self.send();
    }
}
