//! The guide shows the example, and the example behaves as the guide says.

#[path = "../examples/echo.rs"]
mod echo;

use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::{parse, Buffers, Checksums, Host, HostConfig, Secret, Writing};
use echo::{serve, two_connections, Wire};

const GUIDE: &str = include_str!("../../../docs/embedding.md");
const EXAMPLE: &str = include_str!("../examples/echo.rs");

#[test]
fn the_example_runs() {
    echo::main().unwrap();
    assert_eq!(two_connections(b"good day").unwrap(), b"good day");
}

#[test]
fn the_blocks_of_the_guide_are_the_example_from_its_first_line_to_its_last() {
    let blocks = GUIDE.split("```rust\n").skip(1).map(|rest| rest.split("```\n").next().unwrap());
    let shown: Vec<_> = blocks.flat_map(str::lines).filter(|line| !line.is_empty()).collect();
    let example: Vec<_> = EXAMPLE.lines().filter(|line| !line.is_empty()).collect();
    for (shown, line) in shown.iter().zip(&example) {
        assert_eq!(shown, line, "the guide shows another line than the example");
    }
    assert_eq!(shown.len(), example.len(), "lines shown, and of the example");
    assert!(EXAMPLE.lines().count() <= 150);
}

/// Twenty clients with different streams, over IPv4 and IPv6; every seventh packet is lost, in either
/// direction.
#[test]
fn the_echo_server_serves_several_clients_at_once_though_packets_are_lost() {
    let ips = |n: u8| [format!("10.0.0.{n}").parse().unwrap(), format!("fd00::{n}").parse().unwrap()];
    let stack = Stack::named("linux-2025").unwrap();
    let buffers = Buffers { send: 1 << 14, receive: 1 << 14 };
    let mut server = Host::new(HostConfig::new(ips(2), 1500), Secret::new([2; 16]));
    let mut client = Host::new(HostConfig::new(ips(1), 1500), Secret::new([1; 16]));
    let at = ["10.0.0.2:7", "[fd00::2]:7"].map(|t| t.parse().unwrap());
    at.iter().for_each(|at| server.listen(*at, &stack, buffers, 20).unwrap());
    let from = ["10.0.0.1:0", "[fd00::1]:0"].map(|t| t.parse().unwrap());
    let mut talks: Vec<_> = (0..20u8)
        .map(|i| {
            let [from, at] = [from, at].map(|ends| ends[usize::from(i % 2)]);
            let id = client.connect(Time::ZERO, from, at, &stack, buffers).unwrap();
            (id, (0..30_000u32).map(|n| (n % (200 + u32::from(i))) as u8).collect::<Vec<u8>>(), 0, vec![])
        })
        .collect();
    let (mut wire, mut now, mut packets, mut buf) = (Wire::default(), Time::ZERO, 0u32, [0; 1500]);
    let mut lost = || {
        packets += 1;
        packets % 7 == 0
    };
    while talks.iter().any(|(_, data, _, heard)| heard.len() < data.len()) {
        for (id, data, written, heard) in &mut talks {
            let end = client.endpoint_mut(*id).unwrap();
            *written += end.write(&data[*written..]);
            let mut piece = [0; 4096];
            let n = end.read(&mut piece);
            heard.extend_from_slice(&piece[..n]);
        }
        while let Some(sent) = client.poll_transmit(now, Writing::Whole, &mut buf, &mut ()).unwrap() {
            if !lost() {
                wire.0.push_back(buf[..sent.len].to_vec());
            }
        }
        now += Nanos::from_millis(10);
        let waiting = wire.0.len();
        serve(&mut server, at[0], now, &mut wire).unwrap();
        serve(&mut server, at[1], now, &mut wire).unwrap();
        assert!(wire.0.is_empty() && waiting <= 20 * 12, "{waiting} packets in a round");
        for packet in wire.1.drain(..).filter(|_| !lost()) {
            client.on_packet(now, &parse(&packet, Checksums::Verify).unwrap(), &mut ());
        }
        client.on_timer(now, &mut ());
        assert!(now < Time(600_000_000_000), "ten minutes");
    }
    for (id, data, _, heard) in talks {
        assert!(data == heard, "{id:?}");
    }
}
