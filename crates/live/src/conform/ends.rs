//! The script's end of the device: the device itself if the TCP under test is the kernel's, otherwise a packet socket on it.

use crate::error::LiveError;
use crate::namespace::Namespace;
use crate::netlink::Device;
use crate::sys;
use crate::tun::Tun;
use ackclock_conform::lines::Side;
use ackclock_wire::checksum::TCP;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

/// The virtio-net header before each packet of a packet socket. All zeros: the packet is as it looks.
const VNET: usize = 10;

/// One end.
pub(super) enum End {
    /// Behind it is the kernel.
    Kernel(Tun, IpAddr),
    /// Behind it is a process that reads the device.
    Process(File, IpAddr),
}

impl End {
    /// The end opposite to `side`, for packets from the address `local`.
    pub(super) fn new(
        namespace: &Namespace,
        side: Side,
        name: &str,
        (local, remote): (IpAddr, IpAddr),
        mtu: u32,
    ) -> Result<End, LiveError> {
        let netlink = namespace.netlink()?;
        match side {
            Side::Kernel => {
                let tun = Tun::new(namespace, name, false)?;
                let (network, host) = if local.is_ipv4() { (24, 32) } else { (64, 128) };
                let device = Device { mtu, addresses: vec![(local, network)], ..Device::default() };
                netlink.configure(name, &device)?;
                netlink.add_route((remote, host), name, None)?;
                Ok(End::Kernel(tun, local))
            }
            Side::Device => {
                let index = netlink.index(name).map_err(|_| {
                    LiveError::Input(format!(
                        "the command said that it has opened the device {name} (ACKCLOCK_TUN), and there is none"
                    ))
                })?;
                // The kernel must not take part.
                namespace.set_sysctl("net/ipv6/conf/all/disable_ipv6", "1")?;
                netlink.configure(name, &Device { mtu, ..Device::default() })?;
                let socket = namespace.run(|| sys::packet_socket(index))?;
                Ok(End::Process(File::from(socket.map_err(LiveError::system("opening a packet socket"))?), local))
            }
        }
    }

    /// The next packet of TCP from the address under test; others, such as the kernel's router solicitations, are skipped.
    pub(super) fn recv(&self, buf: &mut [u8]) -> io::Result<Option<Vec<u8>>> {
        loop {
            let (packet, local) = match self {
                End::Kernel(tun, local) => (tun.recv(buf)?.map(|len| &buf[..len]), local),
                End::Process(socket, local) => {
                    (read(socket, buf)?.map(|len| buf[..len].get(VNET..).unwrap_or(&[])), local)
                }
            };
            let Some(packet) = packet else { return Ok(None) };
            if is_tcp_from(packet, *local) {
                return Ok(Some(packet.to_vec()));
            }
        }
    }

    pub(super) fn send(&self, packet: &[u8]) -> io::Result<()> {
        match self {
            End::Kernel(tun, _) => tun.send(packet),
            End::Process(socket, _) => {
                let mut frame = vec![0; VNET];
                frame.extend_from_slice(packet);
                let mut socket: &File = socket;
                socket.write_all(&frame)
            }
        }
    }

    pub(super) fn readable(&self) -> BorrowedFd<'_> {
        match self {
            End::Kernel(tun, _) => tun.as_fd(),
            End::Process(socket, _) => socket.as_fd(),
        }
    }
}

fn read(mut socket: &File, buf: &mut [u8]) -> io::Result<Option<usize>> {
    loop {
        match socket.read(buf) {
            Ok(len) => return Ok(Some(len)),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Reads only protocol and source: the script's runner reads the rest.
fn is_tcp_from(packet: &[u8], local: IpAddr) -> bool {
    match local {
        IpAddr::V4(local) => packet.get(9) == Some(&TCP) && packet.get(12..16) == Some(&local.octets()[..]),
        IpAddr::V6(local) => packet.get(6) == Some(&TCP) && packet.get(8..24) == Some(&local.octets()[..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tcp_from_the_address_under_test_is_taken() {
        let (local, other) = (IpAddr::from([192, 168, 0, 1]), IpAddr::from([192, 168, 0, 2]));
        let mut packet = [0; 40];
        (packet[0], packet[9]) = (0x45, TCP);
        packet[12..16].copy_from_slice(&[192, 168, 0, 1]);
        assert!(is_tcp_from(&packet, local));
        assert!(!is_tcp_from(&packet, other));
        assert!(!is_tcp_from(&packet[..9], local));
        packet[9] = 1;
        assert!(!is_tcp_from(&packet, local));
    }
}
