//! Measures speed: delivered data packets per CPU second, for the real engine, the yardstick (`bare.rs`), ns-2 and
//! ns-3.
//!
//! `cargo bench -p ackclock-sim --bench speed [-- --json] [--only WORD] [--rounds N] [--ns3 PROGRAM]`, where PROGRAM is the
//! compiled `ns3/speed.cc`. To run one case in this process, optionally with another stack: `-- --case NAME [--stack NAME]`;
//! the names of the stacks: `-- --stacks`
//!
//! Each case runs in a process of its own, so that its peak memory can be measured. The cases run in rounds, so that
//! other load on the machine affects all of them. CPU time is the kernel's (`/proc`), without the time to build the
//! scenario.

mod bare;
mod cases;

use ackclock_tcp::stack::Stack;
use cases::{Case, CASES};
use std::fs;
use std::process::{Command, ExitCode};

/// The figures of one run of a case.
#[derive(Clone, Debug, Default)]
struct Outcome {
    packets: f64,
    cpu_s: f64,
    events: f64,
    rss_kb: f64,
}

impl Outcome {
    fn rate(&self) -> f64 {
        self.packets / self.cpu_s.max(1e-9)
    }

    fn to_line(&self) -> String {
        format!("{} {} {} {}", self.packets, self.cpu_s, self.events, self.rss_kb)
    }

    fn from_line(line: &str) -> Option<Outcome> {
        let mut numbers = line.split_whitespace().map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Outcome { packets: next()?, cpu_s: next()?, events: next()?, rss_kb: next()? })
    }
}

/// CPU time of this process so far, in seconds.
fn cpu_s() -> Result<f64, String> {
    let text = fs::read_to_string("/proc/self/schedstat").map_err(|e| format!("CPU time is read from /proc: {e}"))?;
    let ns: f64 = text.split(' ').next().and_then(|n| n.parse().ok()).ok_or("/proc/self/schedstat has no number")?;
    Ok(ns / 1e9)
}

/// The peak memory of this process, in kB.
fn peak_rss_kb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(f64::NAN)
}

fn run_here(case: &Case, stack: Option<&str>) -> Result<Outcome, String> {
    let mut run = cases::Run::new(case, stack)?;
    let before = cpu_s()?;
    let r = run.run();
    let cpu_s = cpu_s()? - before;
    let delivered: u64 = r.flows.iter().map(|f| f.delivered / u64::from(cases::MSS)).sum();
    Ok(Outcome { packets: delivered as f64, cpu_s, events: r.events as f64, rss_kb: peak_rss_kb() })
}

/// Runs a case in a process of its own.
fn run_apart(case: &Case) -> Result<Outcome, String> {
    let me = std::env::current_exe().map_err(|e| e.to_string())?;
    outcome(Command::new(me).args(["--case", case.name]), case.name)
}

/// Debian's ns2, if it is installed.
fn ns2() -> Option<&'static str> {
    ["ns2", "ns"].into_iter().find(|n| Command::new(n).arg("/dev/null").output().is_ok())
}

fn run_ns2(ns: &str, case: &Case) -> Result<Outcome, String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/ns2/speed.tcl");
    outcome(Command::new(ns).args([script, case.name]), "ns-2")
}

fn run_ns3(program: &str, case: &Case, seconds: u32) -> Result<Outcome, String> {
    outcome(Command::new(program).args([case.name, &seconds.to_string()]), "ns-3")
}

fn outcome(command: &mut Command, what: &str) -> Result<Outcome, String> {
    let out = command.output().map_err(|e| format!("{what}: {e}"))?;
    let text = String::from_utf8_lossy(&out.stdout);
    let line = text.lines().find_map(|l| l.strip_prefix("outcome "));
    line.and_then(Outcome::from_line).ok_or_else(|| format!("{what}: {}{text}", String::from_utf8_lossy(&out.stderr)))
}

struct Args {
    json: bool,
    only: String,
    rounds: usize,
    ns3: Option<String>,
    case: Option<String>,
    stack: Option<String>,
    stacks: bool,
}

const WORDS: &str = "--json, --only WORD, --rounds N, --ns3 PROGRAM, --case NAME, --stack NAME, --stacks";

fn args() -> Result<Args, String> {
    let only = String::new();
    let mut a = Args { json: false, only, rounds: 3, ns3: None, case: None, stack: None, stacks: false };
    let mut words = std::env::args().skip(1);
    while let Some(w) = words.next() {
        let mut value = || words.next().ok_or(format!("{w} needs a value"));
        match w.as_str() {
            "--bench" => {}
            "--json" => a.json = true,
            "--stacks" => a.stacks = true,
            "--only" => a.only = value()?,
            "--ns3" => a.ns3 = Some(value()?),
            "--case" => a.case = Some(value()?),
            "--stack" => a.stack = Some(value()?),
            "--rounds" => a.rounds = value()?.parse().map_err(|_| "--rounds needs a number")?,
            _ => return Err(format!("unknown word {w}; known are {WORDS}")),
        }
    }
    Ok(a)
}

/// The median run, by speed.
fn median(mut all: Vec<Outcome>) -> Option<Outcome> {
    all.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
    all.get(all.len() / 2).cloned()
}

/// The rounds of one case, on each simulator that has it.
#[derive(Clone, Default)]
struct Rounds {
    ours: Vec<Outcome>,
    ns2: Vec<Outcome>,
    ns3: Vec<Outcome>,
}

fn bench(a: &Args) -> Result<(), String> {
    let chosen: Vec<&Case> = CASES.iter().filter(|c| c.name.contains(&a.only)).collect();
    let mut rounds = vec![Rounds::default(); chosen.len()];
    let ns2 = ns2();
    for _ in 0..a.rounds {
        for (r, c) in rounds.iter_mut().zip(&chosen) {
            r.ours.push(run_apart(c)?);
            let Some(seconds) = c.ns3_s else { continue };
            if let Some(ns) = ns2 {
                r.ns2.push(run_ns2(ns, c)?);
            }
            if let Some(program) = &a.ns3 {
                r.ns3.push(run_ns3(program, c, seconds)?);
            }
        }
    }
    if !a.json {
        println!(
            "{:<16} {:>12} {:>9} {:>9} {:>10} {:>12} {:>7} {:>12} {:>7}",
            "case", "packets/s", "ev/pkt", "CPU s", "RSS MB", "ns-2 pkt/s", "ratio", "ns-3 pkt/s", "ratio"
        );
    }
    for (c, r) in chosen.iter().zip(rounds) {
        let (ns2, ns3) = (median(r.ns2), median(r.ns3));
        match median(r.ours) {
            Some(ours) if a.json => print_json(c, &ours, ns2, ns3),
            Some(ours) => print_line(c, &ours, ns2, ns3),
            None => {}
        }
    }
    if !a.json && ns2.is_none() && chosen.iter().any(|c| c.ns3_s.is_some()) {
        println!("ns-2 is not installed (Debian: ns2), so nothing is compared with it.");
    }
    Ok(())
}

/// `per_simulated_s` shows whether the others carried the same load.
fn print_json(c: &Case, o: &Outcome, ns2: Option<Outcome>, ns3: Option<Outcome>) {
    let or_null = |x: Option<f64>, digits: usize| x.map_or("null".to_owned(), |x| format!("{x:.digits$}"));
    let seconds = c.seconds();
    let ns2_s = ns2.as_ref().map(|n| n.packets / seconds);
    let ns3_s = ns3.as_ref().zip(c.ns3_s).map(|(n, s)| n.packets / f64::from(s));
    println!(
        "{{\"case\":\"{}\",\"tcp\":\"{}\",\"packets\":{:.0},\"packets_per_cpu_s\":{:.0},\"events_per_packet\":{:.3},\"cpu_s\":{:.4},\"peak_rss_kb\":{:.0},\"per_simulated_s\":{:.1},\
         \"ns2_packets_per_cpu_s\":{},\"ns2_per_simulated_s\":{},\"ns3_packets_per_cpu_s\":{},\"ns3_per_simulated_s\":{}}}",
        c.name,
        c.tcp.name(),
        o.packets,
        o.rate(),
        o.events / o.packets.max(1.0),
        o.cpu_s,
        o.rss_kb,
        o.packets / seconds,
        or_null(ns2.map(|n| n.rate()), 0),
        or_null(ns2_s, 1),
        or_null(ns3.map(|n| n.rate()), 0),
        or_null(ns3_s, 1),
    );
}

fn print_line(c: &Case, o: &Outcome, ns2: Option<Outcome>, ns3: Option<Outcome>) {
    let (per_packet, mb) = (o.events / o.packets.max(1.0), o.rss_kb / 1024.0);
    let beside = |other: Option<Outcome>| {
        let theirs = other.map(|n| n.rate());
        format!(
            "{:>12} {:>7}",
            theirs.map_or(String::new(), |n| format!("{n:.0}")),
            theirs.map_or(String::new(), |n| format!("{:.1}", o.rate() / n))
        )
    };
    let (ns2, ns3) = (beside(ns2), beside(ns3));
    let line = format!("{:<16} {:>12.0} {per_packet:>9.3} {:>9.3} {mb:>10.1} {ns2} {ns3}", c.name, o.rate(), o.cpu_s);
    println!("{}", line.trim_end());
}

fn main() -> ExitCode {
    let done = args().and_then(|a| match &a.case {
        None if a.stacks => {
            Stack::names().for_each(|name| println!("{name}"));
            Ok(())
        }
        None => bench(&a),
        Some(name) => {
            let case = CASES.iter().find(|c| c.name == name).ok_or(format!("no case is called {name}"))?;
            run_here(case, a.stack.as_deref()).map(|o| println!("outcome {}", o.to_line()))
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}
