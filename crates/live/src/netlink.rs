//! Links, addresses and routes of a namespace, by rtnetlink; no external program is called.
//!
//! Source: Linux, `man 7 rtnetlink`.

use crate::error::LiveError;
use netlink_packet_core::{
    NetlinkMessage, NetlinkPayload, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{protocols::NETLINK_ROUTE, Socket};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// How long the kernel may take until an address is usable, and how often this is checked.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_micros(200);

/// A socket for one namespace: the one in which it was created.
pub struct Netlink {
    socket: Socket,
}

/// A device's configuration.
#[derive(Clone, Debug)]
pub struct Device {
    /// The largest packet, bytes. Default: 1500.
    pub mtu: u32,
    /// Packets that wait for the device's reader (`txqueuelen`). Default: 2000. A full queue drops without notice.
    pub queue_len: u32,
    /// The kernel's addresses on it, with the lengths of their prefixes.
    pub addresses: Vec<(IpAddr, u8)>,
}

impl Default for Device {
    fn default() -> Self {
        Device { mtu: 1500, queue_len: 2000, addresses: Vec::new() }
    }
}

impl Netlink {
    /// Opens a socket for the calling thread's namespace.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn new() -> Result<Netlink, LiveError> {
        let open = || {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.bind_auto()?;
            Ok(Netlink { socket })
        };
        open().map_err(LiveError::system::<std::io::Error>("opening a netlink socket"))
    }

    /// Sets a device's MTU and queue, adds its addresses and brings it up.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn configure(&self, name: &str, device: &Device) -> Result<(), LiveError> {
        let Device { mtu, queue_len, addresses } = device;
        self.set(name, vec![LinkAttribute::Mtu(*mtu), LinkAttribute::TxQueueLen(*queue_len)], false)?;
        let index = self.index(name)?;
        for (address, prefix) in addresses {
            self.add_address(index, *address, *prefix)?;
        }
        self.set_up(name)?;
        if addresses.iter().any(|(address, _)| address.is_ipv6()) {
            self.await_addresses(name, index)?;
        }
        Ok(())
    }

    /// IPv6 addresses become usable a moment after the device is up; earlier packets are lost without notice.
    fn await_addresses(&self, name: &str, index: u32) -> Result<(), LiveError> {
        for _ in 0..PATIENCE.as_micros() / PAUSE.as_micros() {
            if !self.has_tentative(index).map_err(LiveError::system(format!("the addresses of {name}")))? {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        Err(LiveError::Failed(format!("the kernel does not start to use the addresses of the device {name}")))
    }

    /// Whether an address of a device is not usable yet (RFC 4862 §2).
    fn has_tentative(&self, index: u32) -> std::io::Result<bool> {
        let mut wanted = AddressMessage::default();
        wanted.header.family = AddressFamily::Inet6;
        self.send(RouteNetlinkMessage::GetAddress(wanted), NLM_F_DUMP)?;
        let mut tentative = false;
        loop {
            for part in self.receive()? {
                match part.payload {
                    NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewAddress(a)) => {
                        let waits = a.header.flags.contains(AddressHeaderFlags::Tentative);
                        tentative |= a.header.index == index && waits;
                    }
                    NetlinkPayload::Done(_) => return Ok(tentative),
                    NetlinkPayload::Error(e) => return Err(e.to_io()),
                    _ => {}
                }
            }
        }
    }

    /// Brings a device up.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn set_up(&self, name: &str) -> Result<(), LiveError> {
        self.set(name, Vec::new(), true)
    }

    /// Sets the largest train that the kernel passes to a device, segments: 1 makes it segment everything itself.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn set_max_train(&self, name: &str, segments: u32) -> Result<(), LiveError> {
        self.set(name, vec![LinkAttribute::GsoMaxSegs(segments)], false)
    }

    /// Creates a pair of connected devices; the second one is in the namespace `there`. The first one does not resolve
    /// hardware addresses.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn add_veth(&self, here: &str, peer: &str, there: BorrowedFd<'_>) -> Result<(), LiveError> {
        let mut other = LinkMessage::default();
        other.attributes = vec![LinkAttribute::IfName(peer.into()), LinkAttribute::NetNsFd(there.as_raw_fd())];
        let mut link = LinkMessage::default();
        (link.header.flags, link.header.change_mask) = (LinkFlags::Noarp, LinkFlags::Noarp);
        link.attributes = vec![
            LinkAttribute::IfName(here.into()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(other))),
            ]),
        ];
        self.change(RouteNetlinkMessage::NewLink(link), NLM_F_CREATE | NLM_F_EXCL, &format!("making {here}"))
    }

    /// Routes packets for `to` through the device `name`, via the gateway `via` if given.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn add_route(&self, to: (IpAddr, u8), name: &str, via: Option<IpAddr>) -> Result<(), LiveError> {
        let mut route = RouteMessage::default();
        route.header = RouteHeader {
            address_family: family(to.0),
            destination_prefix_length: to.1,
            table: RouteHeader::RT_TABLE_MAIN,
            protocol: RouteProtocol::Static,
            scope: if via.is_some() { RouteScope::Universe } else { RouteScope::Link },
            kind: RouteType::Unicast,
            ..RouteHeader::default()
        };
        let address = |a: IpAddr| match a {
            IpAddr::V4(a) => RouteAddress::Inet(a),
            IpAddr::V6(a) => RouteAddress::Inet6(a),
        };
        route.attributes = vec![RouteAttribute::Oif(self.index(name)?)];
        if to.1 > 0 {
            route.attributes.push(RouteAttribute::Destination(address(to.0)));
        }
        route.attributes.extend(via.map(|via| RouteAttribute::Gateway(address(via))));
        let doing = format!("the route to {}/{} over {name}", to.0, to.1);
        self.change(RouteNetlinkMessage::NewRoute(route), NLM_F_CREATE | NLM_F_EXCL, &doing)
    }

    /// A device's index.
    ///
    /// # Errors
    /// [`LiveError::Input`] if there is no device with this name.
    pub fn index(&self, name: &str) -> Result<u32, LiveError> {
        Ok(self.link(name)?.header.index)
    }

    /// A device's MTU, bytes.
    ///
    /// # Errors
    /// [`LiveError::Input`] if there is no device with this name.
    pub fn mtu(&self, name: &str) -> Result<u32, LiveError> {
        let link = self.link(name)?;
        let mtu = link.attributes.iter().find_map(|a| if let LinkAttribute::Mtu(mtu) = a { Some(*mtu) } else { None });
        mtu.ok_or_else(|| LiveError::Failed(format!("the kernel reports no MTU for the device {name}")))
    }

    /// A device's hardware address; empty if it has none.
    ///
    /// # Errors
    /// [`LiveError::Input`] if there is no device with this name.
    pub fn hardware_address(&self, name: &str) -> Result<Vec<u8>, LiveError> {
        let link = self.link(name)?;
        let found =
            link.attributes.into_iter().find_map(|a| if let LinkAttribute::Address(a) = a { Some(a) } else { None });
        Ok(found.unwrap_or_default())
    }

    fn link(&self, name: &str) -> Result<LinkMessage, LiveError> {
        let mut link = LinkMessage::default();
        link.attributes.push(LinkAttribute::IfName(name.into()));
        match self.ask(RouteNetlinkMessage::GetLink(link), 0) {
            Ok(Some(RouteNetlinkMessage::NewLink(link))) => Ok(link),
            Ok(_) => Err(LiveError::Failed(format!("the kernel reports nothing about the device {name}"))),
            Err(e) => Err(LiveError::Input(format!("the device {name}: {e}"))),
        }
    }

    /// Changes the settings in `attributes`; `up` also brings the device up.
    fn set(&self, name: &str, mut attributes: Vec<LinkAttribute>, up: bool) -> Result<(), LiveError> {
        attributes.push(LinkAttribute::IfName(name.into()));
        let mut link = LinkMessage::default();
        if up {
            (link.header.flags, link.header.change_mask) = (LinkFlags::Up, LinkFlags::Up);
        }
        link.attributes = attributes;
        self.change(RouteNetlinkMessage::SetLink(link), 0, &format!("setting the device {name}"))
    }

    fn add_address(&self, index: u32, address: IpAddr, prefix: u8) -> Result<(), LiveError> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = prefix;
        message.header.index = index;
        // There is no other host, so the address is used immediately.
        message.header.flags = if address.is_ipv6() { AddressHeaderFlags::Nodad } else { AddressHeaderFlags::empty() };
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        let doing = format!("the address {address}/{prefix}");
        self.change(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL, &doing)
    }

    fn change(&self, message: RouteNetlinkMessage, flags: u16, doing: &str) -> Result<(), LiveError> {
        self.ask(message, flags | NLM_F_ACK).map(|_| ()).map_err(LiveError::system(doing))
    }

    /// Sends a message; returns the reply, or nothing if that is only "done".
    fn ask(&self, message: RouteNetlinkMessage, flags: u16) -> std::io::Result<Option<RouteNetlinkMessage>> {
        self.send(message, flags)?;
        match self.receive()?.pop().map(|answer| answer.payload) {
            Some(NetlinkPayload::Error(e)) if e.code.is_some() => Err(e.to_io()),
            Some(NetlinkPayload::InnerMessage(inner)) => Ok(Some(inner)),
            _ => Ok(None),
        }
    }

    fn send(&self, message: RouteNetlinkMessage, flags: u16) -> std::io::Result<()> {
        let mut message = NetlinkMessage::from(message);
        message.header.flags = NLM_F_REQUEST | flags;
        message.header.sequence_number = 1;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0).map(|_| ())
    }

    /// The messages of one reply of the kernel.
    fn receive(&self) -> std::io::Result<Vec<NetlinkMessage<RouteNetlinkMessage>>> {
        let (bytes, _) = self.socket.recv_from_full()?;
        let (mut messages, mut at) = (Vec::new(), 0);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let message = NetlinkMessage::deserialize(rest)
                .map_err(|e| std::io::Error::new(std::io::ErrorKind::InvalidData, e.to_string()))?;
            // Each begins at a multiple of four.
            at += (message.header.length as usize).next_multiple_of(4).max(4);
            messages.push(message);
        }
        Ok(messages)
    }
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}
