//! The parts of a script, as written. Numbers are the script's own: sequence numbers count from 0 on each side.

use ackclock_tcp::time::Nanos;
use std::net::IpAddr;

/// A script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// `--name=value` lines, without the dashes, in their order.
    pub options: Vec<Setting>,
    /// A command without a time, before the first event.
    pub init: Option<Command>,
    /// The events, in their order.
    pub events: Vec<Event>,
    /// A command without a time, after the last event.
    pub cleanup: Option<Command>,
}

/// An option of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The line of the script, from 1.
    pub line: u32,
    /// Its name without the dashes.
    pub name: String,
    /// Its value; empty if it has none.
    pub value: String,
}

/// Something that happens, or is expected, at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The line of the script, from 1.
    pub line: u32,
    /// When.
    pub at: When,
    /// What.
    pub action: Action,
}

/// When an event happens, or may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// `1.5`: this long after the start of the script.
    Absolute(Nanos),
    /// `+1.5`: this long after the previous event.
    Relative(Nanos),
    /// `*`: at any time; only for packets that are expected.
    Any,
    /// `1.5~1.6`: only for packets that are expected.
    AbsoluteRange(Nanos, Nanos),
    /// `+1.5~+1.6`: only for packets that are expected.
    RelativeRange(Nanos, Nanos),
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A packet that arrives or is expected.
    Packet(Box<Packet>),
    /// A socket call.
    Call(Box<Call>),
    /// A command in backquotes.
    Command(Command),
    /// Text between `%{` and `}%`.
    Code(Code),
}

/// A command line in backquotes, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The line of the script, from 1.
    pub line: u32,
    /// The text between the quotes.
    pub text: String,
}

/// Assertions about `tcp_info`: the statements between `%{` and `}%`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The line of its first character, from 1.
    pub line: u32,
    /// The text.
    pub text: String,
}

/// The side that sends a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<`: the script sends it to the TCP under test.
    In,
    /// `>`: the TCP under test is expected to send it.
    Out,
}

/// A packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// The side that sends it.
    pub direction: Direction,
    /// The fields of the IP header.
    pub ip: IpFields,
    /// What it carries.
    pub body: Body,
}

/// Fields of the IP header in brackets or parentheses, such as `[ect0]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpFields {
    /// The bits of ECN or the whole byte.
    pub tos: Option<Tos>,
    /// `ttl`: the time to live, or the hop limit.
    pub ttl: Option<u8>,
    /// `flowlabel`: the flow label of IPv6.
    pub flow_label: Option<u32>,
}

/// A rule for the type-of-service byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tos {
    /// `noecn`, `ect0`, `ect1`, `ce`: the two bits of ECN (RFC 3168 §5).
    Ecn(u8),
    /// `ect01`: ECT(0) or ECT(1); only for packets that are expected.
    EitherEct,
    /// `tos 0x..`: the whole byte.
    Byte(u8),
}

/// What a packet carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// An ICMP message.
    Icmp(Icmp),
    /// The name of another construct of the language, which this crate does not run: UDP, GRE, MPLS, encapsulation.
    Other(&'static str),
}

/// A TCP segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// `SRC > DST`: the ports.
    pub ports: Option<(u16, u16)>,
    /// The flags.
    pub flags: Flags,
    /// `seq:end(len)`: its first number. `None` for `...(len)`: any.
    pub seq: Option<u32>,
    /// The length of its payload, in bytes.
    pub len: u32,
    /// `ack N`.
    pub ack: Option<u32>,
    /// `win N`: the field of the header, not scaled. `None`: any.
    pub win: Option<u16>,
    /// `urg N`.
    pub urg: Option<u16>,
    /// The options in their order. `None` for `<...>`: any.
    pub options: Option<Vec<TcpOption>>,
}

/// The flags of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `F`.
    pub fin: bool,
    /// `S`.
    pub syn: bool,
    /// `R`.
    pub rst: bool,
    /// `P`.
    pub psh: bool,
    /// `.`.
    pub ack: bool,
    /// `U`.
    pub urg: bool,
    /// `E`.
    pub ece: bool,
    /// `W` (`C` in some suites).
    pub cwr: bool,
    /// `A`: accurate ECN's third bit.
    pub ae: bool,
    /// A digit: accurate ECN's counter, in place of the three bits.
    pub ace: Option<u8>,
}

/// An option of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// `eol`.
    Eol,
    /// `nop`.
    Nop,
    /// `mss N`, in bytes.
    Mss(u16),
    /// `wscale N`.
    WindowScale(u8),
    /// `sackOK`.
    SackOk,
    /// `sack a:b c:d`.
    Sack(Vec<(u32, u32)>),
    /// `TS val V ecr E`.
    Timestamps {
        /// The sender's clock.
        val: u32,
        /// The clock that is echoed.
        ecr: u32,
    },
    /// The text of an option of the language that this crate does not run, such as Fast Open's cookie.
    Other(String),
}

/// An ICMP message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icmp {
    /// The name of its type, such as `unreachable`.
    pub kind: String,
    /// The name of its code, such as `frag_needed`.
    pub code: Option<String>,
    /// `mtu N`, in bytes.
    pub mtu: Option<u32>,
    /// `[seq:end(len)]`: the segment that it quotes.
    pub quoted: Option<(u32, u32)>,
}

/// A socket call with its expected result.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// `0...0.1`: the time until which it may block; relative if the event's time is.
    pub until: Option<Nanos>,
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Value>,
    /// The result that is expected. `...`: any.
    pub result: Value,
    /// The name of the error that is expected, such as `EAGAIN`.
    pub errno: Option<String>,
}

/// An argument or a result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `...`: anything.
    Any,
    /// An integer.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A name, such as `SOCK_STREAM`, or several that are joined by `|`.
    Names(Vec<String>),
    /// Text in double quotes.
    Text(Vec<u8>),
    /// `[a, b]`.
    List(Vec<Value>),
    /// `{a=b, c=d}`: a structure. A member without a name has an empty one.
    Struct(Vec<(String, Value)>),
    /// A function-like value, such as `inet_addr("1.2.3.4")`.
    Function(String, Vec<Value>),
    /// An address.
    Address(IpAddr),
}
