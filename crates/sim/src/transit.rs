//! A transit: one direction of a link whose packets leave in the order of their arrivals, at times known when they arrive.

use crate::measures::LinkMetering;
use crate::next_event::NEVER;
use crate::slab::{Slab, NONE};
use std::num::NonZeroU64;

/// A link's transmission rate and delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// The transmission time of one byte is `num / den` ns, in lowest terms; 0 / 1 is no time.
    pub(crate) num: u64,
    pub(crate) den: NonZeroU64,
    /// Propagation delay, ns.
    pub(crate) delay: u64,
}

impl Pace {
    /// The pace of a link of `rate` bits per second (`None`: transmission takes no time).
    pub(crate) fn new(rate: Option<u64>, delay: u64) -> Self {
        const NS_BITS_PER_BYTE: u64 = 8_000_000_000;
        let (num, den) = match rate {
            None => (0, 1),
            Some(rate) => {
                let d = gcd(NS_BITS_PER_BYTE, rate);
                (NS_BITS_PER_BYTE / d, rate / d)
            }
        };
        Pace { num, den: NonZeroU64::new(den).unwrap_or(NonZeroU64::MIN), delay }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

/// A time long after the end of every run; without this limit, a hopelessly slow link would overflow.
const FAR: u64 = 1 << 60;

/// A transmitter: when it will have sent all accepted packets. Fractions of a nanosecond are kept, so that rates are exact.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transmitter {
    free_at: u64,
    /// `rest / den` ns are added to `free_at`.
    rest: u64,
}

impl Transmitter {
    /// When it has sent, or will have sent, all accepted packets.
    pub(crate) fn free_at(&self) -> u64 {
        self.free_at
    }

    /// Another transmitter sends in its place until then.
    pub(crate) fn busy_until(&mut self, time: u64) {
        self.free_at = time;
    }

    /// Accepts `wire` bytes at `now`; returns when their transmission ends.
    #[inline]
    pub(crate) fn send(&mut self, now: u64, wire: u32, pace: &Pace) -> u64 {
        if now > self.free_at {
            self.free_at = now;
            self.rest = 0;
        }
        self.add(wire, pace)
    }

    /// The same. Unless the transmitter is idle, `waits` receives the time until the transmission begins, which may be 0.
    #[inline(always)]
    fn send_after(&mut self, now: u64, wire: u32, pace: &Pace, waits: impl FnOnce(u64)) -> u64 {
        if now > self.free_at {
            self.free_at = now;
            self.rest = 0;
        } else {
            waits(self.free_at - now);
        }
        self.add(wire, pace)
    }

    #[inline(always)]
    fn add(&mut self, wire: u32, pace: &Pace) -> u64 {
        let mut cost = u64::from(wire) * pace.num;
        if pace.den.get() != 1 {
            cost += self.rest;
            self.rest = cost % pace.den;
            cost /= pace.den;
        }
        self.free_at = (self.free_at + cost).min(FAR);
        self.free_at
    }

    /// When the transmission of the packet accepted last begins; its size was `wire`. If that is after the end of every run, the
    /// result is, too, but it may be earlier.
    pub(crate) fn began(&self, wire: u32, pace: &Pace) -> u64 {
        let (cost, den) = (u64::from(wire) * pace.num, pace.den.get());
        let rest_before = (self.rest + den - cost % den) % den;
        self.free_at - (cost + rest_before) / den
    }
}

/// How a link keeps its packets. `engine/form.rs` decides, and lists the forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Departures are known when packets enter; the packets are in the transit.
    Computed {
        /// Its queue is limited.
        limited: bool,
        /// Elements act at its entry.
        gated: bool,
    },
    /// The same, but elements hold packets back or add to their delay, so they may overtake each other: they are in the port.
    Overtaking {
        /// Its queue is limited.
        limited: bool,
        /// Elements act at its entry.
        gated: bool,
    },
    /// Packets wait in an explicit queue.
    Queued,
    /// The same, and packets enter the next link as soon as they leave the transmitter.
    HandsOn,
}

impl Form {
    fn bits(self) -> u32 {
        let computed =
            |limited, gated| (if limited { Transit::LIMITED } else { 0 }) | (if gated { Transit::GATED } else { 0 });
        match self {
            Form::Computed { limited, gated } => computed(limited, gated),
            Form::Overtaking { limited, gated } => computed(limited, gated) | Transit::OVERTAKING,
            Form::Queued => Transit::QUEUED,
            Form::HandsOn => Transit::QUEUED | Transit::HANDS_ON,
        }
    }
}

/// One direction of a link, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Transit {
    pub(crate) transmitter: Transmitter,
    pub(crate) pace: Pace,
    head: u32,
    tail: u32,
    /// Additional work for each packet (8 bits), and above that the place of the rest of the link's state.
    work: u32,
    /// The list of similar transits that may hold its packets; [`Transit::ALONE`] if none.
    pub(crate) shared: u8,
}

impl Transit {
    /// Its packets are in the transit itself.
    pub(crate) const ALONE: u8 = u8::MAX;
    const LIMITED: u32 = 1;
    const GATED: u32 = 2;
    const QUEUED: u32 = 4;
    const HANDS_ON: u32 = 8;
    const OVERTAKING: u32 = 16;

    /// The port of a plain transit is ignored.
    pub(crate) fn new(pace: Pace, form: Form, port: u32) -> Self {
        Transit {
            transmitter: Transmitter::default(),
            head: NONE,
            tail: NONE,
            pace,
            work: form.bits() | port << 8,
            shared: Self::ALONE,
        }
    }

    /// From now on its form is [`Form::HandsOn`].
    pub(crate) fn hand_on(&mut self) {
        self.work |= Form::HandsOn.bits();
    }

    /// Whether its packets enter the next link as soon as they leave the transmitter of this one, which is queued.
    #[inline]
    pub(crate) fn hands_on(&self) -> bool {
        self.is(Self::HANDS_ON)
    }

    /// Whether there is nothing but the transit: no limit, no elements.
    pub(crate) fn is_plain(&self) -> bool {
        self.work & 0xff == 0
    }

    /// Whether its queue is limited, and its departures are computed.
    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        self.is(Self::LIMITED)
    }

    /// Whether packets wait in an explicit queue.
    #[inline]
    pub(crate) fn is_queued(&self) -> bool {
        self.is(Self::QUEUED)
    }

    /// Whether packets may overtake each other on a computed link.
    #[inline]
    pub(crate) fn is_overtaking(&self) -> bool {
        self.is(Self::OVERTAKING)
    }

    /// Whether packets enter it through its port: elements act at its entry, or there is an explicit queue.
    #[inline]
    pub(crate) fn is_entered_by_port(&self) -> bool {
        self.is(Self::GATED | Self::QUEUED)
    }

    /// Whether its packets are in its port, not in the transit.
    #[inline]
    pub(crate) fn keeps_packets_in_port(&self) -> bool {
        self.is(Self::QUEUED | Self::OVERTAKING)
    }

    #[inline]
    fn is(&self, flags: u32) -> bool {
        self.work & flags != 0
    }

    /// The position of its port. Only for transits that are not plain.
    #[inline]
    pub(crate) fn port(&self) -> usize {
        (self.work >> 8) as usize
    }

    /// Appends packet `h`, whose arrival has this key. Returns `true` if it is the first: the transit has a new event.
    #[inline]
    pub(crate) fn push(&mut self, slab: &mut Slab, h: u32, key: u64) -> bool {
        let tail = std::mem::replace(&mut self.tail, h);
        if tail == NONE {
            self.head = h;
            return true;
        }
        let last = &mut slab[tail];
        last.next = h;
        last.next_key = key;
        false
    }

    /// Takes the first packet; returns it and the key of the next one's arrival, or [`NEVER`].
    #[inline]
    pub(crate) fn pop(&mut self, slab: &Slab) -> (u32, u64) {
        let h = self.head;
        if h == self.tail {
            self.tail = NONE;
            return (h, NEVER);
        }
        let p = &slab[h];
        self.head = p.next;
        (h, p.next_key)
    }

    /// Its first and its last packet, if there are any.
    pub(crate) fn ends(&self) -> (u32, u32) {
        (self.head, self.tail)
    }

    /// Packets in the transit, by walking it.
    pub(crate) fn count(&self, slab: &Slab) -> u32 {
        if self.tail == NONE {
            return 0;
        }
        let (mut n, mut h) = (1, self.head);
        while h != self.tail {
            h = slab[h].next;
            n += 1;
        }
        n
    }
}

/// A transit and its meter; without one it is only the transit.
pub(crate) struct Lane<L> {
    transit: Transit,
    pub(crate) meter: L,
}

impl<L: LinkMetering> Lane<L> {
    pub(crate) fn new(transit: Transit) -> Self {
        Lane { transit, meter: L::default() }
    }

    /// Gives the transmitter `wire` bytes at `now`; returns when their transmission ends.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: u64, wire: u32) -> u64 {
        let Lane { transit: Transit { transmitter, pace, .. }, meter } = self;
        if !L::ON {
            return transmitter.send(now, wire, pace);
        }
        transmitter.send_after(now, wire, pace, |wait| meter.waited(wait))
    }

    /// The two parts.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&Transit, &mut L) {
        (&self.transit, &mut self.meter)
    }
}

impl<L> std::ops::Deref for Lane<L> {
    type Target = Transit;
    #[inline(always)]
    fn deref(&self) -> &Transit {
        &self.transit
    }
}

impl<L> std::ops::DerefMut for Lane<L> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Transit {
        &mut self.transit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::LaneMeter;
    use crate::next_event::MAX_TIME;
    use proptest::prelude::*;

    #[test]
    fn a_lane_takes_one_line_and_another_if_measured() {
        assert_eq!((size_of::<Lane<()>>(), align_of::<Lane<()>>()), (64, 64));
        assert_eq!(size_of::<Lane<LaneMeter>>(), 128);
    }

    #[test]
    fn rates_are_exact_over_any_number_of_packets() {
        // 3 Mb/s: 40 bytes take 106 666.67 ns; 3 of them exactly 320 000.
        let pace = Pace::new(Some(3_000_000), 0);
        let mut t = Transmitter::default();
        let times: Vec<u64> = (0..3).map(|_| t.send(0, 40, &pace)).collect();
        assert_eq!(times, [106_666, 213_333, 320_000]);
        // An idle transmitter begins at the nanosecond at which the packet arrives.
        assert_eq!(t.send(1_000_000, 40, &pace), 1_106_666);
    }

    #[test]
    fn a_hopelessly_slow_link_sends_after_the_end_of_every_run() {
        let pace = Pace::new(Some(1), 0);
        let mut t = Transmitter::default();
        for _ in 0..100_000 {
            t.send(0, 9000, &pace);
        }
        assert_eq!(t.free_at(), FAR);
        assert!(t.began(9000, &pace) >= MAX_TIME);
    }

    proptest! {
        #[test]
        fn the_beginning_of_a_transmission_can_be_told_from_its_end(
            rate in 1_000u64..100_000_000_000,
            packets in prop::collection::vec((0u64..3_000_000, 40u32..9000), 1..100),
        ) {
            let pace = Pace::new(Some(rate), 0);
            let (mut t, mut now) = (Transmitter::default(), 0);
            for (gap, wire) in packets {
                now += gap;
                let mut waited = 0;
                t.send_after(now, wire, &pace, |wait| waited = wait);
                prop_assert_eq!(t.began(wire, &pace), now + waited);
            }
        }

        #[test]
        fn a_busy_transmitter_is_never_more_than_a_nanosecond_off(rate in 1_000u64..100_000_000_000, sizes in prop::collection::vec(40u32..9000, 1..100)) {
            let pace = Pace::new(Some(rate), 0);
            let mut t = Transmitter::default();
            let mut bytes = 0u128;
            for wire in sizes {
                bytes += u128::from(wire);
                let exact = bytes * 8_000_000_000 / u128::from(rate);
                prop_assert_eq!(u128::from(t.send(0, wire, &pace)), exact);
            }
        }

        #[test]
        fn packets_leave_in_the_order_in_which_they_came(gaps in prop::collection::vec((0u64..5, any::<bool>()), 1..100)) {
            let (mut slab, mut transit) = (Slab::new(), Transit::new(Pace::new(None, 0), Form::Computed { limited: false, gated: false }, 0));
            let mut model = std::collections::VecDeque::new();
            let mut at = 0;
            for (gap, pop) in gaps {
                at += gap;
                let h = slab.alloc();
                prop_assert_eq!(transit.push(&mut slab, h, at), model.is_empty());
                model.push_back((h, at));
                if pop {
                    let (first, _) = model.pop_front().unwrap();
                    prop_assert_eq!(transit.pop(&slab), (first, model.front().map_or(NEVER, |m| m.1)));
                    slab.free(first);
                }
                prop_assert_eq!(transit.count(&slab) as usize, model.len());
            }
        }
    }
}
