//! The bytes of the packets on a simulated path, by the numbers that the simulator gives them.

use ackclock_sim::watch::Side;
use std::collections::VecDeque;

/// Keeps the bytes of packets while they are in flight.
///
/// A host numbers its packets from 0 ([`ackclock_sim::watch::Watch::arrived`]), so the oldest of them is first.
#[derive(Clone, Debug, Default)]
pub struct UnderWay {
    /// Two hosts for each flow: its sender, its receiver.
    hosts: Vec<Host>,
    spare: Vec<Vec<u8>>,
}

/// The packets that one host has sent.
#[derive(Clone, Debug, Default)]
struct Host {
    /// The number of the first packet that is kept.
    first: u32,
    packets: VecDeque<Option<Kept>>,
}

#[derive(Clone, Debug)]
struct Kept {
    bytes: Vec<u8>,
    /// More than one if the network has duplicated the packet.
    copies: u32,
}

impl UnderWay {
    /// Returns an empty store for a run of `flows` flows.
    pub fn new(flows: u32) -> Self {
        UnderWay { hosts: vec![Host::default(); 2 * flows as usize], spare: Vec::new() }
    }

    /// The next packet of the host `from` of a flow is sent. Returns its number.
    pub fn put(&mut self, flow: u32, from: Side, bytes: &[u8]) -> u32 {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        let place = place(flow, from);
        if self.hosts.len() <= place {
            self.hosts.resize_with(place + 1, Host::default);
        }
        let host = &mut self.hosts[place];
        host.packets.push_back(Some(Kept { bytes: copy, copies: 1 }));
        host.first.wrapping_add(host.packets.len() as u32 - 1)
    }

    /// A packet on its way to the host `to`, by its number.
    pub fn peek(&self, flow: u32, to: Side, number: u32) -> Option<&[u8]> {
        let host = self.hosts.get(place(flow, other(to)))?;
        let kept = host.packets.get(number.wrapping_sub(host.first) as usize)?.as_ref()?;
        Some(&kept.bytes)
    }

    /// The packet has arrived at the host `to` and is no longer in flight. If the packet was duplicated, the other copy is
    /// still in flight.
    pub fn take(&mut self, flow: u32, to: Side, number: u32) -> Option<Vec<u8>> {
        let host = self.hosts.get_mut(place(flow, other(to)))?;
        let slot = host.packets.get_mut(number.wrapping_sub(host.first) as usize)?;
        let kept = slot.as_mut()?;
        kept.copies -= 1;
        if kept.copies > 0 {
            return Some(kept.bytes.clone());
        }
        let bytes = slot.take().map(|kept| kept.bytes);
        while let Some(None) = host.packets.front() {
            host.packets.pop_front();
            host.first = host.first.wrapping_add(1);
        }
        bytes
    }

    /// The packet is lost on its way to the host `to`.
    pub fn drop_one(&mut self, flow: u32, to: Side, number: u32) {
        let bytes = self.take(flow, to, number);
        self.spare.extend(bytes);
    }

    /// The network has duplicated the packet.
    pub fn double(&mut self, flow: u32, to: Side, number: u32) {
        let Some(host) = self.hosts.get_mut(place(flow, other(to))) else { return };
        let at = number.wrapping_sub(host.first) as usize;
        if let Some(Some(kept)) = host.packets.get_mut(at) {
            kept.copies += 1;
        }
    }

    /// Takes back the bytes of a packet for reuse.
    pub fn give_back(&mut self, bytes: Vec<u8>) {
        self.spare.push(bytes);
    }

    /// The number of packets in flight; a duplicated one counts once.
    pub fn len(&self) -> usize {
        self.hosts.iter().map(|host| host.packets.iter().flatten().count()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn place(flow: u32, side: Side) -> usize {
    2 * flow as usize + usize::from(side == Side::Receiver)
}

fn other(side: Side) -> Side {
    match side {
        Side::Sender => Side::Receiver,
        Side::Receiver => Side::Sender,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn packets_come_out_as_they_went_in_in_whatever_order(acts in prop::collection::vec((0u8..4, any::<prop::sample::Index>()), 0..200)) {
            let (mut kept, mut model) = (UnderWay::new(1), HashMap::<u32, (Vec<u8>, u32)>::new());
            let mut sent = 0u32;
            for (act, which) in acts {
                let mut known: Vec<u32> = model.keys().copied().collect();
                known.sort_unstable();
                if act == 0 || known.is_empty() {
                    let bytes = sent.to_be_bytes().to_vec();
                    prop_assert_eq!(kept.put(0, Side::Sender, &bytes), sent);
                    model.insert(sent, (bytes, 1));
                    sent += 1;
                    continue;
                }
                let number = *which.get(&known);
                let copies = &mut model.get_mut(&number).unwrap().1;
                if act == 1 {
                    kept.double(0, Side::Receiver, number);
                    *copies += 1;
                    continue;
                }
                *copies -= 1;
                let gone = *copies == 0;
                let expected = model[&number].0.clone();
                if act == 2 {
                    prop_assert_eq!(kept.peek(0, Side::Receiver, number), Some(&expected[..]));
                    let bytes = kept.take(0, Side::Receiver, number).unwrap();
                    prop_assert_eq!(&bytes, &expected);
                    kept.give_back(bytes);
                } else {
                    kept.drop_one(0, Side::Receiver, number);
                }
                if gone {
                    model.remove(&number);
                    prop_assert_eq!(kept.take(0, Side::Receiver, number), None);
                }
            }
            prop_assert_eq!(kept.len(), model.len());
        }
    }
}
