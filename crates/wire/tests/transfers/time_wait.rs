//! Connections in TIME-WAIT: how the application sees them, how long they last, how many there are, and
//! how a new one may follow immediately.

use crate::lan::{all, at, config, give, read, talk, BUFFERS};
use ackclock_tcp::connection::State;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::host::{Arrival, ConnectError, Host};
use ackclock_wire::options::Timestamps;
use ackclock_wire::{Header, Packet, Secret};

const SERVER: &str = "10.1.0.2:7";
const CLIENT: &str = "10.1.0.1:5000";

/// A server that closed first and is in TIME-WAIT, its client, the time, and the client's FIN.
struct Over {
    server: Host,
    client: Host,
    stack: Stack,
    now: Time,
    fin: Vec<u8>,
}

impl Over {
    fn new(timestamps: bool) -> Over {
        let mut stack = Stack::named("linux-2025").unwrap();
        stack.options.timestamps = timestamps;
        let mut server = Host::new(config(2), Secret::new([2; 16]));
        server.listen(at(SERVER), &stack, BUFFERS, 4).unwrap();
        let client = Host::new(config(1), Secret::new([1; 16]));
        let mut over = Over { server, client, stack, now: Time(1_000_000_000), fin: vec![] };
        over.once();
        over
    }

    /// A connection is established, and the server closes it.
    fn once(&mut self) {
        let Over { server, client, stack, now, fin } = self;
        let id = client.connect(*now, at(CLIENT), at(SERVER), stack, BUFFERS).unwrap();
        talk(client, server, *now);
        let other = server.accept(at(SERVER)).expect("a connection");
        server.endpoint_mut(other).unwrap().write(&[9; 5000]);
        server.remove(*now, other);
        *now += Nanos::from_millis(50);
        talk(client, server, *now);
        let mut heard = [0; 6000];
        assert_eq!(client.endpoint_mut(id).unwrap().read(&mut heard), 5000);
        client.remove(*now, id);
        *fin = all(client, *now).into_iter().find(|p| read(p).header.flags & Segment::FIN != 0).unwrap();
        give(server, *now, fin);
        let answer = all(server, *now);
        answer.iter().for_each(|p| _ = give(client, *now, p));
        assert_eq!(all(client, *now).len(), 0);
        assert_eq!((client.connections(), server.connections(), server.time_waits()), (0, 0, 1));
    }

    /// The server's answer to the client's FIN with these changes.
    fn answer(&mut self, change: impl FnOnce(&mut Header), payload: &[u8]) -> Option<Header> {
        let bytes = self.fin.clone();
        let packet = read(&bytes);
        let mut header = packet.header;
        change(&mut header);
        self.server.on_packet(self.now, &Packet { header, payload, ..packet }, &mut ());
        let sent = all(&mut self.server, self.now);
        assert!(sent.len() <= 1);
        sent.first().map(|p| read(p).header)
    }

    fn at_next_timer(&mut self) {
        self.now = self.server.next_timer().unwrap();
        self.server.on_timer(self.now, &mut ());
    }
}

#[test]
fn a_wait_lasts_a_minute_from_the_last_fin_and_only_the_fin_restarts_it() {
    let mut over = Over::new(true);
    assert_eq!(over.server.next_timer(), Some(over.now + Nanos::from_secs(60)));
    over.now += Nanos::from_secs(50);
    let late = over.answer(|h| h.seq.0 = h.seq.0.wrapping_add(500_000_000), &[]).unwrap();
    assert_eq!(late.flags, Segment::ACK);
    over.answer(|h| h.flags = Segment::ACK, &[1, 2, 3]).unwrap();
    assert_eq!(over.server.next_timer(), Some(over.now + Nanos::from_secs(10)));
    let again = over.answer(|_| {}, &[]).unwrap();
    let fin = read(&over.fin).header;
    assert_eq!((again.flags, again.seq, again.ack.0), (Segment::ACK, fin.ack, fin.seq.0.wrapping_add(1)));
    assert_eq!(again.options.timestamps.map(|t| t.echo), fin.options.timestamps.map(|t| t.value));
    assert_eq!(over.server.next_timer(), Some(over.now + Nanos::from_secs(60)));
    over.at_next_timer();
    assert_eq!((over.server.time_waits(), over.server.next_timer()), (0, None));
    let stray = over.answer(|_| {}, &[]).unwrap();
    assert_eq!(stray.flags & Segment::RST, Segment::RST, "now it is for nobody");
}

#[test]
fn a_fin_with_an_old_timestamp_is_answered_and_does_not_restart_the_wait() {
    let mut over = Over::new(true);
    let ends = over.server.next_timer();
    over.now += Nanos::from_secs(10);
    let older = |h: &mut Header| {
        h.options.timestamps = h.options.timestamps.map(|t| Timestamps { value: t.value.wrapping_sub(1), ..t });
    };
    assert_eq!(over.answer(older, &[]).map(|a| a.flags), Some(Segment::ACK), "RFC 7323 §5.3 R1");
    assert_eq!(over.server.next_timer(), ends);
}

#[test]
fn only_a_reset_with_the_very_next_number_ends_a_wait_and_nothing_answers_one() {
    let mut over = Over::new(true);
    let reset = |h: &mut Header, by: u32| {
        h.flags = Segment::RST;
        h.seq.0 = h.seq.0.wrapping_add(by);
    };
    for by in [0, 2, 1000] {
        assert_eq!(over.answer(|h| reset(h, by), &[]), None);
        assert_eq!(over.server.time_waits(), 1, "{by}");
    }
    assert_eq!(over.answer(|h| reset(h, 1), &[]), None);
    assert_eq!(over.server.time_waits(), 0);
}

#[test]
fn a_syn_that_is_newer_opens_the_connection_again_and_an_older_one_is_answered() {
    for timestamps in [true, false] {
        let mut over = Over::new(timestamps);
        let newest = read(&over.fin).header.options.timestamps.map(|t| t.value);
        let syn = |seq: u32, tick: i32| {
            move |h: &mut Header| {
                (h.flags, h.ack, h.seq) = (Segment::SYN, SeqNum(0), SeqNum(h.seq.0.wrapping_add(seq)));
                let stamp = |v: u32| Timestamps { value: v.wrapping_add_signed(tick), echo: 0 };
                h.options.timestamps = newest.map(stamp);
            }
        };
        let last = over.answer(syn(0u32.wrapping_sub(5_000), -1), &[]).unwrap();
        assert_eq!(last.flags, Segment::ACK, "an old SYN");
        if timestamps {
            assert_eq!(over.answer(syn(100_000, -1), &[]).unwrap().flags, Segment::ACK);
            assert_eq!(over.answer(syn(0u32.wrapping_sub(9), 0), &[]).unwrap().flags, Segment::ACK);
        }
        let seq = if timestamps { 0u32.wrapping_sub(1_000_000) } else { 100_000 };
        let answer = over.answer(syn(seq, 1), &[]).unwrap();
        assert_eq!(answer.flags, Segment::SYN | Segment::ACK);
        assert!(answer.seq.0.wrapping_sub(last.seq.0) as i32 > 0xffff, "our numbers go on as well");
        assert_eq!((over.server.time_waits(), over.server.counters().time_wait_recycled), (0, 1));
    }
}

#[test]
fn the_same_ends_connect_again_and_again_without_waiting() {
    let mut over = Over::new(true);
    for _ in 0..20 {
        over.now += Nanos::from_millis(10);
        over.once();
    }
    assert_eq!(over.server.counters().time_wait_recycled, 20);
}

#[test]
fn who_waits_opens_no_connection_between_the_same_ends() {
    let mut over = Over::new(true);
    let mut connect = |local| over.server.connect(over.now, at(local), at(CLIENT), &over.stack, BUFFERS);
    assert_eq!(connect(SERVER), Err(ConnectError::InUse));
    connect("10.1.0.2:8").unwrap();
}

#[test]
fn waits_are_small_and_no_more_than_allowed_and_the_oldest_goes_first() {
    let mut few = config(2);
    few.max_time_wait = 3;
    let stack = Stack::named("linux-2025").unwrap();
    let mut server = Host::new(few, Secret::new([2; 16]));
    server.listen(at(SERVER), &stack, BUFFERS, 4).unwrap();
    let mut client = Host::new(config(1), Secret::new([1; 16]));
    for i in 1..=5 {
        let now = Time(i * 1_000_000_000);
        let id = client.connect(now, at("10.1.0.1:0"), at(SERVER), &stack, BUFFERS).unwrap();
        talk(&mut client, &mut server, now);
        let other = server.accept(at(SERVER)).unwrap();
        server.remove(now, other);
        talk(&mut client, &mut server, now);
        client.remove(now, id);
        talk(&mut client, &mut server, now);
    }
    assert_eq!((server.time_waits(), server.counters().time_wait_overflows), (3, 2));
    assert_eq!(server.next_timer(), Some(Time(63_000_000_000)));
}

#[test]
fn what_arrived_can_be_read_while_the_connection_waits() {
    let stack = Stack::named("linux-2025").unwrap();
    let [mut a, mut b] = [1, 2].map(|n| Host::new(config(n), Secret::new([n; 16])));
    b.listen(at(SERVER), &stack, BUFFERS, 4).unwrap();
    let id = a.connect(Time(0), at("10.1.0.1:0"), at(SERVER), &stack, BUFFERS).unwrap();
    talk(&mut a, &mut b, Time(1));
    a.endpoint_mut(id).unwrap().close();
    talk(&mut a, &mut b, Time(2));
    let other = b.accept(at(SERVER)).unwrap();
    b.endpoint_mut(other).unwrap().write(b"farewell");
    b.endpoint_mut(other).unwrap().close();
    talk(&mut a, &mut b, Time(3));
    let end = a.endpoint(id).unwrap();
    assert_eq!((end.state(), end.readable().0), (State::TimeWait, b"farewell".as_slice()));
    assert_eq!((a.time_waits(), a.connections()), (1, 1));
    a.endpoint_mut(id).unwrap().consume(8);
    a.remove(Time(4), id);
    assert_eq!((all(&mut a, Time(4)).len(), a.connections(), a.time_waits()), (0, 0, 1));
}

#[test]
fn in_a_wait_data_is_answered_and_what_has_no_ack_is_dropped() {
    // RFC 9293 §3.10.7.4: first the sequence number, fifth the ACK field ("if the ACK bit is off, drop the segment").
    let mut over = Over::new(true);
    let expected = |flags: u8| move |h: &mut Header| (h.flags, h.seq.0) = (flags, h.seq.0.wrapping_add(1));
    assert_eq!(over.answer(expected(0), &[1, 2, 3]), None);
    assert_eq!(over.answer(expected(Segment::ACK), &[1, 2, 3]).map(|a| a.flags), Some(Segment::ACK));
    assert_eq!(over.answer(expected(Segment::ACK), &[]), None, "an ACK in place wants no answer");
}

#[test]
fn waits_can_be_ended_so_that_nothing_is_known_of_the_connection() {
    let mut over = Over::new(true);
    over.server.end_time_waits();
    assert_eq!((over.server.time_waits(), over.server.next_timer()), (0, None));
    let stray = over.answer(|_| {}, &[]).unwrap();
    assert_eq!(stray.flags & Segment::RST, Segment::RST, "it is for nobody");
}

#[test]
fn a_listener_may_accept_from_the_end_of_a_handshake_until_it_has() {
    let stack = Stack::named("linux-2025").unwrap();
    let [mut a, mut b] = [1, 2].map(|n| Host::new(config(n), Secret::new([n; 16])));
    assert!(!b.may_accept(at(SERVER)), "nobody listens");
    b.listen(at(SERVER), &stack, BUFFERS, 4).unwrap();
    a.connect(Time(0), at(CLIENT), at(SERVER), &stack, BUFFERS).unwrap();
    assert!(!b.may_accept(at(SERVER)));
    talk(&mut a, &mut b, Time(1));
    assert!(b.may_accept(at(SERVER)));
    b.accept(at(SERVER)).expect("a connection");
    assert!(!b.may_accept(at(SERVER)));
}

#[test]
fn a_syn_without_an_answer_is_repeated_as_often_as_the_host_says() {
    let stack = Stack::named("linux-2025").unwrap();
    for retries in [1, 3] {
        let mut config = config(1);
        config.syn.retries = retries;
        let mut host = Host::new(config, Secret::new([1; 16]));
        host.connect(Time(0), at(CLIENT), at(SERVER), &stack, BUFFERS).unwrap();
        let mut syns = all(&mut host, Time(0)).len();
        while let Some(now) = host.next_timer() {
            host.on_timer(now, &mut ());
            syns += all(&mut host, now).len();
        }
        assert_eq!(syns, 1 + retries as usize);
    }
}

#[test]
fn answers_to_late_segments_have_a_limit() {
    let mut over = Over::new(true);
    let answered = (0..1000).filter(|_| over.answer(|_| {}, &[]).is_some()).count();
    assert_eq!(answered, 200);
    let mut fin = read(&over.fin).header;
    fin.flags = Segment::ACK;
    fin.seq.0 = fin.seq.0.wrapping_add(1);
    let bare = Packet { header: fin, option_bytes: &[], payload: &[], train: 1 };
    assert_eq!(over.server.on_packet(over.now, &bare, &mut ()), Arrival::Ignored, "an ACK in place wants no answer");
}
