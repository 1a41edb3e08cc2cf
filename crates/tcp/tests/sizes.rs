//! Sizes of the parts of a flow: they let a simulation of 10,000 flows fit into the cache. A change must be
//! deliberate.

use ackclock_tcp::ack::AnyAck;
use ackclock_tcp::congestion::AnyCongestion;
use ackclock_tcp::connection::Connection;
use ackclock_tcp::detect::threshold::AnyThreshold;
use ackclock_tcp::detect::AnyDetect;
use ackclock_tcp::disorder::AnyDisorder;
use ackclock_tcp::event::Event;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{Episode, Ledger};
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::receiver::Receiver;
use ackclock_tcp::recovery::AnyRecovery;
use ackclock_tcp::rto::AnyRto;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::sender::Sender;
use ackclock_tcp::spurious::AnySpurious;
use ackclock_tcp::stack::Slots;
use ackclock_tcp::startup::AnyStartup;
use ackclock_tcp::timeout::AnyTimeout;
use ackclock_tcp::undo::AnyUndo;

macro_rules! sizes {
    ($($t:ty),+ $(,)?) => { [$((stringify!($t), size_of::<$t>())),+] };
}

#[test]
fn what_a_flow_is_made_of_keeps_its_size() {
    let got = sizes![
        Segment,
        Sent,
        Event,
        AckEvent,
        Ctx,
        Episode,
        Connection,
        Sender,
        Receiver,
        Scoreboard,
        Ledger,
        Slots,
        AnyAck,
        AnyRto,
        AnyCongestion,
        AnyDetect,
        AnyThreshold,
        AnyDisorder,
        AnyRecovery,
        AnyTimeout,
        AnyStartup,
        AnySpurious,
        AnyUndo,
    ];
    let want = [
        ("Segment", 72),
        ("Sent", 32),
        ("Event", 40),
        ("AckEvent", 112),
        ("Ctx", 128),
        ("Episode", 128),
        ("Connection", 56),
        ("Sender", 704),
        ("Receiver", 136),
        ("Scoreboard", 184),
        ("Ledger", 32),
        ("Slots", 304),
        ("AnyAck", 24),
        ("AnyRto", 88),
        ("AnyCongestion", 16),
        ("AnyDetect", 40),
        ("AnyThreshold", 24),
        ("AnyDisorder", 24),
        ("AnyRecovery", 40),
        ("AnyTimeout", 24),
        ("AnyStartup", 24),
        ("AnySpurious", 24),
        ("AnyUndo", 24),
    ];
    assert_eq!(got[..], want[..]);
}
