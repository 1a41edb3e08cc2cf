//! The processor time of a run to which nobody listens, of one as `ackclock run` makes it, with its hash and tally, and of one
//! that is measured as well.
//!
//! `heard FILE --only alone|heard|measured [--rounds ROUNDS] [--seconds SECONDS]` makes equal runs and prints the packets of one,
//! and the mean processor time. Default: one run, as long as the file says. Compare processes: runs of one share its memory.

use ackclock_lab::run::run;
use ackclock_lab::scenario::{Measuring, Overrides, Plan};
use ackclock_sim::engine::Sim;
use ackclock_tcp::time::Nanos;
use std::num::{NonZeroU32, NonZeroU64};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

/// The listeners of a run.
const LISTENERS: [&str; 3] = ["alone", "heard", "measured"];

/// CPU time of this process so far, in seconds.
fn cpu_s() -> Result<f64, String> {
    let text =
        std::fs::read_to_string("/proc/self/schedstat").map_err(|e| format!("CPU time is read from /proc: {e}"))?;
    let ns: f64 = text.split(' ').next().and_then(|n| n.parse().ok()).ok_or("/proc/self/schedstat has no number")?;
    Ok(ns / 1e9)
}

/// Makes one run; returns the data packets delivered in order, and the CPU time of laying out and running.
fn one(plan: &Plan, listener: &str) -> Result<(f64, f64), String> {
    let before = cpu_s()?;
    let bytes: Vec<u64> = match listener {
        "alone" => {
            let sim = Sim::new(&plan.scenario, &plan.stacks, 1, ());
            sim.map_err(|e| e.to_string())?.run().flows.iter().map(|f| f.acked).collect()
        }
        "heard" | "measured" => {
            let measures = (listener == "measured").then(Measuring::default);
            let plan = Plan { measures, ..plan.clone() };
            let summary = run(&plan, 1, None, &mut |_| ControlFlow::Continue(())).map_err(|e| e.to_string())?;
            summary.flows.iter().map(|f| f.acked_bytes).collect()
        }
        _ => return Err(format!("found {listener:?}; allowed is one of {LISTENERS:?}")),
    };
    let taken = cpu_s()? - before;
    let packets: u64 = bytes.iter().zip(&plan.scenario.flows).map(|(bytes, f)| bytes / u64::from(f.mss)).sum();
    Ok((packets as f64, taken))
}

/// What the words ask for.
struct Asked<'a> {
    file: &'a str,
    listener: &'a str,
    rounds: NonZeroU32,
    seconds: Option<NonZeroU64>,
}

const NEEDED: &str = "needed: a scenario file, then --only LISTENER, and perhaps --rounds ROUNDS and --seconds SECONDS";

fn asked<'a>(words: &[&'a str]) -> Result<Asked<'a>, String> {
    let [file, "--only", listener, options @ ..] = words else { return Err(NEEDED.to_owned()) };
    let mut asked = Asked { file, listener, rounds: NonZeroU32::MIN, seconds: None };
    let (pairs, []) = options.as_chunks() else { return Err(NEEDED.to_owned()) };
    for [option, number] in pairs {
        let wrong = |_| format!("{option}: found {number:?}, allowed is a number above 0");
        match *option {
            "--rounds" => asked.rounds = number.parse().map_err(wrong)?,
            "--seconds" => asked.seconds = Some(number.parse().map_err(wrong)?),
            _ => return Err(NEEDED.to_owned()),
        }
    }
    Ok(asked)
}

/// Means, not medians: the kernel may count CPU time in steps that are not much shorter than a run.
fn measure(words: &[&str]) -> Result<(), String> {
    let Asked { file, listener, rounds, seconds } = asked(words)?;
    let mut plan = Plan::load(Path::new(file), &Overrides::default()).map_err(|e| e.to_string())?;
    if let Some(seconds) = seconds {
        plan.scenario.duration = Nanos::from_secs(seconds.get());
    }
    let (mut packets, mut total) = (0.0, 0.0);
    for _ in 0..rounds.get() {
        let (found, taken) = one(&plan, listener)?;
        packets = found;
        total += taken;
    }
    println!("outcome {packets}\ncpu_s {:.6}", total / f64::from(rounds.get()));
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match measure(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(2)
        }
    }
}
