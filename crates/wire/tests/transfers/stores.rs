//! The stores against a model: whatever arrives, and whatever is refused, the bytes read are the
//! stream.

use ackclock_tcp::connection::{Connection, Sides};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_wire::{ReceiveStore, SendStore};
use proptest::prelude::*;

const WINDOW: u64 = 6_000;

#[derive(Clone, Debug)]
enum Do {
    /// A segment of the stream, at this distance from the next expected byte.
    Right {
        ahead: i64,
        len: u32,
    },
    /// The same place with other bytes: an old timestamp, which PAWS refuses.
    Old {
        ahead: i64,
        len: u32,
    },
    /// Other bytes with a RST or SYN inside the window, which are answered but not accepted.
    Flagged {
        ahead: i64,
        len: u32,
        flag: u8,
    },
    /// Other bytes where all data has already arrived.
    Again {
        len: u32,
    },
    /// Other bytes beyond the window.
    Beyond {
        len: u32,
    },
    Read(usize),
}

fn steps() -> impl Strategy<Value = Vec<Do>> {
    let place = || (-2000i64..7000, 0u32..2500);
    let one = prop_oneof![
        6 => place().prop_map(|(ahead, len)| Do::Right { ahead, len }),
        1 => (0u32..1500).prop_map(|len| Do::Right { ahead: 0, len }),
        2 => place().prop_map(|(ahead, len)| Do::Old { ahead, len }),
        1 => (1i64..6000, 0u32..2500, prop_oneof![Just(Segment::RST), Just(Segment::SYN)])
            .prop_map(|(ahead, len, flag)| Do::Flagged { ahead, len, flag }),
        2 => (1u32..2500).prop_map(|len| Do::Again { len }),
        1 => (1u32..2500).prop_map(|len| Do::Beyond { len }),
        3 => (0usize..3000).prop_map(Do::Read),
    ];
    prop::collection::vec(one, 1..120)
}

/// The stream's byte at an offset; bytes that are not of the stream have all bits inverted.
fn byte(at: u64) -> u8 {
    (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

struct End {
    connection: Connection,
    store: ReceiveStore,
    now: Time,
    read: u64,
    taken: u64,
}

impl End {
    fn new(room: u64) -> End {
        let mut stack = Stack::named("sack-ff96").unwrap();
        stack.options.timestamps = true;
        let mut connection = Connection::established(&stack, Sides::Both, 1000, WINDOW);
        let store = ReceiveStore::new(&mut connection, room);
        let mut end = End { connection, store, now: Time(1), read: 0, taken: 0 };
        end.give(Offset::DATA, 1, 1000, 0, true);
        end
    }

    fn give(&mut self, seq: Offset, len: u32, tsval: u32, flags: u8, right: bool) {
        let flags = flags | Segment::ACK;
        let seg = Segment {
            seq,
            ack: Offset::DATA,
            len,
            wnd: 9000,
            flags,
            tsval,
            opts: Segment::TIMESTAMPS,
            ..Segment::EMPTY
        };
        let first = seq.0 + u64::from(flags & Segment::SYN != 0);
        let payload: Vec<u8> = (0..u64::from(len)).map(|i| byte(first + i) ^ if right { 0 } else { 0xff }).collect();
        self.now.0 += 1_000_000;
        let taken = self.store.on_segment(&mut self.connection, self.now, &seg, &payload, &mut ());
        assert!(right || taken.bytes == 0, "took what is not of the stream: {seg:?}");
        self.taken += u64::from(taken.bytes);
        let mut out = Segment::EMPTY;
        while self.connection.poll_transmit(self.now, &mut out, &mut ()) {}
    }

    fn read(&mut self, n: usize) {
        let mut out = vec![0; n];
        let n = self.store.read(&mut self.connection, &mut out);
        for (i, got) in out[..n].iter().enumerate() {
            assert_eq!(*got, byte(1 + self.read + i as u64), "byte {}", self.read + i as u64);
        }
        self.read += n as u64;
    }

    fn happen(&mut self, what: Do) {
        let (next, edge) = self.connection.receiver().map(|r| (r.rcv_nxt(), r.right_edge())).unwrap();
        let at = |ahead: i64| Offset(next.0.saturating_add_signed(ahead).max(1));
        match what {
            Do::Right { ahead, len } => self.give(at(ahead), len, 1000, 0, true),
            Do::Old { ahead, len } => self.give(at(ahead), len, 999, 0, false),
            Do::Flagged { ahead, len, flag } => self.give(at(ahead), len, 1000, flag, false),
            Do::Beyond { len } => self.give(edge, len, 1000, 0, false),
            Do::Again { len } => {
                let held =
                    self.connection.receiver().and_then(|r| r.out_of_order().last()).unwrap_or((Offset(1), next));
                let len = len.min((held.1 - held.0) as u32);
                self.give(held.0, len, 1000, 0, false);
            }
            Do::Read(n) => self.read(n),
        }
        let held: u64 = self.connection.receiver().iter().flat_map(|r| r.out_of_order()).map(|(l, r)| r - l).sum();
        assert_eq!(self.taken, self.connection.received() + held, "the store has what the engine has");
    }
}

proptest! {
    #[test]
    fn what_is_read_is_the_stream_whatever_arrives_and_is_refused(steps in steps(), room in prop_oneof![Just(WINDOW), 1u64..3000]) {
        let mut end = End::new(room);
        steps.into_iter().for_each(|what| end.happen(what));
        // The missing data arrives, and everything can be read.
        let last = end.connection.receiver().unwrap().right_edge().0 + 10_000;
        while end.connection.received() < last {
            let next = end.connection.receiver().unwrap().rcv_nxt();
            end.give(next, 500, 1000, 0, true);
            end.read(700);
        }
        end.read(1 << 17);
        prop_assert_eq!(end.read, end.connection.received());
    }

    #[test]
    fn a_send_store_gives_back_what_was_written_until_it_is_acknowledged(
        steps in prop::collection::vec((0usize..900, 0u64..900), 1..60),
    ) {
        let mut connection = Connection::established(&Stack::named("reno").unwrap(), Sides::Both, 100, 1 << 20);
        let mut store = SendStore::new(1000);
        let (mut written, mut out, mut now) = (0u64, Segment::EMPTY, Time(1));
        for (write, ack) in steps {
            let bytes: Vec<u8> = (0..write as u64).map(|i| byte(written + i)).collect();
            prop_assert_eq!(store.room(&connection) as u64, 1024 - (written - connection.acked()));
            let n = store.write(&mut connection, &bytes, false);
            prop_assert_eq!(n as u64, (write as u64).min(1024 - (written - connection.acked())));
            written += n as u64;
            now.0 += 1_000_000;
            while connection.poll_transmit(now, &mut out, &mut ()) {
                let mut got = vec![0; out.len as usize];
                store.copy(out.seq, &mut got);
                let want: Vec<u8> = (0..u64::from(out.len)).map(|i| byte(out.seq.0 - 1 + i)).collect();
                prop_assert_eq!(got, want);
            }
            let (una, _, max) = connection.sender().unwrap().positions();
            let ack = Offset((una.0 + ack).min(max.0));
            let seg = Segment { seq: Offset::DATA, ack, wnd: 1 << 20, flags: Segment::ACK, ..Segment::EMPTY };
            connection.on_segment(now, &seg, &mut ());
        }
    }
}

#[test]
fn a_send_store_is_never_asked_for_bytes_that_it_no_longer_has() {
    let mut connection = Connection::established(&Stack::named("reno").unwrap(), Sides::Both, 100, 1 << 20);
    let mut store = SendStore::new(16);
    store.write(&mut connection, &[1; 16], false);
    let (mut out, mut now) = (Segment::EMPTY, Time(1));
    while connection.poll_transmit(now, &mut out, &mut ()) {}
    now.0 += 1_000_000;
    let ack = Segment { seq: Offset::DATA, ack: Offset(11), wnd: 9000, flags: Segment::ACK, ..Segment::EMPTY };
    connection.on_segment(now, &ack, &mut ());
    assert_eq!(store.write(&mut connection, &[2; 16], false), 10);
    let copied = |at: u64, len| {
        std::panic::catch_unwind(|| {
            let mut bytes = vec![9; len];
            store.copy(Offset(at), &mut bytes);
            bytes
        })
    };
    assert_eq!(copied(11, 16).unwrap(), [[1; 6].as_slice(), &[2; 10]].concat());
    assert!(copied(10, 16).is_err(), "its first byte has been overwritten");
    assert!(copied(12, 16).is_err(), "its last byte was never written");
}

#[test]
fn a_connection_that_is_gone_takes_no_bytes_and_what_arrived_before_can_be_read() {
    let mut end = End::new(WINDOW);
    end.give(Offset(2), 99, 1000, 0, true);
    let reset = Segment { seq: Offset(101), flags: Segment::RST, ..Segment::EMPTY };
    end.store.on_segment(&mut end.connection, Time(1 << 40), &reset, &[], &mut ());
    assert!(end.connection.close_reason().is_some());
    assert_eq!(SendStore::new(100).write(&mut end.connection, b"late", false), 0);
    end.read(1000);
    assert_eq!(end.read, 100);
}
