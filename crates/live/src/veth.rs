//! A pair of virtual Ethernet devices and a packet socket: the path to a kernel if no TUN device can be opened, as in containers.
//!
//! Source: Linux, `man 7 packet`, `Documentation/networking/packet_mmap.rst`, `net/packet/af_packet.c` (`packet_snd`,
//! `packet_rcv_vnet`); RFC 894, RFC 2464 (types of Ethernet frames).
//!
//! One end is in the kernel's namespace and has its addresses. The other one is in a namespace without addresses, and the socket
//! reads and writes its frames. Hardware addresses are not resolved: frames from the kernel have no valid destination, so that
//! the kernel of the second namespace ignores them.

use crate::error::LiveError;
use crate::namespace::Namespace;
use crate::netlink::Device;
use crate::sys;
use crate::wire::Wire;
use ackclock_wire::offload::{VnetHeader, LEN};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

/// An Ethernet header.
const ETHERNET: usize = 14;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// The end with the packet socket.
const FAR: &str = "veth1";

/// The end of a pair that is not the kernel's. Its frames always begin with a virtio-net header.
#[derive(Debug)]
pub struct Veth {
    socket: File,
    /// Hardware address of the kernel's end.
    address: [u8; 6],
    /// The namespace of the socket's end; removed with this value.
    _far: Namespace,
}

impl Veth {
    /// Creates the pair, with the kernel's end as `name` in `namespace`. With `trains`, the kernel passes packets of several
    /// segments unsegmented.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn new(namespace: &Namespace, name: &str, device: &Device, trains: bool) -> Result<Veth, LiveError> {
        let far = Namespace::new()?;
        let netlink = namespace.netlink()?;
        netlink.add_veth(name, FAR, far.as_fd())?;
        far.set_sysctl(&format!("net/ipv6/conf/{FAR}/disable_ipv6"), "1")?;
        if !trains {
            netlink.set_max_train(name, 1)?;
        }
        let there = far.netlink()?;
        there.configure(FAR, &Device { addresses: Vec::new(), ..device.clone() })?;
        netlink.configure(name, device)?;
        let address = netlink.hardware_address(name)?;
        let address = <[u8; 6]>::try_from(address)
            .map_err(|_| LiveError::Failed(format!("the device {name} has no Ethernet address")))?;
        let index = there.index(FAR)?;
        let socket = far.run(|| sys::packet_socket(index))?.map_err(LiveError::system("opening a packet socket"))?;
        Ok(Veth { socket: File::from(socket), address, _far: far })
    }
}

impl Wire for Veth {
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let mut ethernet = [0; ETHERNET];
        let (head, packet) = buf.split_at_mut(LEN);
        let mut pieces = [IoSliceMut::new(head), IoSliceMut::new(&mut ethernet), IoSliceMut::new(packet)];
        let len = loop {
            match (&self.socket).read_vectored(&mut pieces) {
                Ok(len) => break len,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        };
        // Invalid frames are left to the reader of the packet, which refuses them.
        let Some(len) = len.checked_sub(ETHERNET).filter(|len| *len >= LEN) else { return Ok(Some(0)) };
        shift(head, |place| place.saturating_sub(ETHERNET as u16));
        Ok(Some(len))
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let (head, packet) = frame.split_at_checked(LEN).ok_or(io::ErrorKind::InvalidInput)?;
        let mut vnet = [0; LEN];
        vnet.copy_from_slice(head);
        shift(&mut vnet, |place| place.saturating_add(ETHERNET as u16));
        let kind = if packet.first().is_some_and(|b| b >> 4 == 6) { IPV6 } else { IPV4 };
        let mut ethernet = [0; ETHERNET];
        ethernet[..6].copy_from_slice(&self.address);
        ethernet[12..].copy_from_slice(&kind.to_be_bytes());
        let pieces = [IoSlice::new(&vnet), IoSlice::new(&ethernet), IoSlice::new(packet)];
        loop {
            match (&self.socket).write_vectored(&pieces) {
                Ok(_) => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn offload(&self) -> bool {
        true
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The offsets in a virtio-net header count from the frame's beginning: with or without the Ethernet header.
fn shift(head: &mut [u8], by: impl Fn(u16) -> u16) {
    let Ok((mut header, _)) = VnetHeader::split(head) else { return };
    if header.gso_type != 0 {
        header.header_len = by(header.header_len);
    }
    if header.checksum_start != 0 {
        header.checksum_start = by(header.checksum_start);
    }
    head.copy_from_slice(&header.to_bytes());
}
