//! Hosts: many connections over one wire, listeners, and segments without a connection.

use crate::lan::{all, at, config, give, read, talk, Lan, BUFFERS};
use crate::net::Harm;
use ackclock_tcp::connection::{CloseReason, State};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_wire::host::{Arrival, ConnectError, Host, ListenError};
use ackclock_wire::Secret;

const SERVER: &str = "10.1.0.2:7";

fn stack() -> Stack {
    Stack::named("linux-2025").unwrap()
}

/// A client, and a server that listens at `SERVER`.
fn two() -> [Host; 2] {
    let mut hosts = [1, 2].map(|n| Host::new(config(n), Secret::new([n; 16])));
    hosts[1].listen(at(SERVER), &stack(), BUFFERS, 4).unwrap();
    hosts
}

#[test]
fn two_hundred_connections_at_once_over_a_bad_wire_bring_all_bytes_back() {
    let harm = Harm { lost: 2, late: 5, doubled: 2 };
    let mut lan = Lan::new([config(1), config(2)], harm, 5);
    let listening = [at("0.0.0.0:7"), at("[::]:7"), at("10.1.0.2:8")];
    for at in listening {
        lan.hosts[1].listen(at, &stack(), BUFFERS, 200).unwrap();
    }
    let names: Vec<_> = Stack::names().collect();
    for i in 0..200 {
        let (local, remote) = match i % 3 {
            0 => ("10.1.0.1:0", "10.1.0.2:7"),
            1 => ("[fd00::1]:0", "[fd00::2]:7"),
            _ => ("10.1.0.1:0", "10.1.0.2:8"),
        };
        let stack = Stack::named(names[i % names.len()]).unwrap();
        lan.open(&stack, at(local), at(remote), 20_000 + 317 * i as u64);
    }
    lan.run(&listening);
    assert_eq!(lan.done, 200);
    assert!(lan.most <= 200, "{} connections", lan.most);
}

#[test]
fn a_connection_is_made_accepted_and_gone_when_both_have_closed() {
    let [mut a, mut b] = two();
    let id = a.connect(Time(0), at("10.1.0.1:0"), at(SERVER), &stack(), BUFFERS).unwrap();
    assert_eq!(b.accept(at(SERVER)), None);
    talk(&mut a, &mut b, Time(1));
    assert_eq!(a.next_changed(), Some(id));
    assert_eq!(a.endpoint(id).unwrap().state(), State::Established);
    let other = b.accept(at(SERVER)).unwrap();
    assert_eq!((b.accept(at(SERVER)), b.next_changed(), b.next_changed()), (None, Some(other), None));
    a.endpoint_mut(id).unwrap().write(b"good day");
    talk(&mut a, &mut b, Time(2));
    assert_eq!(b.next_changed(), Some(other));
    assert_eq!(b.endpoint(other).unwrap().readable().0, b"good day");
    b.endpoint_mut(other).unwrap().consume(8);
    b.remove(Time(3), other);
    talk(&mut a, &mut b, Time(3));
    assert!(a.endpoint(id).unwrap().is_at_end() && b.endpoint(other).is_none());
    a.remove(Time(4), id);
    talk(&mut a, &mut b, Time(4));
    assert_eq!([a.connections(), b.next_timer().map_or(0, |_| 1)], [0, 1], "the one that closed first waits");
}

#[test]
fn a_segment_for_no_connection_is_reset_and_one_for_another_host_is_not() {
    let [mut a, mut b] = two();
    let id = a.connect(Time(0), at("10.1.0.1:5000"), at("10.1.0.2:9"), &stack(), BUFFERS).unwrap();
    let syn = all(&mut a, Time(0)).remove(0);
    assert_eq!(give(&mut b, Time(1), &syn), Arrival::Answered);
    let reset = all(&mut b, Time(1)).remove(0);
    assert_eq!(read(&reset).header.flags, Segment::RST | Segment::ACK);
    give(&mut a, Time(2), &reset);
    assert_eq!(a.endpoint(id).unwrap().connection().close_reason(), Some(CloseReason::Reset));
    assert_eq!(give(&mut b, Time(3), &reset), Arrival::Ignored, "a RST is not answered");
    let mut elsewhere = Host::new(config(3), Secret::new([3; 16]));
    assert_eq!(give(&mut elsewhere, Time(4), &syn), Arrival::Ignored);
    assert_eq!((elsewhere.counters().not_ours, all(&mut elsewhere, Time(4)).len()), (1, 0));
}

#[test]
fn data_for_an_application_that_has_gone_is_reset() {
    for unread in [true, false] {
        let [mut a, mut b] = two();
        let id = a.connect(Time(0), at("10.1.0.1:0"), at(SERVER), &stack(), BUFFERS).unwrap();
        talk(&mut a, &mut b, Time(1));
        let other = b.accept(at(SERVER)).unwrap();
        if unread {
            a.endpoint_mut(id).unwrap().write(b"unread");
            talk(&mut a, &mut b, Time(2));
        }
        b.remove(Time(3), other);
        talk(&mut a, &mut b, Time(3));
        a.endpoint_mut(id).unwrap().write(b"late");
        talk(&mut a, &mut b, Time(4));
        assert_eq!(a.endpoint(id).unwrap().connection().close_reason(), Some(CloseReason::Reset));
        assert_eq!(b.connections(), 0);
    }
}

#[test]
fn no_two_connections_have_the_same_ends_and_what_cannot_be_is_refused() {
    let [mut a, mut b] = two();
    let mut connect = |local, remote| a.connect(Time(0), at(local), at(remote), &stack(), BUFFERS);
    connect("10.1.0.1:5000", SERVER).unwrap();
    assert_eq!(connect("10.1.0.1:5000", SERVER), Err(ConnectError::InUse));
    connect("10.1.0.1:5000", "10.1.0.2:8").unwrap();
    assert!(matches!(connect("10.1.0.9:1", SERVER), Err(ConnectError::NotOurs(_))));
    assert!(matches!(connect("[fd00::1]:1", SERVER), Err(ConnectError::Border(_))));
    assert!(matches!(b.listen(at(SERVER), &stack(), BUFFERS, 1), Err(ListenError::InUse(_))));
    assert!(matches!(b.listen(at("10.1.0.1:7"), &stack(), BUFFERS, 1), Err(ListenError::NotOurs(_))));
}

#[test]
fn ports_are_chosen_until_there_are_none_and_never_one_that_is_listened_at() {
    let mut few = config(1);
    few.ports = 6000..=6003;
    let mut a = Host::new(few, Secret::new([1; 16]));
    a.listen(at("10.1.0.1:6001"), &stack(), BUFFERS, 1).unwrap();
    let mut connect = || a.connect(Time(0), at("10.1.0.1:0"), at(SERVER), &stack(), BUFFERS);
    let ids = [connect(), connect(), connect()].map(Result::unwrap);
    assert_eq!(connect(), Err(ConnectError::NoFreePort));
    let mut ports = ids.map(|id| a.endpoint(id).unwrap().border().local().port());
    ports.sort_unstable();
    assert_eq!(ports, [6000, 6002, 6003]);
}

#[test]
fn who_does_not_accept_makes_clients_wait_and_gets_no_more_than_its_backlog() {
    let [mut a, mut b] = two();
    let connect = |a: &mut Host| a.connect(Time(0), at("10.1.0.1:0"), at(SERVER), &stack(), BUFFERS).unwrap();
    let ids: Vec<_> = (0..10)
        .map(|_| {
            let id = connect(&mut a);
            talk(&mut a, &mut b, Time(1));
            id
        })
        .collect();
    let state = |a: &Host, i: usize| a.endpoint(ids[i]).unwrap().state();
    assert_eq!((state(&a, 3), state(&a, 4), b.connections()), (State::Established, State::SynSent, 4));
    assert_eq!((b.counters().listen_overflows, b.counters().listen_drops), (6, 6));
    let accepted: Vec<_> = std::iter::from_fn(|| b.accept(at(SERVER))).collect();
    assert_eq!(accepted.len(), 4);
    // Their SYNs are retransmitted.
    let again = a.next_timer().unwrap();
    a.on_timer(again, &mut ());
    talk(&mut a, &mut b, again);
    // Four of them have a place, and two a cookie.
    assert_eq!(std::iter::from_fn(|| b.accept(at(SERVER))).count(), 6);
    assert!((4..10).all(|i| state(&a, i) == State::Established));
}

#[test]
fn when_the_listener_ends_connections_not_accepted_are_reset() {
    let [mut a, mut b] = two();
    let id = a.connect(Time(0), at("10.1.0.1:0"), at(SERVER), &stack(), BUFFERS).unwrap();
    talk(&mut a, &mut b, Time(1));
    b.unlisten(at(SERVER));
    talk(&mut a, &mut b, Time(2));
    assert_eq!(a.endpoint(id).unwrap().connection().close_reason(), Some(CloseReason::Reset));
    assert_eq!((b.connections(), b.next_timer()), (0, None));
    b.listen(at(SERVER), &stack(), BUFFERS, 1).unwrap();
}
