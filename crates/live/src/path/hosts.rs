//! The kernel at one side of the path: a namespace with a TUN device, its sockets and counters.

use crate::error::LiveError;
use crate::kernel::{Apps, Counters, Sink, Source};
use crate::namespace::Namespace;
use crate::netlink::Device;
use crate::tun::Tun;
use ackclock_sim::watch::Side;
use std::net::{Ipv4Addr, SocketAddrV4};

/// The device's name in each namespace.
pub(crate) const DEVICE: &str = "tun0";
/// Both sides, the senders' first.
pub(crate) const SIDES: [Side; 2] = [Side::Sender, Side::Receiver];
const SENDERS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const RECEIVERS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
/// The first flow's ports.
const FROM: u16 = 40_001;
const TO: u16 = 5_001;
const PREFIX: u8 = 24;

/// The address of one side.
pub(crate) fn address(side: Side) -> Ipv4Addr {
    match side {
        Side::Sender => SENDERS,
        Side::Receiver => RECEIVERS,
    }
}

/// The address of one end of a flow.
pub(crate) fn end(flow: u32, side: Side) -> SocketAddrV4 {
    let first = match side {
        Side::Sender => FROM,
        Side::Receiver => TO,
    };
    SocketAddrV4::new(address(side), first + flow as u16)
}

/// The flow of a packet with these ports, to or from its receiver.
pub(crate) fn flow_of(from: Side, source: u16, destination: u16) -> Option<u32> {
    let receiver = match from {
        Side::Sender => destination,
        Side::Receiver => source,
    };
    receiver.checked_sub(TO).map(u32::from)
}

/// A namespace with the kernel of one side.
pub(crate) struct Host {
    pub(crate) namespace: Namespace,
    pub(crate) tun: Tun,
    before: Counters,
}

impl Host {
    /// Creates it. `window` is the largest that a receiver announces, bytes.
    pub(crate) fn new(side: Side, mtu: u32, window: u32, sysctls: &[(String, String)]) -> Result<Host, LiveError> {
        let namespace = Namespace::new()?;
        let tun = Tun::new(&namespace, DEVICE, false)?;
        let of_run = [
            // State learned by one connection must not affect the next.
            ("net.ipv4.tcp_no_metrics_save", "1".to_owned()),
            ("net.ipv6.conf.all.disable_ipv6", "1".to_owned()),
            // Twice the announced window: the kernel's bookkeeping counts, too.
            ("net.ipv4.tcp_rmem", format!("4096 {} {}", 131_072.max(2 * u64::from(window)), MOST_BUFFER)),
            ("net.ipv4.tcp_wmem", format!("4096 65536 {MOST_BUFFER}")),
        ];
        for (name, value) in of_run {
            namespace.set_sysctl(name, &value)?;
        }
        for (name, value) in sysctls {
            namespace.set_sysctl(name, value)?;
        }
        let device = Device { mtu, addresses: vec![(address(side).into(), PREFIX)], ..Device::default() };
        namespace.netlink()?.configure(DEVICE, &device)?;
        let before = Counters::of(&namespace)?;
        Ok(Host { namespace, tun, before })
    }

    /// Its name in the kernel, as in `net:[4026532281]`.
    pub(crate) fn name(&self) -> Result<String, LiveError> {
        let link = self.namespace.run(|| std::fs::read_link("/proc/thread-self/ns/net"))?;
        link.map(|l| l.display().to_string()).map_err(LiveError::system("reading the namespace's name"))
    }

    /// The sockets of its side.
    pub(crate) fn apps(&self, sources: &[Source], sinks: &[Sink]) -> Result<Apps, LiveError> {
        Apps::new(&self.namespace, sources, sinks)
    }

    /// The kernel's counters in this run.
    pub(crate) fn counters(&self) -> Result<Counters, LiveError> {
        Ok(Counters::of(&self.namespace)?.since(&self.before))
    }

    /// Packets that it dropped before the device.
    pub(crate) fn device_drops(&self) -> Result<u64, LiveError> {
        let text = self.namespace.run(|| std::fs::read_to_string("/proc/thread-self/net/dev"))?;
        let text = text.map_err(LiveError::system("reading the device's counters"))?;
        let row = text.lines().find_map(|line| line.trim_start().strip_prefix(DEVICE)?.strip_prefix(':'));
        // Eight columns of received data, then the bytes, packets, errors and drops of sent data.
        Ok(row.and_then(|r| r.split_whitespace().nth(11)?.parse().ok()).unwrap_or(0))
    }
}

/// The largest size of a socket's buffers.
const MOST_BUFFER: u64 = 64 << 20;
