//! Packets that the script sends to the TCP under test.

use super::segment::{ip_packet, tcp_bytes, text};
use super::Runner;
use crate::script::syntax::{Body, Icmp, IpFields, Packet, Segment};
use crate::verdict::{Fault, Reason};
use ackclock_wire::checksum::{Sum, TCP};
use ackclock_wire::icmp::{ICMPV4, ICMPV6};
use std::net::SocketAddr;

impl Runner<'_> {
    pub(super) fn inject(&mut self, line: u32, packet: &Packet) -> Result<(), Fault> {
        let bytes = match &packet.body {
            Body::Tcp(segment) => self.real_segment(line, packet.ip, segment)?,
            Body::Icmp(icmp) => self.real_icmp(line, packet.ip, icmp)?,
            Body::Other(name) => return Err(Fault::new(line, Reason::Unknown, format!("{name} is not understood"))),
        };
        self.world.inject(&bytes).map_err(|text| Fault::new(line, Reason::Broken, text))
    }

    fn real_segment(&mut self, line: u32, ip: IpFields, segment: &Segment) -> Result<Vec<u8>, Fault> {
        let unknown = |text: String| Fault::new(line, Reason::Unknown, text);
        let (local, remote) = (self.config.local, self.config.remote);
        let flow = self.numbers.for_injected(segment, local, remote);
        let echo = |ecr| unknown(format!("it echoes the timestamp {ecr}, which no expected packet has"));
        let real = flow.to_real(segment).map_err(echo)?;
        let (mut src, mut dst) = (flow.remote, flow.local);
        if let Some((from, to)) = segment.ports {
            src = SocketAddr::new(src.ip(), if from == 0 { src.port() } else { from });
            dst = SocketAddr::new(dst.ip(), if to == 0 { dst.port() } else { to });
        }
        let tcp = tcp_bytes(src, dst, &real).map_err(unknown)?;
        let now = self.world.now();
        self.say(now, line, format!("< {}", text(segment)));
        Ok(ip_packet(src.ip(), dst.ip(), TCP, ip, &tcp))
    }

    fn real_icmp(&mut self, line: u32, ip: IpFields, icmp: &Icmp) -> Result<Vec<u8>, Fault> {
        let unknown = |text: &str| Fault::new(line, Reason::Unknown, text.to_owned());
        let flow =
            self.numbers.flow.as_ref().ok_or_else(|| unknown("there is no connection that a message could quote"))?;
        let (local, remote) = (flow.local, flow.remote);
        let (seq, len) = icmp.quoted.unwrap_or((0, 0));
        // RFC 792: the quoted header, with at least its ports and its sequence number.
        let quoted = Segment {
            ports: None,
            flags: Default::default(),
            seq: Some(flow.quoted(seq)),
            len: 0,
            ack: None,
            win: Some(0),
            urg: None,
            options: Some(Vec::new()),
        };
        let mut tcp = tcp_bytes(local, remote, &quoted).map_err(|text| unknown(&text))?;
        tcp.truncate(20);
        let mut quote = ip_packet(local.ip(), remote.ip(), TCP, IpFields::default(), &tcp);
        set_length(&mut quote, 20 + len);
        let (kind, code) = icmp_numbers(icmp, local.is_ipv6())
            .ok_or_else(|| unknown(&format!("the message `icmp {}` is not understood", icmp.kind)))?;
        let v6 = local.is_ipv6();
        let mut message = vec![kind, code, 0, 0, 0, 0, 0, 0];
        let mtu = icmp.mtu.unwrap_or(0);
        let field = if v6 { mtu.to_be_bytes() } else { (mtu & 0xffff).to_be_bytes() };
        message[4..8].copy_from_slice(&field);
        message.extend(&quote);
        let protocol = if v6 { ICMPV6 } else { ICMPV4 };
        let mut sum = Sum::default();
        if v6 {
            sum.add_pseudo_header(protocol, remote.ip(), local.ip(), message.len() as u32);
        }
        sum.add(&message);
        message[2..4].copy_from_slice(&sum.checksum());
        let now = self.world.now();
        let code = icmp.code.as_deref().unwrap_or("");
        self.say(now, line, format!("< icmp {} {code} [{seq}:{}({len})]", icmp.kind, seq.wrapping_add(len)));
        Ok(ip_packet(remote.ip(), local.ip(), protocol, ip, &message))
    }
}

/// Sets the length in the header of a packet that is quoted in part.
fn set_length(quote: &mut [u8], payload: u32) {
    let (at, len) = if quote.first().is_some_and(|b| b >> 4 == 6) { (4, payload) } else { (2, payload + 20) };
    quote[at..at + 2].copy_from_slice(&(len.min(0xffff) as u16).to_be_bytes());
    if at == 2 {
        quote[10..12].fill(0);
        let mut sum = Sum::default();
        sum.add(&quote[..20]);
        let sum = sum.checksum();
        quote[10..12].copy_from_slice(&sum);
    }
}

/// Type and code of RFC 792 and RFC 4443, by their names in scripts.
fn icmp_numbers(icmp: &Icmp, v6: bool) -> Option<(u8, u8)> {
    let code = icmp.code.as_deref();
    match (v6, icmp.kind.as_str()) {
        (false, "unreachable") => {
            const CODES: &[&str] = &[
                "net_unreachable",
                "host_unreachable",
                "protocol_unreachable",
                "port_unreachable",
                "frag_needed",
                "source_route_failed",
                "net_unknown",
                "host_unknown",
                "source_host_isolated",
                "net_prohibited",
                "host_prohibited",
                "net_unreachable_for_tos",
                "host_unreachable_for_tos",
                "packet_filtered",
                "precedence_violation",
                "precedence_cutoff",
            ];
            let code = CODES.iter().position(|name| Some(*name) == code)?;
            Some((3, code as u8))
        }
        (false, "source_quench") => Some((4, 0)),
        (false, "time_exceeded") => Some((11, if code == Some("exc_fragtime") { 1 } else { 0 })),
        (true, "unreachable") => {
            const CODES: &[&str] =
                &["net_unreachable", "net_prohibited", "not_neighbour", "address_unreachable", "port_unreachable"];
            let code = if code == Some("host_unreachable") { Some("address_unreachable") } else { code };
            let code = CODES.iter().position(|name| Some(*name) == code)?;
            Some((1, code as u8))
        }
        (true, "packet_too_big") => Some((2, 0)),
        (true, "time_exceeded") => Some((3, 0)),
        (false | true, _) => None,
    }
}
