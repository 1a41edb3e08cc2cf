//! The `sysctl` settings of Linux and FreeBSD that this engine follows, and the stack that they describe.
//!
//! Source: Linux 6.18, `Documentation/networking/ip-sysctl.rst`; FreeBSD 14, tcp(4).
//!
//! A name that is in none of the lists below is not understood. Settings in [`INERT`] change nothing that a script could see
//! here.

use super::socket::Options;
use super::System;
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::connection::Insecure;
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::idle::IdleRule;
use ackclock_tcp::receive_window::ReceiveWindowSpec;
use ackclock_tcp::stack::{Stack, WindowEdge};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Bytes;
use ackclock_wire::Buffers;
use std::collections::BTreeMap;
use std::net::IpAddr;

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
    values: BTreeMap<String, String>,
    pub(super) insecure: Insecure,
    pub(super) rfc1337: bool,
    /// Segments with both SYN and FIN are dropped (FreeBSD's `net.inet.tcp.drop_synfin`).
    pub(super) drop_synfin: bool,
}

/// A stack with its buffers.
pub(super) struct Plan {
    pub(super) stack: Stack,
    pub(super) buffers: Buffers,
    pub(super) max_segment: Option<u32>,
}

/// No buffer is larger, because no TCP window is (RFC 7323 §2.3).
pub(super) const LARGEST_BUFFER: Bytes = 1 << 30;

/// Settings without an effect on the packets of one connection in a script.
const INERT: &[&str] = &[
    "net.core.bpf_jit_enable",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.optmem_max",
    "net.core.somaxconn",
    "net.inet.tcp.hostcache.purgenow",
    "net.inet.tcp.syncookies",
    "net.ipv4.tcp_app_win",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_early_demux",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_fastopen_key",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_no_ssthresh_metrics_save",
    "net.ipv4.tcp_tw_reuse",
];

/// The settings that [`Settings::plan`] reads.
const FOLLOWED: &[&str] = &[
    "kern.ipc.maxsockbuf",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.inet.tcp.delacktime",
    "net.inet.tcp.delayed_ack",
    "net.inet.tcp.recvspace",
    "net.inet.tcp.rfc1323",
    "net.inet.tcp.sack.enable",
    "net.inet.tcp.sendspace",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
];

/// Settings that may only have the value that this engine always follows.
const FIXED: &[(&str, &[&str])] = &[
    ("net.inet.tcp.blackhole", &["0"]),
    ("net.inet.tcp.ecn.enable", &["0", "2"]),
    ("net.inet.ip.ttl", &["64"]),
    ("net.inet.tcp.rexmit_initial", &["1000"]),
    ("net.inet6.ip6.hlim", &["64"]),
    ("net.ipv4.ip_no_pmtu_disc", &["0"]),
    ("net.ipv4.tcp_abort_on_overflow", &["0"]),
    ("net.ipv4.tcp_ecn_fallback", &["0", "1"]),
    ("net.ipv4.tcp_fack", &["0"]),
    ("net.ipv4.tcp_frto", &["2"]),
    ("net.ipv4.tcp_max_reordering", &["300"]),
    ("net.ipv4.tcp_notsent_lowat", &["4294967295"]),
    ("net.ipv4.tcp_pacing_ca_ratio", &["120"]),
    ("net.ipv4.tcp_pacing_ss_ratio", &["200"]),
    ("net.ipv4.tcp_recovery", &["1"]),
    ("net.ipv4.tcp_reordering", &["3"]),
    ("net.ipv4.tcp_retries2", &["15"]),
    ("net.ipv4.tcp_stdurg", &["0"]),
    ("net.ipv4.tcp_syncookies", &["1"]),
    ("net.ipv4.tcp_syn_retries", &["5", "6"]),
    ("net.ipv4.tcp_synack_retries", &["5"]),
    ("net.ipv4.tcp_tso_win_divisor", &["3"]),
];

impl Settings {
    /// The system's defaults, on a host with these addresses. `stack` replaces the system's own.
    pub fn new(system: System, addresses: &[IpAddr], stack: Option<Stack>, stack_of: StackOf) -> Self {
        Settings {
            system,
            addresses: addresses.to_vec(),
            stack_of,
            stack,
            values: BTreeMap::new(),
            insecure: Insecure::default(),
            // FreeBSD's `tcp_twcheck` ignores a RST.
            rfc1337: system == System::FreeBsd,
            drop_synfin: false,
        }
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
        let on = value != "0";
        match name.as_str() {
            "net.inet.tcp.insecure_rst" => self.insecure.rst = on,
            "net.inet.tcp.insecure_syn" => self.insecure.syn = on,
            "net.inet.tcp.drop_synfin" => self.drop_synfin = on,
            "net.ipv4.tcp_rfc1337" => self.rfc1337 = on,
            _ => return self.set_value(name, value),
        }
        true
    }

    fn set_value(&mut self, name: String, value: String) -> bool {
        if let Some((_, allowed)) = FIXED.iter().find(|(fixed, _)| *fixed == name) {
            return allowed.contains(&value.as_str());
        }
        let known = FOLLOWED.contains(&name.as_str());
        if known {
            self.values.insert(name.clone(), value);
        }
        let followed = match name.as_str() {
            "net.ipv4.tcp_congestion_control" => self.profile().is_some(),
            "net.ipv4.tcp_ecn" => self.ecn_mode().is_some(),
            _ => known,
        };
        followed || INERT.contains(&name.as_str())
    }

    /// The stack and the buffers of a socket with these options that opens a connection.
    pub(super) fn active_plan(&self, options: &Options, v6: bool) -> Plan {
        let mut plan = self.plan(options, v6);
        plan.stack.options.ecn &= self.stack.is_some() || self.ecn_mode() == Some(1);
        plan
    }

    /// Linux's `tcp_ecn`: 0 refuses ECN, 1 asks for it and accepts it, 2 (the default) accepts it. `None` for other modes.
    fn ecn_mode(&self) -> Option<u8> {
        match self.values.get("net.ipv4.tcp_ecn").map_or("2", String::as_str) {
            "0" => Some(0),
            "1" => Some(1),
            "2" => Some(2),
            _ => None,
        }
    }

    /// The stack and the buffers of a socket with these options that waits for a connection.
    pub(super) fn plan(&self, options: &Options, v6: bool) -> Plan {
        let mut stack = self.stack.clone().unwrap_or_else(|| self.system_stack(options));
        let chosen = self.stack.is_some();
        if !chosen {
            self.apply_switches(&mut stack);
        }
        let (receive, send) = match self.system {
            System::Linux => self.linux_buffers(options, &mut stack),
            System::FreeBsd => self.freebsd_buffers(options, v6, &mut stack),
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

    fn system_stack(&self, options: &Options) -> Stack {
        let own = options.congestion.as_deref().and_then(profile_of);
        let name = match self.system {
            System::Linux => own.or(self.profile()).unwrap_or("linux-2025"),
            System::FreeBsd => "linux-reno-2025",
        };
        Stack::named(name).unwrap_or_else(|| unreachable!("{name} is a named stack"))
    }

    /// Options that a system may switch off.
    fn apply_switches(&self, stack: &mut Stack) {
        let (timestamps, scale, sack, dsack) = match self.system {
            System::Linux => {
                ("net.ipv4.tcp_timestamps", "net.ipv4.tcp_window_scaling", "net.ipv4.tcp_sack", "net.ipv4.tcp_dsack")
            }
            System::FreeBsd => ("net.inet.tcp.rfc1323", "net.inet.tcp.rfc1323", "net.inet.tcp.sack.enable", ""),
        };
        stack.options.timestamps = self.on(timestamps, true);
        stack.options.window_scale = self.on(scale, true);
        stack.options.dsack = self.on(dsack, true);
        stack.options.sack_blocks = 4;
        if !self.on(sack, true) {
            *stack = stack.without_sack();
        }
        if let (false, DetectSpec::RackTlp(rack)) = (self.on("net.ipv4.tcp_early_retrans", true), &mut stack.detect) {
            rack.tlp = false;
        }
        if self.system == System::Linux {
            stack.options.ecn = self.ecn_mode() != Some(0);
        }
        if !self.on("net.ipv4.tcp_slow_start_after_idle", true) {
            stack.idle = IdleRule::Keep;
        }
        if self.system == System::FreeBsd {
            let delay = Nanos::from_millis(self.number("net.inet.tcp.delacktime", 0, 40));
            stack.ack =
                if self.on("net.inet.tcp.delayed_ack", true) { AckSpec::Delayed { delay } } else { AckSpec::Every };
            stack.limits.window_edge = WindowEdge::Exact;
        }
    }

    /// Linux's buffers: `tcp_rmem` and `tcp_wmem`, or the size that `setsockopt` requested, which the kernel doubles. Half of
    /// it is counted as overhead.
    fn linux_buffers(&self, options: &Options, stack: &mut Stack) -> (Bytes, Bytes) {
        let largest = self.number("net.ipv4.tcp_rmem", 2, 6_291_456);
        let receive = match options.receive_buffer {
            Some(asked) => {
                stack.receive_window = ReceiveWindowSpec::Fixed;
                asked
            }
            None => {
                let first = self.number("net.ipv4.tcp_rmem", 1, 131_072) / 2;
                if let ReceiveWindowSpec::Linux(spec) = &mut stack.receive_window {
                    spec.initial = first.max(1);
                }
                if stack.options.window_scale {
                    stack.options.rcv_wscale = Some(linux_scale(largest));
                }
                largest
            }
        };
        (receive, options.send_buffer.unwrap_or_else(|| self.number("net.ipv4.tcp_wmem", 2, 4_194_304)))
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
