//! smoltcp's device: two queues of packets.

use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;
use std::collections::VecDeque;

/// Packets that wait for smoltcp, and packets that smoltcp has sent.
pub(crate) struct Queues {
    pub(crate) arrived: VecDeque<Vec<u8>>,
    pub(crate) sent: VecDeque<Vec<u8>>,
    mtu: usize,
}

impl Queues {
    /// Creates the queues of a device with an MTU of `mtu` bytes.
    pub(crate) fn new(mtu: usize) -> Self {
        Queues { arrived: VecDeque::new(), sent: VecDeque::new(), mtu }
    }
}

/// A packet that smoltcp reads.
pub(crate) struct Arrived(Vec<u8>);
/// The place for a packet that smoltcp writes.
pub(crate) struct Place<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl TxToken for Place<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        let mut packet = vec![0; len];
        let result = write(&mut packet);
        self.0.push_back(packet);
        result
    }
}

impl Device for Queues {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Place<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Place<'_>)> {
        self.arrived.pop_front().map(|packet| (Arrived(packet), Place(&mut self.sent)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Place<'_>> {
        Some(Place(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        capabilities
    }
}
