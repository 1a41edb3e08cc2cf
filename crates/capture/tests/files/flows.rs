//! Connections and their numbers.

use crate::make::{back, framed, header, packet, pcap, read_all, read_within, tagged, whole, MS, START};
use ackclock_capture::fit::Observer;
use ackclock_capture::rows::flow::CapturedFlow;
use ackclock_capture::rows::{self, OneFile};
use ackclock_capture::survey::Survey;
use ackclock_capture::{analyse, Ended, Input, Way};
use ackclock_wire::options::Timestamps;
use ackclock_wire::{Header, Options};

const SYN: u8 = 2;
const ACK: u8 = 0x10;
const FIN: u8 = 1;
const RAW: u32 = 101;

#[test]
fn numbers_go_on_beyond_two_to_the_32_and_sack_edges_and_acknowledgments_lie_near_the_data() {
    let isn = u32::MAX - 1000;
    let mut sack = Options::default();
    sack.sack
        .push(ackclock_tcp::seq::SeqNum(isn.wrapping_add(1401)), ackclock_tcp::seq::SeqNum(isn.wrapping_add(2101)));
    let packets = [
        packet(&header(false, SYN, isn, 0), 0),
        packet(&back(header(false, SYN | ACK, 9, isn.wrapping_add(1))), 0),
        packet(&header(false, ACK, isn.wrapping_add(1), 10), 700),
        packet(&header(false, ACK, isn.wrapping_add(701), 10), 700),
        packet(&header(false, ACK, isn.wrapping_add(1401), 10), 700),
        packet(&Header { options: sack, ..back(header(false, ACK, 10, isn.wrapping_add(701))) }, 0),
    ];
    let (all, ..) = read_all(&whole(RAW, &packets));
    let [one] = &all[..] else { panic!("{all:?}") };
    let first = one.segments[0].seq;
    assert_eq!(first, 1 << 62 | u64::from(isn));
    assert_eq!(one.segments.iter().map(|s| s.way).collect::<Vec<_>>(), {
        use Way::{Back, Out};
        [Out, Back, Out, Out, Out, Back]
    });
    let from: Vec<_> = one.segments[2..5].iter().map(|s| (s.seq - first, s.end() - first)).collect();
    assert_eq!(from, [(1, 701), (701, 1401), (1401, 2101)]);
    assert_eq!(one.segments[5].ack, Some(first + 701));
    assert_eq!(one.segments[5].blocks(), [(first + 1401, first + 2101)]);
}

#[test]
fn what_the_syns_say_is_kept_and_who_opened_is_the_first_end() {
    let ts = Some(Timestamps { value: 1, echo: 0 });
    let syn =
        Options { mss: Some(1460), window_scale: Some(7), sack_permitted: true, timestamps: ts, ..Options::default() };
    let answer = Options { mss: Some(1400), window_scale: Some(15), timestamps: ts, ..Options::default() };
    let open = Header { options: syn, ..header(true, SYN, 5, 0) };
    let reply = Header { options: answer, ..back(header(true, SYN | ACK, 77, 6)) };
    for from in [0, 1] {
        let (all, ..) = read_all(&whole(RAW, &[packet(&open, 0), packet(&reply, 0)][from..]));
        let flow = &all[0].flow;
        assert_eq!(flow.ends, [open.src, open.dst], "without its SYN the answer to it tells");
        assert_eq!(flow.syn(Way::Out).map(|s| s.options), (from == 0).then_some(syn));
        assert_eq!(flow.syn(Way::Back).map(|s| (s.options, s.frame)), Some((answer, 2 - from as u64)));
        assert_eq!(
            (flow.sack(), flow.window_shift(Way::Back)),
            if from == 0 { (Some(false), Some(14)) } else { (None, None) }
        );
    }
}

#[test]
fn a_syn_with_another_number_between_the_same_ports_begins_another_connection() {
    let packets = [
        packet(&header(false, SYN, 100, 0), 0),
        packet(&Header { label: 8, ..header(false, SYN, 100, 0) }, 0),
        packet(&back(header(false, SYN | ACK, 500, 101)), 0),
        packet(&header(false, ACK | FIN, 101, 501), 10),
        packet(&header(false, SYN, 4_000_000_000, 0), 0),
        packet(&back(header(false, SYN | ACK, 900, 4_000_000_001)), 0),
    ];
    let (all, _, traffic) = read_all(&whole(RAW, &packets));
    let shown: Vec<_> = all.iter().map(|t| (t.flow.number, t.segments.len(), t.why)).collect();
    assert_eq!(shown, [(1, 4, Ended::Reused), (2, 2, Ended::Capture)], "the second SYN is the first one's repetition");
    assert_eq!((traffic.connections, traffic.repeats), (2, 0));
}

#[test]
fn a_connection_whose_beginning_is_missing_goes_out_from_whom_was_seen_first() {
    let (all, ..) = read_all(&whole(
        RAW,
        &[packet(&back(header(false, ACK, 7, 1 << 31)), 0), packet(&header(false, ACK, 1 << 31, 7), 5)],
    ));
    assert_eq!(all[0].flow.ends[0], "10.0.0.2:80".parse().unwrap());
    assert_eq!(all[0].segments[0].ack, Some(all[0].segments[1].seq));
    assert!(!all[0].flow.is_whole());
}

#[test]
fn a_packet_that_was_captured_twice_is_taken_once_and_a_retransmission_is_not_taken_for_one() {
    let data = |id: u32| packet(&Header { label: id, ..header(false, ACK, 100, 7) }, 50);
    let soon = [
        (START, data(3)),
        (START + MS, data(3)),
        (START + MS, data(4)),
        (START + 2 * MS + 1, data(3)),
        (START + 2 * MS + 1, data(0)),
        (START + 2 * MS + 2, data(0)),
    ];
    let all: Vec<_> = soon.iter().map(|(at, p)| (*at, &p[..], p.len())).collect();
    let (all, _, traffic) = read_all(&pcap(RAW, &all));
    assert_eq!(traffic.repeats, 1, "the same identification within 1 ms");
    assert_eq!(all[0].segments.iter().map(|s| s.frame).collect::<Vec<_>>(), [1, 3, 4, 5, 6]);
}

#[test]
fn above_the_limit_finished_connections_end_before_idle_ones_and_no_loss_is_silent() {
    let syn = |port: u16, flags: u8| {
        let mut header = header(false, flags, 100, 0);
        header.src.set_port(port);
        packet(&header, 0)
    };
    let packets: Vec<_> = [(1, SYN), (2, SYN), (3, SYN), (2, 4), (1, ACK), (4, SYN), (5, SYN)]
        .map(|(port, flags)| syn(port, flags))
        .to_vec();
    let (all, _, traffic) = read_within(&whole(RAW, &packets), 3).unwrap();
    let order: Vec<_> = all.iter().map(|t| (t.flow.ends[0].port(), t.why)).collect();
    use Ended::{Capture, Limit};
    assert_eq!(order, [(2, Limit), (3, Limit), (1, Capture), (4, Capture), (5, Capture)]);
    assert_eq!((traffic.connections, traffic.cut_by_limit), (5, 1), "the one that was reset is complete");
}

#[test]
fn above_the_limit_an_eighth_ends_if_so_many_are_finished_and_only_a_few_if_none_is() {
    const RST: u8 = 4;
    for (finished, end) in [(20, 16), (5, 5), (0, 2)] {
        let from = |port: u16, flags: u8| {
            let mut header = header(false, flags, 100, 0);
            header.src.set_port(port);
            packet(&header, 0)
        };
        let open = (1..=128).map(|port| from(port, SYN));
        let packets: Vec<_> = open.chain((1..=finished).map(|port| from(port, RST))).chain([from(200, SYN)]).collect();
        let (all, _, traffic) = read_within(&whole(RAW, &packets), 128).unwrap();
        assert_eq!(all.iter().filter(|t| t.why == Ended::Limit).count(), end, "{finished} are finished");
        assert_eq!(traffic.cut_by_limit, if finished == 0 { 2 } else { 0 });
    }
}

/// Packets in Ethernet, each with its time and the identifiers of its VLANs.
fn in_vlans(packets: &[(i64, &[u16], Vec<u8>)]) -> Vec<u8> {
    let frames: Vec<_> = packets.iter().map(|(at, vlans, ip)| (*at, tagged(vlans, &framed(1, ip)))).collect();
    let all: Vec<_> = frames.iter().map(|(at, frame)| (*at, &frame[..], frame.len())).collect();
    pcap(1, &all)
}

/// The segments of a connection of `isn`, from the handshake on: two of data, and their ACKs, and a RST without an ACK.
fn talk(isn: u32) -> Vec<Vec<u8>> {
    let (own, peer) = (isn + 1, isn.rotate_left(16));
    let out = |flags, seq, ack, len| packet(&Header { label: seq, ..header(false, flags, seq, ack) }, len);
    let back = |flags, seq, ack| packet(&Header { label: ack, ..back(header(false, flags, seq, ack)) }, 0);
    vec![
        out(SYN, isn, 0, 0),
        back(SYN | ACK, peer, own),
        out(ACK, own, peer + 1, 500),
        out(ACK, own + 500, peer + 1, 500),
        back(ACK, peer + 1, own + 500),
        back(ACK, peer + 1, own + 1000),
        out(4, own + 1000, 0, 0),
    ]
}

#[test]
fn the_same_ends_in_two_vlans_are_two_connections_and_one_in_several_vlans_stays_one() {
    let (a, b, c) = (talk(100_000_000), talk(2_000_000_000), talk(3_100_000_000));
    let file = |vlans: &dyn Fn(usize, bool) -> [&'static [u16]; 3], from: usize| {
        let mut packets = vec![];
        for (n, at) in (from..a.len()).zip(0..) {
            // Its source is the end that opened.
            let is_out = a[n][15] == 1;
            for (talk, vlans) in [&a, &b, &c].into_iter().zip(vlans(n, is_out)) {
                packets.push((START + at * 5 * MS, vlans, talk[n].clone()));
            }
        }
        in_vlans(&packets)
    };
    let sizes = |file: &[u8]| {
        let (all, _, traffic) = read_all(file);
        let sizes: Vec<_> = all.iter().map(|t| (t.flow.vlan, t.segments.len())).collect();
        (sizes, traffic.repeats)
    };
    for from in 0..4 {
        let n = a.len() - from;
        let own = file(&|_, _| [&[], &[7], &[7, 9]], from);
        assert_eq!(sizes(&own), (vec![(0, n), (7, n), (7 << 12 | 9, n)], 0), "each in its own, from {from}");
        let ways = file(&|_, is_out| if is_out { [&[1], &[3], &[5]] } else { [&[2], &[4], &[]] }, from);
        let (mut found, _) = sizes(&ways);
        found.iter_mut().for_each(|flow| flow.0 = 0);
        assert_eq!(found, [(0, n); 3], "a VLAN for each way, from {from}");
        let priority = file(&|n, _| if n % 2 == 0 { [&[0], &[3], &[5]] } else { [&[], &[3], &[5]] }, from);
        assert_eq!(sizes(&priority).0, [(0, n), (3, n), (5, n)], "a priority is no VLAN");
    }
    // Before and behind a router, and on a trunk: each packet twice.
    for pair in [[&[10][..], &[20]], [&[], &[20]], [&[10], &[]]] {
        let twice: Vec<_> =
            (0..a.len()).flat_map(|n| pair.map(|vlan| (START + n as i64 * 5 * MS, vlan, a[n].clone()))).collect();
        let (found, repeats) = sizes(&in_vlans(&twice));
        assert_eq!((found.len(), found[0].1, repeats), (1, a.len(), a.len() as u64), "{pair:?}");
    }
}

#[test]
fn ports_that_are_used_again_in_a_vlan_end_the_connection_there_and_no_other() {
    let mut packets = vec![];
    let add = |packets: &mut Vec<_>, vlan: &'static [u16], isn: u32| {
        for segment in &talk(isn)[..6] {
            packets.push((START + packets.len() as i64 * 5 * MS, vlan, segment.clone()));
        }
    };
    for (vlan, isn) in [(&[1][..], 100_000_000), (&[2], 900_000_000), (&[1], 1_700_000_000), (&[2], 2_500_000_000)] {
        add(&mut packets, vlan, isn);
    }
    let (all, _, traffic) = read_all(&in_vlans(&packets));
    let shown: Vec<_> = all.iter().map(|t| (t.flow.vlan, t.segments.len(), t.why)).collect();
    use Ended::{Capture, Reused};
    assert_eq!(shown, [(1, 6, Reused), (2, 6, Reused), (1, 6, Capture), (2, 6, Capture)]);
    let (all, _, traffic_of_one) = read_within(&in_vlans(&packets), 1).unwrap();
    assert_eq!((all.len(), traffic_of_one.connections), (4, traffic.connections), "the limit holds across VLANs");
}

#[test]
fn a_fit_observes_the_chosen_connection_alone_in_the_direction_that_was_named() {
    let of = |port: u16, len: usize| {
        let mut header = header(false, ACK, 100, 7);
        header.src.set_port(port);
        packet(&header, len)
    };
    let file = whole(RAW, &[of(1, 10), of(2, 20), of(3, 30)]);
    let ends = ["10.0.0.1:2", "10.0.0.2:80"].map(|end| end.parse().unwrap());
    for chosen in [Some((ends[0], ends[1])), Some((ends[1], ends[0])), None] {
        let mut observer = Observer::new(None, chosen);
        analyse(Input::Bytes(&file), 9, &mut observer).unwrap();
        let names: Vec<_> = observer.finish().into_iter().map(|o| o.name).collect();
        let all = [1, 2, 3].map(|port| format!("10.0.0.1:{port} > 10.0.0.2:80"));
        match chosen {
            Some((from, to)) => assert_eq!(names, [format!("{from} > {to}")]),
            None => assert_eq!(names, all),
        }
    }
}

#[test]
fn a_row_has_offsets_from_the_syn_on_ecn_if_both_ends_agreed_and_the_bytes_that_were_not_captured() {
    const ECE: u8 = 0x40;
    const CWR: u8 = 0x80;
    for answer in [SYN | ACK | ECE, SYN | ACK] {
        let packets = [
            packet(&header(false, SYN | ECE | CWR, 100, 0), 0),
            packet(&back(header(false, answer, 500, 101)), 0),
            packet(&header(false, ACK, 101, 501), 50),
            packet(&back(header(false, ACK, 501, 351)), 0),
        ];
        let mut survey = Survey::default();
        let (contents, traffic) = analyse(Input::Bytes(&whole(RAW, &packets)), 9, &mut survey).unwrap();
        let files = [OneFile { name: "one".into(), contents, traffic, found: survey.finish(), part: None }];
        let row = rows::flows(&files).next().expect("a flow");
        let syn = row.connection.syns[0].expect("it was captured").seq;
        assert_eq!([syn, syn + 1, syn + 51].map(|seq| row.offset(seq)), [None, Some(0), Some(50)]);
        let flow = CapturedFlow::of((&row, false));
        assert_eq!(flow.ecn, Some(answer & ECE != 0));
        assert_eq!(flow.unseen_bytes, 200, "acknowledged, and never captured");
    }
}

#[test]
fn numbers_that_jump_down_again_and_again_stay_ordered() {
    let packets: Vec<_> = (0..200u32).map(|i| packet(&header(false, ACK, i.wrapping_mul(0x8000_0001), 7), 5)).collect();
    let (all, ..) = read_all(&whole(RAW, &packets));
    let segments = &all[0].segments;
    assert!(segments.windows(2).all(|w| w[1].seq < w[0].seq && w[1].end() > w[1].seq));
}
