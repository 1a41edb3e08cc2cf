//! The table, and the processes that fill it.

use crate::attack::{Attack, ATTACKS};
use crate::victim::{run, Damage};
use ackclock_live::LiveError;
use std::process::{Command, ExitCode};

/// The variable of a process that runs one attack.
const ONE: &str = "ACKCLOCK_ONE_ATTACK";
/// The beginning of what it says without the rights.
const UNAVAILABLE: &str = "unavailable: ";
/// Packets of an attack.
const COUNT: u64 = 16_000;
/// The most processor time for a packet, relative to an honest one.
const MOST: f64 = 4.0;

/// Runs the named attacks, or all; `words` are a number of packets and names.
pub(crate) fn all(words: &[String]) -> ExitCode {
    let (count, names) = match words {
        [] => (COUNT, words),
        [count, names @ ..] => match count.parse() {
            Ok(count) => (count, names),
            Err(_) => return refused(&format!("found \"{count}\", allowed: a number of packets")),
        },
    };
    if let Some(name) = names.iter().find(|name| ATTACKS.iter().all(|attack| attack.name != **name)) {
        return refused(&format!("found \"{name}\", allowed: an attack of crates/wire/examples/attacks"));
    }
    if let Ok(name) = std::env::var(ONE) {
        return one(&name, count);
    }
    println!("| attack, {count} packets | answers | bound | µs of processor for a packet | MB kept | bound | MB more resident | transfers beside it | the longest, ms |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let (mut honest, mut good) = (0.0, true);
    let wanted =
        |attack: &&Attack| attack.name == "honest" || names.is_empty() || names.iter().any(|n| n == attack.name);
    for attack in ATTACKS.iter().filter(wanted) {
        match elsewhere(attack, count) {
            Ok((row, each, within)) => {
                println!("{row}");
                honest = if attack.name == "honest" { each } else { honest };
                if !within || each > MOST * honest {
                    println!("{}: beyond its bounds", attack.name);
                    good = false;
                }
            }
            Err(why) => {
                if let Some(why) = why.strip_prefix(UNAVAILABLE) {
                    println!("SKIPPED: live attacks, because {why}");
                    return ExitCode::SUCCESS;
                }
                println!("{}: {why}", attack.name);
                good = false;
            }
        }
    }
    ExitCode::from(u8::from(!good))
}

/// Runs an attack in a process of its own: its row, the processor time for a packet, and whether the rest is within its bounds.
fn elsewhere(attack: &Attack, count: u64) -> Result<(String, f64, bool), String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output =
        Command::new(program).arg(count.to_string()).env(ONE, attack.name).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().collect();
    match lines[..] {
        [row, each, within] if output.status.success() => {
            let number = |e: std::num::ParseFloatError| e.to_string();
            Ok((row.to_owned(), each.parse().map_err(number)?, within == "true"))
        }
        _ => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

fn refused(why: &str) -> ExitCode {
    eprintln!("live_attacks: {why}");
    ExitCode::from(2)
}

/// Runs one attack in this process.
fn one(name: &str, count: u64) -> ExitCode {
    let Some(attack) = ATTACKS.iter().find(|attack| attack.name == name) else { return refused("no such attack") };
    let before = resident();
    match run(attack, count) {
        Ok(damage) => {
            println!("{}", row(attack, &damage, resident().saturating_sub(before)));
            println!("{}\n{}", damage.each(), damage.within(attack));
            ExitCode::SUCCESS
        }
        Err(LiveError::Unavailable(why)) => {
            eprintln!("{UNAVAILABLE}{why}");
            ExitCode::FAILURE
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn row(attack: &Attack, damage: &Damage, resident: u64) -> String {
    let mb = |bytes: f64| format!("{:.2}", bytes / 1e6);
    let cells = [
        format!("`{}`", attack.name),
        damage.answers.to_string(),
        damage.most_answers(attack).to_string(),
        format!("{:.1}", damage.each() / 1e3),
        mb(damage.kept as f64),
        mb(Damage::most_kept(attack) as f64),
        mb(resident as f64),
        damage.transfers.to_string(),
        format!("{:.0}", damage.slowest.as_secs_f64() * 1e3),
    ];
    format!("| {} |", cells.join(" | "))
}

/// The most memory that this process had, bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()).map_or(0, |kb| kb * 1024)
}
