//! Thirty paths, as different as networks are, and six stacks. Single verdicts on every second path are never inspected: these
//! paths show whether the rules were fitted to the others.

use std::fmt::Write;

/// A path from S to D over M, where a capture is taken.
pub(crate) struct Path {
    pub(crate) name: &'static str,
    pub(crate) held_back: bool,
    near: Way,
    far: Way,
    window: &'static str,
}

/// A link: its rate, delay and queue, and the elements in each direction.
#[derive(Clone, Copy)]
struct Way {
    rate: &'static str,
    delay: &'static str,
    queue: &'static str,
    there: &'static str,
    back: &'static str,
}

/// The receiver's reports to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Dsack,
    SackAndTimestamps,
    Timestamps,
    Nothing,
}

impl Class {
    pub(crate) const ALL: [Class; 4] = [Class::Dsack, Class::SackAndTimestamps, Class::Timestamps, Class::Nothing];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::Dsack => "DSACK",
            Class::SackAndTimestamps => "SACK, timestamps",
            Class::Timestamps => "timestamps alone",
            Class::Nothing => "neither",
        }
    }
}

/// A stack with these parameters.
pub(crate) struct Sender {
    pub(crate) stack: &'static str,
    pub(crate) set: &'static [(&'static str, &'static str)],
    pub(crate) class: Class,
}

/// Hosts that differ from others in more than their headers: parameters of every stack, keys of the flow, and their stacks.
pub(crate) struct Hosts {
    set: &'static [(&'static str, &'static str)],
    flow: &'static str,
    pub(crate) senders: &'static [Sender],
}

/// Four transfers on one connection, with four seconds between them.
const PAUSES: &str = r#"app = { kind = "transfers", size = "SIZE packets", count = 4, connections = "one", think = { constant = "4 s" } }"#;

pub(crate) const HOSTS: [Hosts; 3] = [
    Hosts { set: &[], flow: "", senders: &SENDERS },
    Hosts {
        set: &[("rto.min", "300 ms")],
        flow: r#"receiver = { ack = "delayed", delay = "40 ms" }"#,
        senders: &[
            Sender {
                stack: "dsack-ewma",
                set: &[("options.dsack", "true"), ("options.timestamps", "false")],
                class: Class::Dsack,
            },
            Sender {
                stack: "rfc-6675",
                set: &[("options.dsack", "false"), ("options.timestamps", "false")],
                class: Class::Nothing,
            },
        ],
    },
    Hosts {
        set: &[("rto.tick", "500 ms"), ("rto.min", "1 s")],
        flow: r#"receiver = { ack = "heartbeat" }"#,
        senders: &[
            Sender { stack: "newreno", set: &[("options.timestamps", "true")], class: Class::Timestamps },
            Sender {
                stack: "rfc-6675",
                set: &[("options.dsack", "false"), ("options.timestamps", "true")],
                class: Class::SackAndTimestamps,
            },
            Sender {
                stack: "dsack-ewma",
                set: &[("options.dsack", "true"), ("options.timestamps", "true")],
                class: Class::Dsack,
            },
        ],
    },
];

impl Hosts {
    /// The scenario of a transfer between them.
    pub(crate) fn scenario(&self, path: &Path, segments: u32) -> String {
        match self.flow {
            "" => path.scenario(segments),
            flow => {
                let app = PAUSES.replace("SIZE", &(segments / 4).to_string());
                path.scenario_with(segments, &format!("{app}\n{flow}\n"))
            }
        }
    }

    pub(crate) fn set(&self, sender: &Sender) -> Vec<(String, String)> {
        sender.set.iter().chain(self.set).map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }
}

pub(crate) const SENDERS: [Sender; 6] = [
    Sender { stack: "linux-2025", set: &[], class: Class::Dsack },
    Sender {
        stack: "dsack-ewma",
        set: &[("options.dsack", "true"), ("options.timestamps", "false")],
        class: Class::Dsack,
    },
    Sender { stack: "linux-reno-2025", set: &[("options.dsack", "false")], class: Class::SackAndTimestamps },
    Sender { stack: "linux-2025", set: &[("options.sack", "false")], class: Class::Timestamps },
    Sender {
        stack: "rfc-6675",
        set: &[("options.dsack", "false"), ("options.timestamps", "false")],
        class: Class::Nothing,
    },
    Sender { stack: "newreno", set: &[("options.timestamps", "false")], class: Class::Nothing },
];

const NEAR: Way = Way { rate: "5 Mbps", delay: "30 ms", queue: "65 packets", there: "", back: "" };
const FAR: Way = Way { rate: "100 Mbps", delay: "20 ms", queue: "1000 packets", there: "", back: "" };
const SWAPS: &str = r#"{ kind = "swap", mode = "literal", count = 12, gap = { exponential = "1 s" } }"#;

const fn path(name: &'static str, near: Way, far: Way) -> Path {
    Path { name, held_back: false, near, far, window: "500 packets" }
}

/// A near link with these elements, and an ordinary far one.
const fn near(name: &'static str, there: &'static str) -> Path {
    path(name, Way { there, ..NEAR }, FAR)
}

/// An ordinary near link, and a far one with these elements.
const fn far(name: &'static str, there: &'static str) -> Path {
    path(name, NEAR, Way { there, ..FAR })
}

/// All packets.
#[expect(clippy::too_many_lines, reason = "a table of paths")]
pub(crate) fn all() -> Vec<Path> {
    let slow = Way { rate: "100 Mbps", queue: "1000 packets", ..NEAR };
    let short = Way { queue: "10 packets", ..NEAR };
    let fat = Way { rate: "50 Mbps", delay: "60 ms", queue: "800 packets", ..NEAR };
    let acks = |back| Way { back, ..FAR };
    let mut paths = vec![
        near("plain", ""),
        near("swaps", SWAPS),
        path("swaps behind the middle", slow, Way { there: SWAPS, rate: "5 Mbps", queue: "65 packets", ..FAR }),
        far("jitter of 5 ms", r#"{ kind = "netem", delay = "3 ms", jitter = "3 ms" }"#),
        far("jitter of 20 ms", r#"{ kind = "netem", delay = "10 ms", jitter = "10 ms" }"#),
        far("jitter of 100 ms", r#"{ kind = "netem", delay = "50 ms", jitter = "50 ms" }"#),
        far(
            "paths 40 ms apart",
            r#"{ kind = "split", choice = "random", paths = [{ weight = 1 }, { weight = 1, delay = "40 ms" }] }"#,
        ),
        far(
            "paths 10 ms apart",
            r#"{ kind = "split", choice = "turns", paths = [{ weight = 3 }, { weight = 1, delay = "10 ms" }] }"#,
        ),
        far("bursts of losses", r#"{ kind = "gilbert-elliott", p = 0.002, r = 0.25, at = "exit", only = "data" }"#),
        path(
            "bursts of losses, swaps",
            Way { there: SWAPS, ..NEAR },
            Way { there: r#"{ kind = "gilbert-elliott", p = 0.002, r = 0.25, at = "exit" }"#, ..FAR },
        ),
        near("spikes", r#"{ kind = "delay-spike", gap = { exponential = "5 s" }, length = "600 ms", only = "data" }"#),
        path(
            "spikes behind the middle, swaps",
            Way { there: SWAPS, ..NEAR },
            Way { there: r#"{ kind = "delay-spike", gap = { exponential = "5 s" }, length = "900 ms" }"#, ..FAR },
        ),
        path(
            "a fifth of the ACKs lost",
            Way { there: r#"{ kind = "bernoulli", p = 0.005 }"#, ..NEAR },
            acks(r#"{ kind = "bernoulli", p = 0.2 }"#),
        ),
        path(
            "a fifth of the ACKs lost, swaps",
            Way { there: SWAPS, back: r#"{ kind = "bernoulli", p = 0.2 }"#, ..NEAR },
            FAR,
        ),
        path("short queue", short, FAR),
        path(
            "short queue, swaps",
            Way { there: SWAPS, ..short },
            Way { there: r#"{ kind = "bernoulli", p = 0.003 }"#, ..FAR },
        ),
        far("route changes", r#"{ kind = "wobble", shape = "square", amplitude = "20 ms", period = "3 s" }"#),
        near(
            "route changes, 1 % lost",
            r#"{ kind = "wobble", shape = "square", amplitude = "35 ms", period = "2 s" }, { kind = "bernoulli", p = 0.01, at = "exit" }"#,
        ),
        near("blackouts", r#"{ kind = "outage", gap = { exponential = "6 s" }, length = "1.5 s" }"#),
        path(
            "blackouts of both ways, swaps",
            Way { there: SWAPS, ..NEAR },
            Way {
                there: r#"{ kind = "outage", times = ["3 s", "9 s", "16 s"], length = "800 ms" }"#,
                back: r#"{ kind = "outage", times = ["3 s", "9 s", "16 s"], length = "800 ms" }"#,
                ..FAR
            },
        ),
        path("long and fat", fat, FAR),
        path(
            "long and fat, swaps",
            Way { there: SWAPS, ..fat },
            Way { there: r#"{ kind = "bernoulli", p = 0.0005 }"#, ..FAR },
        ),
        path(
            "ACKs reordered",
            Way { there: r#"{ kind = "bernoulli", p = 0.01 }"#, ..NEAR },
            acks(r#"{ kind = "netem", delay = "20 ms", jitter = "20 ms" }"#),
        ),
        path(
            "ACKs reordered and lost, swaps",
            Way { there: SWAPS, ..NEAR },
            acks(r#"{ kind = "netem", delay = "10 ms", jitter = "10 ms" }, { kind = "bernoulli", p = 0.05 }"#),
        ),
        near("doubled", "DOUBLE"),
        path(
            "doubled and lost",
            Way { there: "DOUBLE", ..NEAR },
            Way { there: r#"{ kind = "bernoulli", p = 0.01 }"#, ..FAR },
        ),
        near("1 % lost", r#"{ kind = "bernoulli", p = 0.01 }"#),
        far("3 % lost", r#"{ kind = "bernoulli", p = 0.03 }"#),
        path(
            "3 % lost, jitter",
            Way { there: r#"{ kind = "bernoulli", p = 0.03 }"#, ..NEAR },
            Way { there: r#"{ kind = "netem", delay = "8 ms", jitter = "8 ms" }"#, ..FAR },
        ),
        path(
            "2 Mb/s, paths apart, lost",
            Way { rate: "2 Mbps", queue: "30 packets", there: r#"{ kind = "bernoulli", p = 0.01 }"#, ..NEAR },
            Way {
                there: r#"{ kind = "split", choice = "random", paths = [{ weight = 3 }, { weight = 1, delay = "60 ms" }] }"#,
                ..FAR
            },
        ),
    ];
    for (i, path) in paths.iter_mut().enumerate() {
        path.held_back = i % 2 == 1;
        if path.name.starts_with("long") {
            path.window = "2000 packets";
        }
    }
    paths
}

impl Path {
    /// Its scenario: one transfer of `segments` segments of 1460 bytes.
    pub(crate) fn scenario(&self, segments: u32) -> String {
        self.scenario_with(segments, &format!("app = {{ kind = \"fixed\", size = \"{segments} packets\" }}\n"))
    }

    /// The same with this `app`, which sends as much, and other keys of the flow.
    pub(crate) fn scenario_with(&self, segments: u32, app: &str) -> String {
        let mut text = format!("name = \"{}\"\n[run]\nduration = \"2000 s\"\n", self.name);
        // Two packets of every fifty are duplicated, some of them later.
        let doubles: Vec<String> = (40..3 * segments).filter(|n| n % 50 < 2).map(|n| n.to_string()).collect();
        let double = format!("{{ kind = \"script\", duplicate = [{}] }}", doubles.join(", "));
        for (from, to, Way { rate, delay, queue, there, back }) in [("S", "M", &self.near), ("M", "D", &self.far)] {
            let there = there.replace("DOUBLE", &double);
            // A write to a text cannot fail.
            let _ = write!(
                text,
                "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = \"{queue}\"\n\
                 elements = [{there}]\nback = {{ elements = [{back}] }}\n"
            );
        }
        let _ = write!(
            text,
            "[[flow]]\nfrom = \"S\"\nto = \"D\"\nstack = \"newreno\"\nwindow = \"{}\"\nhandshake = true\nwire = \"ipv4\"\n\
             {app}",
            self.window
        );
        text
    }
}
