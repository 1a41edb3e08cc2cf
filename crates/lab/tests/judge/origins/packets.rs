//! Packets of a capture that can be changed: IPv4 or IPv6, TCP, and a link layer.

use ackclock_capture::{Frame, Heading};

/// Link types: raw IP and Ethernet.
pub(super) const RAW: u16 = 101;
pub(super) const ETHERNET: u16 = 1;
/// Places in a simulated packet, which has an IPv4 header without options.
const TCP: usize = 20;
/// Flags.
pub(super) const PSH: u8 = 8;
const SYN_FIN_RST: u8 = 7;

/// One packet, an IPv4 packet of a simulated run unless a link layer was put before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) at: i64,
    pub(super) link: u16,
    pub(super) interface: u32,
    pub(super) heading: Heading,
    /// Its length before it was cut.
    pub(super) original: u32,
    pub(super) bytes: Vec<u8>,
    /// The packets of the simulated capture that it stands for; none if it was captured before.
    pub(super) frames: Vec<u64>,
    pub(super) from_sender: bool,
}

impl Packet {
    pub(super) fn of(frame: &Frame<'_>, heading: Heading) -> Packet {
        let from_sender = frame.bytes[TCP + 2..TCP + 4] == 5_001_u16.to_be_bytes();
        Packet {
            at: frame.at,
            link: RAW,
            interface: 0,
            heading,
            original: frame.original,
            bytes: frame.bytes.to_vec(),
            frames: vec![frame.number],
            from_sender,
        }
    }

    pub(super) fn frame(&self, number: u64) -> Frame<'_> {
        let Packet { at, link, interface, heading, original, .. } = *self;
        Frame { number, offset: 0, at, interface, link, heading, original, bytes: &self.bytes }
    }

    fn two(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    fn four(&self, at: usize) -> u32 {
        u32::from(self.two(at)) << 16 | u32::from(self.two(at + 2))
    }

    fn put(&mut self, at: usize, value: &[u8]) {
        self.bytes[at..at + value.len()].copy_from_slice(value);
    }

    pub(super) fn id(&self) -> u16 {
        self.two(4)
    }

    pub(super) fn set_id(&mut self, id: u16) {
        self.put(4, &id.to_be_bytes());
    }

    pub(super) fn ack(&self) -> u32 {
        self.four(TCP + 8)
    }

    pub(super) fn close_window(&mut self) {
        self.put(TCP + 14, &[0, 0]);
    }

    /// A segment with the same first byte and no other, or with the byte before it.
    pub(super) fn probe(&self, before: u32) -> Packet {
        let mut probe = Packet { frames: vec![], ..self.clone() };
        let total = self.header() as u16 + 1;
        probe.put(2, &total.to_be_bytes());
        probe.put(TCP + 4, &self.seq().wrapping_sub(before).to_be_bytes());
        probe.bytes[TCP + 13] &= !PSH;
        probe.original = u32::from(total);
        probe.bytes.truncate(usize::from(total));
        probe
    }

    pub(super) fn passes_a_router(&mut self) {
        self.bytes[8] -= 1;
    }

    pub(super) fn seq(&self) -> u32 {
        self.four(TCP + 4)
    }

    fn header(&self) -> usize {
        TCP + usize::from(self.bytes[TCP + 12] >> 4) * 4
    }

    /// Bytes of payload.
    pub(super) fn len(&self) -> u32 {
        u32::from(self.two(2)) - self.header() as u32
    }

    pub(super) fn flags(&self) -> u8 {
        self.bytes[TCP + 13]
    }

    pub(super) fn is_plain(&self) -> bool {
        self.flags() & SYN_FIN_RST == 0
    }

    /// Whether a device may join `next` with this packet: it continues its bytes and says the same.
    pub(super) fn goes_on_with(&self, next: &Packet) -> bool {
        let said = |p: &Packet| (p.bytes[TCP + 8..TCP + 16].to_vec(), p.bytes[TCP + 20..p.header()].to_vec());
        let whole = self.len() > 0 && next.len() > 0 && self.is_plain() && next.is_plain();
        let same = self.from_sender == next.from_sender && self.flags() & !PSH == next.flags() & !PSH;
        let mut other = next.clone();
        other.bytes[TCP + 13] = self.flags();
        whole
            && same
            && self.flags() & PSH == 0
            && self.seq().wrapping_add(self.len()) == next.seq()
            && said(self) == said(&other)
            && self.original + next.len() <= 0xffff
    }

    pub(super) fn join(&mut self, next: &Packet) {
        self.bytes[TCP + 13] |= next.flags();
        self.original += next.len();
        let total = self.original as u16;
        self.put(2, &total.to_be_bytes());
        self.frames.extend(&next.frames);
    }

    /// The beginnings of its options.
    fn options(&self) -> Vec<(usize, u8, usize)> {
        let (mut at, mut found) = (TCP + 20, Vec::new());
        while at < self.header() {
            let len = if self.bytes[at] <= 1 { 1 } else { usize::from(self.bytes[at + 1]) };
            found.push((at, self.bytes[at], len));
            at += len;
        }
        found
    }

    fn timestamps(&self) -> Option<usize> {
        self.options().into_iter().find(|o| o.1 == 8).map(|o| o.0 + 2)
    }

    pub(super) fn without_timestamps(&mut self) {
        let kept: Vec<_> = self.options().into_iter().filter(|o| o.1 > 1 && o.1 != 8).collect();
        let mut options: Vec<u8> = kept.iter().flat_map(|o| self.bytes[o.0..o.0 + o.2].to_vec()).collect();
        options.resize(options.len().next_multiple_of(4), 1);
        let (header, payload) = (self.header(), self.bytes.split_off(self.header()));
        let saved = header - (TCP + 20 + options.len());
        self.bytes.truncate(TCP + 20);
        self.bytes.extend(options);
        self.bytes[TCP + 12] = ((self.bytes.len() - TCP) as u8 / 4) << 4;
        self.bytes.extend(payload);
        self.original -= saved as u32;
        let total = self.two(2) - saved as u16;
        self.put(2, &total.to_be_bytes());
    }

    /// Clocks that tick every `tick` ms.
    pub(super) fn tick(&mut self, tick: u32) {
        let Some(at) = self.timestamps() else { return };
        let coarse = |ms: u32| (ms / tick + 1).to_be_bytes();
        let (value, echo) = (self.four(at), self.four(at + 4));
        self.put(at, &coarse(value));
        // The first SYN echoes nothing.
        if self.flags() & 0x10 != 0 {
            self.put(at + 4, &coarse(echo));
        }
    }

    /// The checksums of both headers; payload is zeros.
    pub(super) fn sum(&mut self) {
        self.put(10, &[0, 0]);
        self.put(TCP + 16, &[0, 0]);
        let ip = checksum(&self.bytes[..TCP], 0);
        let pseudo = u64::from(self.two(2) - TCP as u16) + 6;
        let begin: u64 = self.bytes[12..TCP].chunks(2).map(|c| u64::from(c[0]) << 8 | u64::from(c[1])).sum();
        let tcp = checksum(&self.bytes[TCP..self.header()], pseudo + begin);
        self.put(10, &ip.to_be_bytes());
        self.put(TCP + 16, &tcp.to_be_bytes());
    }

    /// The same in IPv6, which has no identifications. Its addresses give the same sum.
    pub(super) fn in_ipv6(&mut self) {
        let len = (self.two(2) - TCP as u16).to_be_bytes();
        let mut header = vec![0x60, 0, 0, 7, len[0], len[1], 6, self.bytes[8]];
        for address in [&self.bytes[12..16], &self.bytes[16..20]] {
            header.extend([0xfd, 0, 0x02, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
            header.extend(address);
        }
        self.bytes.splice(..TCP, header);
        self.original += TCP as u32;
    }

    /// Behind Ethernet, in a VLAN.
    pub(super) fn in_vlan(&mut self, vlan: u16) {
        let [high, low] = vlan.to_be_bytes();
        let kind: u16 = if self.bytes[0] >> 4 == 4 { 0x0800 } else { 0x86dd };
        let mut front = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, high, low];
        front.extend(kind.to_be_bytes());
        self.original += front.len() as u32;
        self.bytes.splice(..0, front);
        self.link = ETHERNET;
    }
}

fn checksum(bytes: &[u8], begin: u64) -> u16 {
    let mut sum: u64 = bytes.chunks(2).map(|c| u64::from(c[0]) << 8 | u64::from(*c.get(1).unwrap_or(&0))).sum();
    sum += begin;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
