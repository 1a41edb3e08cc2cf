//! Compares the processor time of a run as `ackclock run` makes it, with its hash and tally, and of the same run measured, with
//! that of the engine to which nobody listens.
//!
//! `heard FILE [--rounds N]` prints means as JSON; `heard FILE --only alone|heard|measured [--seconds N]` makes one run, of N
//! simulated seconds if given, for a profiler.

use ackclock_lab::run::run;
use ackclock_lab::scenario::{Measuring, Overrides, Plan};
use ackclock_sim::engine::Sim;
use ackclock_tcp::time::Nanos;
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

fn profile(plan: &Plan, listener: &str) -> Result<(), String> {
    one(plan, listener).map(|(packets, _)| println!("outcome {packets}"))
}

/// Means, not medians: the kernel may count CPU time in steps that are not much shorter than a run.
fn compare(plan: &Plan, rounds: u32) -> Result<(), String> {
    let (mut packets, mut times) = (0.0, [0.0; LISTENERS.len()]);
    for _ in 0..rounds {
        for (listener, time) in LISTENERS.iter().zip(&mut times) {
            let (found, taken) = one(plan, listener)?;
            packets = found;
            *time += taken;
        }
    }
    let mean = |time| time / f64::from(rounds);
    let cells = LISTENERS.iter().zip(times).map(|(name, time)| format!("\"{name}_cpu_s\":{:.5}", mean(time)));
    println!("{{\"packets\":{packets},{}}}", cells.collect::<Vec<_>>().join(","));
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let load = |file: &str| Plan::load(Path::new(file), &Overrides::default()).map_err(|e| e.to_string());
    let done = match words.as_slice() {
        [file] => load(file).and_then(|plan| compare(&plan, 5)),
        [file, "--rounds", n] => {
            n.parse().map_err(|_| "--rounds needs a number".to_owned()).and_then(|n| compare(&load(file)?, n))
        }
        [file, "--only", listener] => load(file).and_then(|plan| profile(&plan, listener)),
        [file, "--only", listener, "--seconds", n] => {
            n.parse().map_err(|_| "--seconds needs a number".to_owned()).and_then(|n| {
                let mut plan = load(file)?;
                plan.scenario.duration = Nanos::from_secs(n);
                profile(&plan, listener)
            })
        }
        _ => Err("needed: a scenario file, and perhaps --rounds N or --only LISTENER [--seconds N]".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(2)
        }
    }
}
