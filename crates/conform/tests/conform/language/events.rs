//! The result of reading each construct of the language.

use ackclock_conform::script::parse;
use ackclock_conform::script::syntax::{
    Action, Body, Call, Direction, Flags, Icmp, IpFields, Packet, Script, Segment, TcpOption, Tos, Value, When,
};
use ackclock_tcp::time::Nanos;

fn read(text: &str) -> Script {
    parse("x.pkt", text, &[]).unwrap_or_else(|why| panic!("{why}"))
}

fn action(line: &str) -> Action {
    let mut script = read(line);
    assert_eq!(script.events.len(), 1, "{line}");
    script.events.remove(0).action
}

fn packet(line: &str) -> Packet {
    match action(line) {
        Action::Packet(packet) => *packet,
        other => panic!("{line}: {other:?}"),
    }
}

fn segment(line: &str) -> Segment {
    match packet(line).body {
        Body::Tcp(segment) => segment,
        other => panic!("{line}: {other:?}"),
    }
}

fn call(line: &str) -> Call {
    match action(line) {
        Action::Call(call) => *call,
        other => panic!("{line}: {other:?}"),
    }
}

fn argument(text: &str) -> Value {
    let mut arguments = call(&format!("+0 f({text}) = 0")).arguments;
    assert_eq!(arguments.len(), 1, "{text}");
    arguments.remove(0)
}

fn names(names: &[&str]) -> Value {
    Value::Names(names.iter().map(|&name| name.to_owned()).collect())
}

fn millis(n: u64) -> Nanos {
    Nanos(n * 1_000_000)
}

#[test]
fn each_way_to_write_a_time_is_read_to_the_nanosecond() {
    for (written, at) in [
        ("0", When::Absolute(Nanos(0))),
        (" 0.00", When::Absolute(Nanos(0))),
        ("1.5", When::Absolute(millis(1500))),
        (".25", When::Absolute(millis(250))),
        ("+0", When::Relative(Nanos(0))),
        ("+.1", When::Relative(millis(100))),
        ("+ 0.000001", When::Relative(Nanos(1000))),
        ("+0.0000000019", When::Relative(Nanos(1))),
        ("*", When::Any),
        ("0.1~0.25", When::AbsoluteRange(millis(100), millis(250))),
        ("+.1~+.2", When::RelativeRange(millis(100), millis(200))),
        ("+1 ~ +2", When::RelativeRange(millis(1000), millis(2000))),
    ] {
        let script = read(&format!("{written} > . 1:1(0) ack 1"));
        assert_eq!(script.events[0].at, at, "{written}");
    }
}

#[test]
fn a_call_that_blocks_has_the_time_until_which_it_blocks() {
    for (written, at, until) in [
        ("+0...0.1", When::Relative(Nanos(0)), millis(100)),
        ("0.1...0.3", When::Absolute(millis(100)), millis(300)),
        ("+.1 ... .3", When::Relative(millis(100)), millis(300)),
        ("+0...1", When::Relative(Nanos(0)), millis(1000)),
    ] {
        let script = read(&format!("{written} accept(3, ..., ...) = 4"));
        assert_eq!(script.events[0].at, at, "{written}");
        assert!(matches!(&script.events[0].action, Action::Call(call) if call.until == Some(until)), "{written}");
    }
}

#[test]
fn a_segment_has_all_that_is_written() {
    assert_eq!(
        packet("+0 < [ect0] 8080 > 80 PU. 1:1001(1000) ack 7 win 257 urg 3 <mss 1460,nop,wscale 6,sackOK,eol>"),
        Packet {
            direction: Direction::In,
            ip: IpFields { tos: Some(Tos::Ecn(2)), ..IpFields::default() },
            body: Body::Tcp(Segment {
                ports: Some((8080, 80)),
                flags: Flags { psh: true, urg: true, ack: true, ..Flags::default() },
                seq: Some(1),
                len: 1000,
                ack: Some(7),
                win: Some(257),
                urg: Some(3),
                options: Some(vec![
                    TcpOption::Mss(1460),
                    TcpOption::Nop,
                    TcpOption::WindowScale(6),
                    TcpOption::SackOk,
                    TcpOption::Eol,
                ]),
            }),
        }
    );
}

#[test]
fn what_a_segment_does_not_say_is_not_checked() {
    let bare = segment("+0 > . 1:1(0)");
    assert_eq!((bare.ports, bare.ack, bare.win, bare.urg), (None, None, None, None));
    assert_eq!(bare.options, Some(Vec::new()), "no options are no options, not any");
    assert_eq!(segment("+0 > S. ...(0) ack 1 <...>").seq, None);
    assert_eq!(segment("+0 > S. ...(0) ack 1 <...>").options, None);
    assert_eq!(segment("+0 > . ...(10)").len, 10);
}

#[test]
fn flags_may_be_in_any_order() {
    let flags = |written: &str| segment(&format!("+0 > {written} 1:1(0)")).flags;
    let ack = Flags { ack: true, ..Flags::default() };
    assert_eq!(flags("."), ack);
    assert_eq!(flags("-"), Flags::default());
    for written in ["SF.", "FS.", ".SF", "SF .", "F.S"] {
        assert_eq!(flags(written), Flags { syn: true, fin: true, ..ack }, "{written}");
    }
    assert_eq!(flags("SEWA"), Flags { syn: true, ece: true, cwr: true, ae: true, ..Flags::default() });
    assert_eq!(flags("SEC"), Flags { syn: true, ece: true, cwr: true, ..Flags::default() });
    for written in [".5", "5.", ". 5"] {
        let seen = if written == "5." { flags("5.") } else { flags(&written.replace(' ', "")) };
        assert_eq!(seen, Flags { ace: Some(5), ..ack }, "{written}");
    }
    assert_eq!(flags("P.5"), Flags { psh: true, ace: Some(5), ..ack });
    assert_eq!(flags("R"), Flags { rst: true, ..Flags::default() });
}

#[test]
fn fields_of_the_ip_header_are_in_brackets_or_parentheses() {
    let ip = |written: &str| packet(&format!("+0 > {written} . 1:1(0)")).ip;
    let tos = |tos| IpFields { tos: Some(tos), ..IpFields::default() };
    for (written, fields) in [
        ("", IpFields::default()),
        ("[noecn]", tos(Tos::Ecn(0))),
        ("[ect1]", tos(Tos::Ecn(1))),
        ("(ect0)", tos(Tos::Ecn(2))),
        ("[ce]", tos(Tos::Ecn(3))),
        ("[ect01]", tos(Tos::EitherEct)),
        ("[tos 0x9a]", tos(Tos::Byte(0x9a))),
        ("(ttl 3)", IpFields { ttl: Some(3), ..IpFields::default() }),
        ("[flowlabel 0x12345]", IpFields { flow_label: Some(0x12345), ..IpFields::default() }),
        ("[ect0, flowlabel 0x1]", IpFields { flow_label: Some(1), ..tos(Tos::Ecn(2)) }),
    ] {
        assert_eq!(ip(written), fields, "{written}");
    }
}

#[test]
fn options_of_a_segment_keep_their_order_and_their_numbers() {
    let options = |written: &str| segment(&format!("+0 > . 1:1(0) <{written}>")).options.unwrap();
    assert_eq!(
        options("nop, nop, sack 1:2 3:4 4294967295:5"),
        [TcpOption::Nop, TcpOption::Nop, TcpOption::Sack(vec![(1, 2), (3, 4), (u32::MAX, 5)])]
    );
    assert_eq!(options("TS val 100 ecr 0"), [TcpOption::Timestamps { val: 100, ecr: 0 }]);
    let other = |text: &str| TcpOption::Other(text.to_owned());
    assert_eq!(options("FO,nop,nop"), [other("FO"), TcpOption::Nop, TcpOption::Nop]);
    assert_eq!(options("FO 1234abcd"), [other("FO 1234abcd")]);
    assert_eq!(options("FOEXP TFO_COOKIE"), [other("FOEXP TFO_COOKIE")]);
    assert_eq!(options("md5 000102"), [other("md5 000102")]);
    assert_eq!(options("ECN e1b 1 ceb 0 e0b 16777215"), [other("ECN e1b 1 ceb 0 e0b 16777215")]);
    assert_eq!(options("ECN e0b 1,nop"), [other("ECN e0b 1"), TcpOption::Nop]);
}

#[test]
fn sequence_numbers_may_wrap() {
    assert_eq!(segment("+0 > . 4294967290:4(10)").seq, Some(4_294_967_290));
}

#[test]
fn an_icmp_message_quotes_a_segment_of_tcp() {
    assert_eq!(
        packet("+0 < icmp unreachable frag_needed mtu 1400 [1:1001(1000)]").body,
        Body::Icmp(Icmp {
            kind: "unreachable".to_owned(),
            code: Some("frag_needed".to_owned()),
            mtu: Some(1400),
            quoted: Some((1, 1001)),
        })
    );
    let bare = Icmp { kind: "unreachable".to_owned(), code: None, mtu: None, quoted: None };
    assert_eq!(packet("+0 < icmp unreachable").body, Body::Icmp(bare.clone()));
    assert_eq!(packet("+0 < icmp unreachable mtu 9").body, Body::Icmp(Icmp { mtu: Some(9), ..bare }));
}

#[test]
fn what_is_not_run_is_named() {
    for (line, name) in [
        ("+0 < udp (100)", "UDP"),
        ("+0 > udp 1 > 2 (100)", "UDP"),
        ("+0 < icmp unreachable port_unreachable [udp (100)]", "ICMP about something other than TCP"),
        ("+0 > icmp echo_request id 7 [raw (8)]", "ICMP about something other than TCP"),
        ("+0 < gre: . 1:1(0) ack 1", "GRE"),
        ("+0 < gre, flags [checksum present, sequence# present], sum 0, off 0, key=1, seq 2: . 1:1(0)", "GRE"),
        ("+0 < mpls (label 0, tc 0, [S], ttl 3): . 1:1(0)", "MPLS"),
        ("+0 < ipv4 [ttl 3] 1.2.3.4 > 5.6.7.8: . 1:1(0) ack 1", "an IP packet in an IP packet"),
        ("+0 < ipv6 fd3d::1 > fd3d::2: ipv4 1.2.3.4 > 5.6.7.8: . 1:1(0)", "an IP packet in an IP packet"),
        ("+0 > encap psp spi 0x100 P. 1:11(10) ack 1", "PSP"),
    ] {
        assert_eq!(packet(line).body, Body::Other(name), "{line}");
    }
}

#[test]
fn a_call_has_its_result_and_its_error() {
    let call = call("+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)");
    assert_eq!(call.name, "connect");
    assert_eq!(call.arguments, [Value::Integer(3), Value::Any, Value::Any]);
    assert_eq!((call.result, call.errno.as_deref()), (Value::Integer(-1), Some("EINPROGRESS")));
}

#[test]
fn a_note_after_a_result_says_nothing() {
    for line in
        ["+0 fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)", "+0 fcntl(3, F_GETFL) = 2", "+0 fcntl(3, F_GETFL) = 2 (a note)"]
    {
        assert_eq!((call(line).result, call(line).errno), (Value::Integer(2), None), "{line}");
    }
    assert_eq!(call("+0 fcntl(3, F_GETFL) = O_RDWR (flags)").result, names(&["O_RDWR"]));
}

#[test]
fn each_shape_of_an_argument_is_read() {
    let text = |text: &str| Value::Text(text.as_bytes().to_vec());
    let member = |name: &str, value| (name.to_owned(), value);
    for (written, value) in [
        ("...", Value::Any),
        ("-5", Value::Integer(-5)),
        ("0xff", Value::Integer(255)),
        ("0xffffffffffffffff", Value::Integer(-1)),
        ("1.5", Value::Float(1.5)),
        ("O_RDWR | O_NONBLOCK", names(&["O_RDWR", "O_NONBLOCK"])),
        ("FOO|0x10", names(&["FOO", "16"])),
        ("\"reno\"", text("reno")),
        ("\"a\" \"b\"", text("ab")),
        (r#""\x41\n\\\"\t""#, text("A\n\\\"\t")),
        ("\"ab\"...", Value::Function("...".to_owned(), vec![text("ab")])),
        ("[]", Value::List(Vec::new())),
        ("[1, [A]]", Value::List(vec![Value::Integer(1), Value::List(vec![names(&["A"])])])),
        ("{..., 100}", Value::Struct(vec![member("", Value::Any), member("", Value::Integer(100))])),
        (
            "{onoff=1, linger=0}",
            Value::Struct(vec![member("onoff", Value::Integer(1)), member("linger", Value::Integer(0))]),
        ),
        ("inet_addr(\"1.2.3.4\")", Value::Function("inet_addr".to_owned(), vec![text("1.2.3.4")])),
        ("inet6_addr(\"::1\")", Value::Function("inet6_addr".to_owned(), vec![text("::1")])),
        ("192.0.2.1", Value::Address("192.0.2.1".parse().unwrap())),
        ("fd3d::1", Value::Address("fd3d::1".parse().unwrap())),
        ("{(label 1, tc 0, [S], ttl 3)}", Value::Function("mpls".to_owned(), Vec::new())),
    ] {
        assert_eq!(argument(written), value, "{written}");
    }
}

#[test]
fn structures_of_sockets_and_polls_keep_the_names_of_their_members() {
    let members = |written: &str| match argument(written) {
        Value::Struct(members) => members.into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        members("{sa_family = AF_INET, sin_port = htons(8080), sin_addr = inet_addr(\"192.0.2.1\")}"),
        ["sa_family", "sin_port", "sin_addr"]
    );
    assert_eq!(members("{fd=4, events=POLLIN|POLLOUT, revents=POLLOUT}"), ["fd", "events", "revents"]);
    assert_eq!(
        members("{msg_name(...)=..., msg_iov(2)=[{..., 10}, {..., 20}], msg_flags=0, msg_control=[]}"),
        ["msg_name", "msg_iov", "msg_flags", "msg_control"]
    );
    assert_eq!(members("{cmsg_level=SOL_TCP, cmsg_type=1, cmsg_data={scm_sec=1,scm_nsec=2}}").len(), 3);
}

#[test]
fn commands_without_a_time_are_before_and_after_the_events() {
    let script = read("`../common/defaults.sh\nsysctl -q a=1`\n0 `sysctl -w b=2`\n`cleanup`\n");
    assert_eq!(script.init.unwrap().text, "../common/defaults.sh\nsysctl -q a=1");
    assert!(matches!(&script.events[0].action, Action::Command(command) if command.text == "sysctl -w b=2"));
    assert_eq!(script.cleanup.as_ref().map(|command| (command.line, command.text.as_str())), Some((4, "cleanup")));
}

#[test]
fn code_keeps_its_lines_and_the_number_of_its_first_line() {
    let script = read("\n+0 %{\nassert a == 1, a\nassert b\n}%\n+1 close(3) = 0");
    let Action::Code(code) = &script.events[0].action else { panic!() };
    assert_eq!((code.line, code.text.as_str()), (2, "\nassert a == 1, a\nassert b\n"));
    assert_eq!(script.events[1].line, 6);
}

#[test]
fn an_event_may_continue_on_the_next_lines() {
    let script =
        read("+0...0.010 poll([{fd=4,\n    events=POLLIN,\n  revents=POLLIN}], 1,\n 100) = 1\n+0 > .\n1:1(0)\nack 1");
    assert_eq!(script.events.iter().map(|event| event.line).collect::<Vec<_>>(), [1, 5]);
}

#[test]
fn options_of_a_script_have_their_values_as_text() {
    let script = read(
        "--ip_version=ipv4\n--tolerance_usecs=75000\n--local_ip=192.0.2.1\n--flag\n--remote_ip=fd3d::1 --define=A=B\n\
         --define=C=\"d e\"\n--define=F=`g h`\n--text=\"i j\"\n0 close(3) = 0",
    );
    let seen: Vec<(&str, &str)> = script.options.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("ip_version", "ipv4"),
            ("tolerance_usecs", "75000"),
            ("local_ip", "192.0.2.1"),
            ("flag", ""),
            ("remote_ip", "fd3d::1"),
            ("define", "A=B"),
            ("define", "C=\"d e\""),
            ("define", "F=`g h`"),
            ("text", "i j"),
        ]
    );
    assert_eq!(script.options[4].line, 5);
}

#[test]
fn a_definition_replaces_whole_words_by_words_numbers_text_and_commands() {
    let text = "--define=PROTO=IPPROTO_TCP\n--define=FD=3\n--define=CC=\"reno\"\n--define=RUN=`cleanup now`\n\
                0 f(PROTO, FD, CC, MASK, PROTOX, [FD]) = N\n+0 RUN\n";
    let script = parse("x.pkt", text, &["MASK=0x10", "N=5"]).unwrap();
    let Action::Call(call) = &script.events[0].action else { panic!() };
    assert_eq!(
        call.arguments,
        [
            names(&["IPPROTO_TCP"]),
            Value::Integer(3),
            Value::Text(b"reno".to_vec()),
            Value::Integer(16),
            names(&["PROTOX"]),
            Value::List(vec![Value::Integer(3)]),
        ]
    );
    assert_eq!(call.result, Value::Integer(5));
    assert!(matches!(&script.events[1].action, Action::Command(command) if command.text == "cleanup now"));
}

#[test]
fn a_definition_does_not_replace_words_of_the_language() {
    let script = parse("x.pkt", "0 > . 1:1(0) ack 7", &["ack=win"]).unwrap();
    let Action::Packet(packet) = &script.events[0].action else { panic!() };
    assert!(matches!(&packet.body, Body::Tcp(segment) if segment.ack == Some(7) && segment.win.is_none()));
}

#[test]
fn comments_may_be_anywhere_between_parts() {
    let script = read("// one\n0 /* two\n lines */ close(3 /* x */) = 0 // end\n/**/ +0 > . 1:1(0) ack 1 // last");
    assert_eq!(script.events.iter().map(|event| event.line).collect::<Vec<_>>(), [2, 4]);
}

#[test]
fn conditions_choose_lines_by_the_defined_names() {
    let text = "#ifdef A\n+1 f() = 1\n#ifdef B\n+2 f() = 2\n#endif\n#else\n+3 f() = 3\n #ifndef B\n+4 f() = 4\n#endif\n#endif\n+5 f() = 5";
    for (defined, lines) in [
        (&[][..], &[7, 9, 12][..]),
        (&["A"], &[2, 12]),
        (&["B"], &[7, 12]),
        (&["A", "B"], &[2, 4, 12]),
        (&["B=1", "A"], &[2, 4, 12]),
    ] {
        let script = parse("x.pkt", text, defined).unwrap();
        assert_eq!(script.events.iter().map(|event| event.line).collect::<Vec<_>>(), lines, "{defined:?}");
    }
}

#[test]
fn a_sharp_inside_a_command_is_no_condition() {
    let script = read("`run\n# a comment of the shell\nend`\n0 close(3) = 0");
    assert_eq!(script.init.unwrap().text.lines().count(), 3);
}
