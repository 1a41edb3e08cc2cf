//! How fast? Delivered data packets per CPU second, for the real engine, the yardstick (`bare.rs`) and ns-2.
//!
//! `cargo bench -p ackclock-sim --bench speed [-- --json] [--only WORD] [--rounds N]`; one case here and now, perhaps with
//! another stack: `-- --case NAME [--stack NAME]`
//!
//! Each case runs in a process of its own, so that its peak memory can be seen, in rounds, so that whatever else the
//! machine does meets all of them. CPU time is the kernel's (`/proc`), without the time to build the scenario.

mod bare;
mod cases;

use cases::{Case, CASES};
use std::fs;
use std::process::{Command, ExitCode};

/// What one run of a case told.
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

/// The most memory that this process ever held, in kB.
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

/// The same case on Debian's ns2; `None` if it is not installed.
fn run_ns2(case: &Case) -> Option<Result<Outcome, String>> {
    let flows = case.ns2?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/ns2/speed.tcl");
    let ns = ["ns2", "ns"].into_iter().find(|n| Command::new(n).arg("/dev/null").output().is_ok())?;
    Some(outcome(Command::new(ns).args([script, flows]), "ns-2"))
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
    case: Option<String>,
    stack: Option<String>,
}

fn args() -> Result<Args, String> {
    let mut a = Args { json: false, only: String::new(), rounds: 3, case: None, stack: None };
    let mut words = std::env::args().skip(1);
    while let Some(w) = words.next() {
        let mut value = || words.next().ok_or(format!("{w} needs a value"));
        match w.as_str() {
            "--bench" => {}
            "--json" => a.json = true,
            "--only" => a.only = value()?,
            "--case" => a.case = Some(value()?),
            "--stack" => a.stack = Some(value()?),
            "--rounds" => a.rounds = value()?.parse().map_err(|_| "--rounds needs a number".to_owned())?,
            _ => {
                return Err(format!(
                    "unknown word {w}; known are --json, --only WORD, --rounds N, --case NAME, --stack NAME"
                ))
            }
        }
    }
    Ok(a)
}

/// The run in the middle, by speed.
fn median(mut all: Vec<Outcome>) -> Option<Outcome> {
    all.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
    all.get(all.len() / 2).cloned()
}

fn bench(a: &Args) -> Result<(), String> {
    let chosen: Vec<&Case> = CASES.iter().filter(|c| c.name.contains(&a.only)).collect();
    let mut ours = vec![Vec::new(); chosen.len()];
    let mut theirs = vec![Vec::new(); chosen.len()];
    for _ in 0..a.rounds {
        for (i, c) in chosen.iter().enumerate() {
            ours[i].push(run_apart(c)?);
            if let Some(o) = run_ns2(c) {
                theirs[i].push(o?);
            }
        }
    }
    if !a.json {
        println!(
            "{:<16} {:>12} {:>9} {:>9} {:>10} {:>12} {:>7}",
            "case", "packets/s", "ev/pkt", "CPU s", "RSS MB", "ns-2 pkt/s", "ratio"
        );
    }
    let none = theirs.iter().all(Vec::is_empty);
    for ((c, ours), theirs) in chosen.iter().zip(ours).zip(theirs) {
        print_case(a.json, c, median(ours), median(theirs));
    }
    if none && !a.json && chosen.iter().any(|c| c.ns2.is_some()) {
        println!("ns-2 is not installed (Debian: ns2), so nothing is compared with it.");
    }
    Ok(())
}

fn print_case(json: bool, c: &Case, ours: Option<Outcome>, ns2: Option<Outcome>) {
    let Some(o) = ours else { return };
    let (per_s, per_packet) = (o.rate(), o.events / o.packets.max(1.0));
    if json {
        let theirs = ns2.map_or("null".to_owned(), |n| format!("{:.0}", n.rate()));
        println!(
            "{{\"case\":\"{}\",\"tcp\":\"{}\",\"packets\":{:.0},\"packets_per_cpu_s\":{per_s:.0},\"events_per_packet\":{per_packet:.3},\"cpu_s\":{:.4},\"peak_rss_kb\":{:.0},\"ns2_packets_per_cpu_s\":{theirs}}}",
            c.name, c.tcp.name(), o.packets, o.cpu_s, o.rss_kb
        );
    } else {
        let (n, ratio) = ns2.map_or((String::new(), String::new()), |n| {
            (format!("{:.0}", n.rate()), format!("{:.1}", per_s / n.rate()))
        });
        let mb = o.rss_kb / 1024.0;
        println!("{:<16} {per_s:>12.0} {per_packet:>9.3} {:>9.3} {mb:>10.1} {n:>12} {ratio:>7}", c.name, o.cpu_s);
    }
}

fn main() -> ExitCode {
    let done = args().and_then(|a| match &a.case {
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
