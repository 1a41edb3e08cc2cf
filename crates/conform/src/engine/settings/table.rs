//! All `sysctl` settings that are understood: their names, their values, and their effect here.
//!
//! Source: Linux 6.18, `Documentation/networking/ip-sysctl.rst`; FreeBSD 14, tcp(4).

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, with dots.
    pub name: &'static str,
    /// The values that are understood.
    pub values: Values,
    /// What it does here; `None` if no script could see a difference.
    pub effect: Option<&'static str>,
}

/// The values of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Every value: it has no effect.
    Any,
    /// A whole number from the first to the second.
    Number(u64, u64),
    /// Least, default and largest size of a buffer, in bytes.
    Sizes,
    /// One of these words.
    Words(&'static [&'static str]),
}

impl Values {
    /// Whether `value` is one of them.
    pub fn have(self, value: &str) -> bool {
        let number = |word: &str| word.parse::<u64>().ok();
        match self {
            Values::Any => true,
            Values::Number(least, most) => number(value).is_some_and(|n| (least..=most).contains(&n)),
            Values::Sizes => value.split(' ').count() == 3 && value.split(' ').all(|word| number(word).is_some()),
            Values::Words(words) => words.contains(&value),
        }
    }

    /// In words, for the guide.
    fn words(self) -> String {
        match self {
            Values::Any => "any".to_owned(),
            Values::Number(least, most) => format!("{least} to {most}"),
            Values::Sizes => "least, default, largest".to_owned(),
            Values::Words(words) => words.join(", "),
        }
    }
}

/// The setting of this name.
pub(super) fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

const fn followed(name: &'static str, values: Values, effect: &'static str) -> Setting {
    Setting { name, values, effect: Some(effect) }
}

const fn inert(name: &'static str) -> Setting {
    Setting { name, values: Values::Any, effect: None }
}

const fn fixed(name: &'static str, values: &'static [&'static str]) -> Setting {
    Setting { name, values: Values::Words(values), effect: Some("fixed") }
}

const SWITCH: Values = Values::Number(0, 1);
const BYTES: Values = Values::Number(0, u32::MAX as u64);

/// All settings, by name.
pub const SETTINGS: &[Setting] = &[
    followed("ackclock.initcwnd", Values::Number(1, 1000), "initial window, segments; `ip route … initcwnd` sets it"),
    followed("kern.ipc.maxsockbuf", BYTES, "window scale that is offered"),
    inert("net.core.bpf_jit_enable"),
    inert("net.core.default_qdisc"),
    inert("net.core.netdev_max_backlog"),
    inert("net.core.optmem_max"),
    followed("net.core.rmem_max", BYTES, "largest `SO_RCVBUF`"),
    inert("net.core.somaxconn"),
    followed("net.core.wmem_max", BYTES, "largest `SO_SNDBUF`"),
    fixed("net.inet.ip.ttl", &["64"]),
    fixed("net.inet.tcp.blackhole", &["0"]),
    followed("net.inet.tcp.delacktime", Values::Number(1, 10_000), "delay of an ACK, ms"),
    followed("net.inet.tcp.delayed_ack", SWITCH, "delayed ACKs; 0: an ACK for each segment"),
    followed("net.inet.tcp.drop_synfin", SWITCH, "segments with SYN and FIN are dropped"),
    fixed("net.inet.tcp.ecn.enable", &["0", "2"]),
    inert("net.inet.tcp.hostcache.purgenow"),
    followed("net.inet.tcp.insecure_rst", SWITCH, "a RST anywhere in the window counts"),
    followed("net.inet.tcp.insecure_syn", SWITCH, "a SYN anywhere in the window resets"),
    followed("net.inet.tcp.recvspace", BYTES, "receive buffer"),
    fixed("net.inet.tcp.rexmit_initial", &["1000"]),
    followed("net.inet.tcp.rfc1323", SWITCH, "timestamps and window scale"),
    followed("net.inet.tcp.sack.enable", SWITCH, "SACK"),
    followed("net.inet.tcp.sendspace", BYTES, "send buffer"),
    inert("net.inet.tcp.syncookies"),
    fixed("net.inet6.ip6.hlim", &["64"]),
    fixed("net.ipv4.ip_no_pmtu_disc", &["0"]),
    fixed("net.ipv4.tcp_abort_on_overflow", &["0"]),
    inert("net.ipv4.tcp_adv_win_scale"),
    inert("net.ipv4.tcp_app_win"),
    inert("net.ipv4.tcp_autocorking"),
    followed(
        "net.ipv4.tcp_congestion_control",
        Values::Words(&["bbr", "cubic", "reno"]),
        "stack `linux-bbr-2025`, `linux-2025` or `linux-reno-2025`",
    ),
    followed("net.ipv4.tcp_dsack", SWITCH, "reports of duplicates"),
    inert("net.ipv4.tcp_early_demux"),
    followed("net.ipv4.tcp_early_retrans", Values::Number(0, 4), "3 and 4: tail loss probes"),
    followed("net.ipv4.tcp_ecn", Values::Number(0, 2), "0: no ECN; 1: asked for; 2: accepted"),
    fixed("net.ipv4.tcp_ecn_fallback", &["0", "1"]),
    fixed("net.ipv4.tcp_fack", &["0"]),
    inert("net.ipv4.tcp_fastopen"),
    inert("net.ipv4.tcp_fastopen_key"),
    fixed("net.ipv4.tcp_fin_timeout", &["60"]),
    fixed("net.ipv4.tcp_frto", &["2"]),
    followed("net.ipv4.tcp_keepalive_intvl", Values::Number(1, 32_767), "time between probes, s"),
    followed("net.ipv4.tcp_keepalive_probes", Values::Number(1, 127), "probes without an answer"),
    followed("net.ipv4.tcp_keepalive_time", Values::Number(1, 32_767), "silence before the first probe, s"),
    inert("net.ipv4.tcp_limit_output_bytes"),
    fixed("net.ipv4.tcp_max_reordering", &["300"]),
    inert("net.ipv4.tcp_mem"),
    followed("net.ipv4.tcp_min_tso_segs", Values::Number(1, 32), "1: segments leave one by one"),
    followed("net.ipv4.tcp_moderate_rcvbuf", SWITCH, "the receive buffer grows"),
    inert("net.ipv4.tcp_no_metrics_save"),
    inert("net.ipv4.tcp_no_ssthresh_metrics_save"),
    followed("net.ipv4.tcp_notsent_lowat", BYTES, "`poll` finds room only below this, bytes not sent"),
    fixed("net.ipv4.tcp_pacing_ca_ratio", &["120"]),
    fixed("net.ipv4.tcp_pacing_ss_ratio", &["200"]),
    fixed("net.ipv4.tcp_recovery", &["1"]),
    fixed("net.ipv4.tcp_reordering", &["3"]),
    fixed("net.ipv4.tcp_retries2", &["15"]),
    followed("net.ipv4.tcp_rfc1337", SWITCH, "a RST does not end TIME-WAIT"),
    followed("net.ipv4.tcp_rmem", Values::Sizes, "receive buffer, window scale"),
    followed("net.ipv4.tcp_rto_min_us", Values::Number(1, 1_000_000), "least retransmission timeout, us"),
    followed("net.ipv4.tcp_sack", SWITCH, "SACK"),
    followed("net.ipv4.tcp_slow_start_after_idle", SWITCH, "the window shrinks after an idle period"),
    fixed("net.ipv4.tcp_stdurg", &["0"]),
    followed(
        "net.ipv4.tcp_syn_linear_timeouts",
        Values::Number(0, 127),
        "repetitions of a SYN before the timeout doubles",
    ),
    followed("net.ipv4.tcp_syn_retries", Values::Number(1, 127), "repetitions of a SYN"),
    followed("net.ipv4.tcp_synack_retries", Values::Number(0, 255), "repetitions of a SYN-ACK"),
    fixed("net.ipv4.tcp_syncookies", &["1"]),
    followed("net.ipv4.tcp_timestamps", Values::Number(0, 2), "timestamps"),
    fixed("net.ipv4.tcp_tso_win_divisor", &["3"]),
    inert("net.ipv4.tcp_tw_reuse"),
    followed("net.ipv4.tcp_window_scaling", SWITCH, "window scale"),
    followed("net.ipv4.tcp_wmem", Values::Sizes, "send buffer"),
];

/// The guide's page about them.
pub fn page() -> String {
    let mut page = String::from(
        "<!-- Generated: cargo run -p ackclock-conform --example settings_page > docs/conformance-settings.md -->\n\
         # Settings in conformance scripts\n\n\
         A script sets a value with `sysctl`, `set_sysctls.py` or `echo VALUE > /proc/sys/NAME`. It is *not understood* if the name or the value is not in this\n\
         table. A setting that a script or its file of commands makes applies to a [chosen stack](conformance.md#the-sender-of-a-script), too.\n\n\
         | name | values | effect |\n| --- | --- | --- |\n\
         | `ackclock.stack` | a stack, with parameters | the sender's stack |\n",
    );
    for Setting { name, values, effect } in SETTINGS {
        let effect = effect.unwrap_or("none that a script could see");
        page.push_str(&format!("| `{name}` | {} | {effect} |\n", values.words()));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_in_the_order_of_their_names_and_each_is_there_once() {
        assert!(SETTINGS.windows(2).all(|w| w[0].name < w[1].name));
    }

    #[test]
    fn a_value_that_is_not_listed_is_not_understood() {
        let have = |name: &str, value: &str| setting(name).is_some_and(|s| s.values.have(value));
        assert!(have("net.ipv4.tcp_rmem", "4096 131072 6291456") && !have("net.ipv4.tcp_rmem", "4096 many 6291456"));
        assert!(have("net.ipv4.tcp_syn_retries", "1") && !have("net.ipv4.tcp_syn_retries", "0"));
        assert!(have("net.ipv4.tcp_retries2", "15") && !have("net.ipv4.tcp_retries2", "3"));
        assert!(have("net.ipv4.tcp_mem", "whatever") && !have("net.ipv4.tcp_unheard_of", "1"));
    }
}
