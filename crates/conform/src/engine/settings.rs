//! The `sysctl` settings of Linux and FreeBSD that this engine follows, and the stack that they describe.
//!
//! Source: Linux 6.18, `Documentation/networking/ip-sysctl.rst`; FreeBSD 14, tcp(4).
//!
//! A name or a value that the table [`SETTINGS`] does not have is not understood.

mod table;

use super::socket::Options;
use super::System;
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::connection::{Insecure, KeepAlive, SynRules};
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::idle::IdleRule;
use ackclock_tcp::receive_window::ReceiveWindowSpec;
use ackclock_tcp::rto::RtoSpec;
use ackclock_tcp::stack::{Stack, WindowEdge};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Bytes;
use ackclock_wire::Buffers;
use std::collections::BTreeMap;
use std::net::IpAddr;
use table::setting;
pub use table::{page, Setting, Values, SETTINGS};

/// Turns the text of `ackclock.stack` into a stack; `None` if the text is not a stack.
pub type StackOf = fn(&str) -> Option<Stack>;

/// The settings of the system on which a script runs.
#[derive(Clone)]
pub struct Settings {
    /// The system that the script was written for.
    pub system: System,
    addresses: Vec<IpAddr>,
    stack_of: StackOf,
    /// The requested stack, in place of the system's own.
    stack: Option<Stack>,
    /// The settings that were made, by name.
    values: BTreeMap<&'static str, String>,
}

/// A stack with its buffers.
pub(super) struct Plan {
    pub(super) stack: Stack,
    pub(super) buffers: Buffers,
    pub(super) max_segment: Option<u32>,
}

/// No buffer is larger, because no TCP window is (RFC 7323 §2.3).
pub(super) const LARGEST_BUFFER: Bytes = 1 << 30;

impl Settings {
    /// The system's defaults, on a host with these addresses. `stack` replaces the system's own.
    pub fn new(system: System, addresses: &[IpAddr], stack: Option<Stack>, stack_of: StackOf) -> Self {
        Settings { system, addresses: addresses.to_vec(), stack_of, stack, values: BTreeMap::new() }
    }

    /// Sets a value by its name; returns whether name and value are understood.
    pub fn set(&mut self, name: &str, value: &str) -> bool {
        // Linux accepts `/` in place of `.`.
        let name = name.replace('/', ".");
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        if name == "ackclock.stack" {
            self.stack = (self.stack_of)(&value);
            return self.stack.is_some();
        }
        let Some(setting) = setting(&name).filter(|setting| setting.values.have(&value)) else { return false };
        self.values.insert(setting.name, value);
        true
    }

    /// Which of RFC 793's rules hold.
    pub(super) fn insecure(&self) -> Insecure {
        Insecure { rst: self.on("net.inet.tcp.insecure_rst", false), syn: self.on("net.inet.tcp.insecure_syn", false) }
    }

    /// How often SYNs are repeated, and when.
    pub(super) fn syn_rules(&self) -> SynRules {
        let default = match self.system {
            _ if self.stack.is_some() => SynRules::default(),
            System::Linux => SynRules { retries: 6, answer_retries: 5, linear: 4 },
            System::FreeBsd => SynRules::default(),
        };
        let number = |name, default: u32| self.number(name, 0, default.into()) as u32;
        let linear = number("net.ipv4.tcp_syn_linear_timeouts", default.linear);
        SynRules {
            // `tcp_write_timeout`: the linear ones come in addition.
            retries: number("net.ipv4.tcp_syn_retries", default.retries).saturating_add(linear),
            answer_retries: number("net.ipv4.tcp_synack_retries", default.answer_retries),
            linear,
        }
    }

    /// Bytes not sent from which a socket with these options has no room (`tcp_notsent_lowat`).
    pub(super) fn not_sent_low_water(&self, options: &Options) -> Bytes {
        let most = || self.number("net.ipv4.tcp_notsent_lowat", 0, Bytes::MAX);
        options.not_sent_low_water.unwrap_or_else(most)
    }

    /// Keep-alive, where a socket has not its own values.
    pub(super) fn keep_alive(&self) -> KeepAlive {
        let default = KeepAlive::default();
        let seconds = |name, default: Nanos| Nanos::from_secs(self.number(name, 0, default.0 / 1_000_000_000));
        KeepAlive {
            idle: seconds("net.ipv4.tcp_keepalive_time", default.idle),
            interval: seconds("net.ipv4.tcp_keepalive_intvl", default.interval),
            probes: self.number("net.ipv4.tcp_keepalive_probes", 0, default.probes.into()) as u32,
        }
    }

    /// Whether a RST does not end TIME-WAIT. FreeBSD's `tcp_twcheck` always ignores it.
    pub(super) fn rfc1337(&self) -> bool {
        self.on("net.ipv4.tcp_rfc1337", self.system == System::FreeBsd)
    }

    /// Whether segments with both SYN and FIN are dropped.
    pub(super) fn drop_synfin(&self) -> bool {
        self.on("net.inet.tcp.drop_synfin", false)
    }

    /// The stack and the buffers of a socket with these options that opens a connection.
    pub(super) fn active_plan(&self, options: &Options, v6: bool) -> Plan {
        let mut plan = self.plan(options, v6);
        plan.stack.options.ecn &= self.number("net.ipv4.tcp_ecn", 0, if self.stack.is_some() { 1 } else { 2 }) == 1;
        plan
    }

    /// The stack and the buffers of a socket with these options that waits for a connection.
    pub(super) fn plan(&self, options: &Options, v6: bool) -> Plan {
        let mut stack = self.stack.clone().unwrap_or_else(|| self.system_stack(options));
        self.apply_switches(&mut stack);
        if self.system == System::FreeBsd {
            self.apply_freebsd(&mut stack);
        }
        let (receive, send) = match self.system {
            System::Linux => self.linux_buffers(options, &mut stack),
            System::FreeBsd => self.freebsd_buffers(options, v6, &mut stack),
        };
        let receive = match options.window_clamp {
            Some(most) if self.system == System::Linux => {
                self.scale_for(receive.min(most), &mut stack);
                receive.min(most)
            }
            Some(_) | None => receive,
        };
        Plan { stack, buffers: Buffers { send, receive }, max_segment: options.max_segment }
    }

    /// Whether several segments leave as one packet: Linux's own stack on its usual devices.
    pub(super) fn offloads(&self) -> bool {
        self.system == System::Linux && self.stack.is_none() && self.number("net.ipv4.tcp_min_tso_segs", 0, 2) > 1
    }

    /// The address of this host from which `remote` is reached.
    pub(super) fn address_for(&self, local: IpAddr, remote: IpAddr) -> IpAddr {
        if !local.is_unspecified() {
            return local;
        }
        let same = |ip: &&IpAddr| ip.is_ipv4() == remote.is_ipv4();
        self.addresses.iter().find(same).copied().unwrap_or(local)
    }

    fn on(&self, name: &str, default: bool) -> bool {
        self.values.get(name).map_or(default, |value| value != "0")
    }

    /// The number at position `place` of a list.
    fn number(&self, name: &str, place: usize, default: Bytes) -> Bytes {
        let word = self.values.get(name).and_then(|value| value.split(' ').nth(place));
        word.and_then(|word| word.parse().ok()).unwrap_or(default).min(LARGEST_BUFFER)
    }

    /// The profile of the configured congestion control.
    fn profile(&self) -> Option<&'static str> {
        profile_of(self.values.get("net.ipv4.tcp_congestion_control").map_or("cubic", String::as_str))
    }

    /// The system's own stack, with its defaults.
    fn system_stack(&self, options: &Options) -> Stack {
        let own = options.congestion.as_deref().and_then(profile_of);
        let name = match self.system {
            System::Linux => own.or(self.profile()).unwrap_or("linux-2025"),
            System::FreeBsd => "linux-reno-2025",
        };
        let mut stack = Stack::named(name).unwrap_or_else(|| unreachable!("{name} is a named stack"));
        let options = &mut stack.options;
        (options.timestamps, options.window_scale, options.dsack, options.sack_blocks) = (true, true, true, 4);
        options.ecn |= self.system == System::Linux;
        if self.system == System::FreeBsd {
            stack.limits.window_edge = WindowEdge::Exact;
            stack.ack = AckSpec::Delayed { delay: Nanos::from_millis(40) };
        }
        stack
    }

    /// Whether a switch was set, and to what.
    fn switch(&self, name: &str) -> Option<bool> {
        self.values.get(name).map(|value| value != "0")
    }

    /// Settings that were made apply to every stack.
    fn apply_switches(&self, stack: &mut Stack) {
        let set = |option: &mut bool, names: [&str; 2]| {
            *option = names.iter().find_map(|name| self.switch(name)).unwrap_or(*option);
        };
        let options = &mut stack.options;
        set(&mut options.timestamps, ["net.ipv4.tcp_timestamps", "net.inet.tcp.rfc1323"]);
        set(&mut options.window_scale, ["net.ipv4.tcp_window_scaling", "net.inet.tcp.rfc1323"]);
        set(&mut options.dsack, ["net.ipv4.tcp_dsack", ""]);
        options.dsack &= options.sack;
        if self.values.contains_key("net.ipv4.tcp_ecn") {
            options.ecn = self.number("net.ipv4.tcp_ecn", 0, 2) != 0;
        }
        let mut sack = options.sack;
        set(&mut sack, ["net.ipv4.tcp_sack", "net.inet.tcp.sack.enable"]);
        if !sack && stack.options.sack {
            *stack = stack.without_sack();
        }
        if let (Some(early), DetectSpec::RackTlp(rack)) =
            (self.values.get("net.ipv4.tcp_early_retrans"), &mut stack.detect)
        {
            rack.tlp = matches!(early.as_str(), "3" | "4");
        }
        if self.values.contains_key("ackclock.initcwnd") {
            stack.startup.set_initial_window(self.number("ackclock.initcwnd", 0, 10) as u32);
        }
        if let (Some(us), RtoSpec::Linux(rto)) = (self.values.get("net.ipv4.tcp_rto_min_us"), &mut stack.rto) {
            rto.min = Nanos::from_micros(us.parse().unwrap_or(200_000));
        }
        if self.switch("net.ipv4.tcp_slow_start_after_idle") == Some(false) {
            stack.idle = IdleRule::Keep;
        }
    }

    /// FreeBSD's settings of its ACKs.
    fn apply_freebsd(&self, stack: &mut Stack) {
        let (delayed, delay) = ("net.inet.tcp.delayed_ack", "net.inet.tcp.delacktime");
        if self.values.contains_key(delayed) || self.values.contains_key(delay) {
            let delay = Nanos::from_millis(self.number(delay, 0, 40));
            stack.ack = if self.on(delayed, true) { AckSpec::Delayed { delay } } else { AckSpec::Every };
        }
    }

    /// Linux's buffers: `tcp_rmem` and `tcp_wmem`, or the size that `setsockopt` requested, which the kernel doubles. Half of
    /// it is counted as overhead.
    fn linux_buffers(&self, options: &Options, stack: &mut Stack) -> (Bytes, Bytes) {
        let largest = self.number("net.ipv4.tcp_rmem", 2, 6_291_456);
        let receive = match options.receive_buffer {
            Some(asked) => {
                stack.receive_window = ReceiveWindowSpec::Fixed;
                asked.min(self.number("net.core.rmem_max", 0, LARGEST_BUFFER))
            }
            None if !self.on("net.ipv4.tcp_moderate_rcvbuf", true) => {
                stack.receive_window = ReceiveWindowSpec::Fixed;
                self.scale_for(largest, stack);
                self.number("net.ipv4.tcp_rmem", 1, 131_072) / 2
            }
            None => {
                let first = self.number("net.ipv4.tcp_rmem", 1, 131_072) / 2;
                if let ReceiveWindowSpec::Linux(spec) = &mut stack.receive_window {
                    spec.initial = first.max(1);
                }
                self.scale_for(largest, stack);
                largest
            }
        };
        let send = options.send_buffer.map(|asked| asked.min(self.number("net.core.wmem_max", 0, LARGEST_BUFFER)));
        (receive, send.unwrap_or_else(|| self.number("net.ipv4.tcp_wmem", 2, 4_194_304)))
    }

    /// The scale fits the largest buffer.
    fn scale_for(&self, largest: Bytes, stack: &mut Stack) {
        if stack.options.window_scale {
            stack.options.rcv_wscale = Some(linux_scale(largest));
        }
    }

    /// FreeBSD's buffers: a multiple of the MSS once the connection is open; the scale fits the largest buffer that the system
    /// allows (`tcp_syncache.c`, `syncache_add`; `tcp_usrreq.c`, `tcp_connect`).
    fn freebsd_buffers(&self, options: &Options, v6: bool, stack: &mut Stack) -> (Bytes, Bytes) {
        stack.receive_window = ReceiveWindowSpec::Fixed;
        let receive = options.receive_buffer.unwrap_or_else(|| self.recvspace());
        let largest = self.number("kern.ipc.maxsockbuf", 0, 2_097_152);
        if stack.options.window_scale {
            stack.options.rcv_wscale = Some((0..14).find(|shift| 0xffff << shift >= largest).unwrap_or(14));
        }
        let mss = if v6 { 1440 } else { 1460 };
        let rounded = receive.div_ceil(mss) * mss;
        (rounded, options.send_buffer.unwrap_or_else(|| self.number("net.inet.tcp.sendspace", 0, 32_768)))
    }

    /// The receive buffer of a socket without a connection.
    pub(super) fn recvspace(&self) -> Bytes {
        self.number("net.inet.tcp.recvspace", 0, 65_536)
    }
}

/// The named stack for one of Linux's congestion controls.
fn profile_of(congestion: &str) -> Option<&'static str> {
    match congestion {
        "cubic" => Some("linux-2025"),
        "reno" => Some("linux-reno-2025"),
        "bbr" => Some("linux-bbr-2025"),
        _ => None,
    }
}

/// `tcp_select_initial_window` in `net/ipv4/tcp_output.c`: the scale with which the largest buffer can be advertised.
fn linux_scale(largest: Bytes) -> u8 {
    (largest.max(1).ilog2() as u8).saturating_sub(15).min(14)
}
