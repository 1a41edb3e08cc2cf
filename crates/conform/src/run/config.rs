//! The options of a script: addresses, tolerances, the device.

use crate::script::syntax::{Script, Setting};
use crate::verdict::{Fault, Reason};
use ackclock_tcp::time::Nanos;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// How exactly the options of a packet are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In their order, with their padding, as packetdrill does.
    Exact,
    /// Their content in any order, without padding (RFC 9293 §3.1 prescribes neither).
    Free,
}

/// How a script is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The packets on the wire are IPv6.
    pub v6: bool,
    /// The address of the TCP under test; a listener without a port of its own listens at this one.
    pub local: SocketAddr,
    /// The script's end; connections go to this port.
    pub remote: SocketAddr,
    /// How far a time may be off. Default: 4 ms, as in packetdrill.
    pub tolerance: Nanos,
    /// How far a time may be off, in percent of the time since the previous event. Default: 12.5, as in packetdrill.
    pub tolerance_percent: f64,
    /// The device's MTU, bytes. Default: 1500.
    pub mtu: u32,
    /// Whether packets are compared one by one. Default: several are joined until they are as long as the script's packet.
    pub strict_segments: bool,
    /// Nanoseconds per tick of the timestamps, if their values are checked. Default: they are not.
    pub timestamp_tick: Option<Nanos>,
    /// How exactly options are compared. Default: exactly.
    pub layout: Layout,
}

impl Config {
    /// The configuration that a script asks for.
    ///
    /// # Errors
    /// An unknown option, or an invalid value.
    pub fn of(script: &Script) -> Result<Config, Fault> {
        let last = |name: &str| script.options.iter().rev().find(|o| o.name == name);
        let version = last("ip_version").or(last("wire_protocol"));
        let v6 = version.is_some_and(|o| o.value == "ipv6");
        let mut config = Config {
            v6,
            local: SocketAddr::new(default_ip(v6, true), 8080),
            remote: SocketAddr::new(default_ip(v6, false), 8080),
            tolerance: Nanos::from_millis(4),
            tolerance_percent: 12.5,
            mtu: 1500,
            strict_segments: false,
            timestamp_tick: None,
            layout: Layout::Exact,
        };
        for option in &script.options {
            config.apply(option)?;
        }
        Ok(config)
    }

    fn apply(&mut self, option: &Setting) -> Result<(), Fault> {
        match option.name.as_str() {
            "ip_version" => {
                let allowed = ["ipv4", "ipv6", "ipv4-mapped-ipv6"];
                if !allowed.contains(&option.value.as_str()) {
                    return Err(wrong(option, "ipv4, ipv6 or ipv4-mapped-ipv6"));
                }
            }
            "local_ip" => self.local.set_ip(value(option, "an IP address")?),
            "remote_ip" => self.remote.set_ip(value(option, "an IP address")?),
            "bind_port" => self.local.set_port(value(option, "a port")?),
            "connect_port" => self.remote.set_port(value(option, "a port")?),
            "tolerance_usecs" => self.tolerance = micros(option)?,
            "tolerance_percent" => {
                self.tolerance_percent = value(option, "a percentage")?;
                if !(0.0..=100.0).contains(&self.tolerance_percent) {
                    return Err(wrong(option, "a percentage from 0 to 100"));
                }
            }
            "mtu" => self.mtu = value(option, "a number of bytes")?,
            "tcp_ts_tick_usecs" => {
                let tick = micros(option)?;
                self.timestamp_tick = (tick > Nanos::ZERO).then_some(tick);
            }
            "strict_segments" => self.strict_segments = true,
            // Options for packetdrill itself, and definitions, which the parser has applied.
            "code_command" | "code_format" | "code_sockopt" | "debug" | "define" | "D" | "dry_run" | "gateway_ip"
            | "init_scripts" | "mss" | "netmask_ip" | "non_fatal" | "send_omit_free" | "speed"
            | "tcp_ts_ecr_scaled" | "use_expect" | "verbose" | "v" | "wire_client" | "wire_protocol"
            | "wire_server" => {}
            _ => {
                let text = format!("the option --{} is not understood", option.name);
                return Err(Fault::new(option.line, Reason::Unknown, text));
            }
        }
        Ok(())
    }
}

/// Up to an hour.
fn micros(option: &Setting) -> Result<Nanos, Fault> {
    const ALLOWED: &str = "a number of microseconds from 0 to 3600000000";
    let micros: u64 = value(option, ALLOWED)?;
    if micros > 3_600_000_000 {
        return Err(wrong(option, ALLOWED));
    }
    Ok(Nanos::from_micros(micros))
}

fn wrong(option: &Setting, allowed: &str) -> Fault {
    let text = format!("--{} is {:?}, allowed: {allowed}", option.name, option.value);
    Fault::new(option.line, Reason::Syntax, text)
}

fn value<T: std::str::FromStr>(option: &Setting, allowed: &str) -> Result<T, Fault> {
    option.value.parse().map_err(|_| wrong(option, allowed))
}

/// The addresses of scripts that name none: those for documentation and private use.
fn default_ip(v6: bool, local: bool) -> IpAddr {
    match (v6, local) {
        (false, true) => IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1)),
        (false, false) => IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        (true, true) => IpAddr::V6(Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1)),
        (true, false) => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    }
}
