//! Commands in backquotes: settings of the system, and queries of its state.
//!
//! No command is ever run: each is understood, or the script is not. A script's own file of commands, such as `defaults.sh`, is
//! read and understood in the same way.

use super::Runner;
use crate::script::syntax::Command;
use crate::verdict::{Fault, Reason};

/// How deeply files of commands may include each other.
const DEEPEST: u32 = 8;

/// The settings of Google's and Linux's `defaults.sh` that differ from the kernel's, for scripts without that file.
const DEFAULTS: &[&str] = &[
    "net.ipv4.tcp_rmem=4096 540000 15728640",
    "net.ipv4.tcp_wmem=4096 262144 4194304",
    "net.ipv4.tcp_slow_start_after_idle=0",
    "net.ipv4.tcp_ecn=0",
];

/// Programs that change nothing that a script could see here.
const INERT: &[&str] = &["ethtool", "kldload", "kldstat", "modprobe", "set", "sync", "true", "ulimit"];

impl Runner<'_> {
    pub(super) fn command(&mut self, command: &Command) -> Result<(), Fault> {
        self.commands(command.line, &command.text, 0)
    }

    fn commands(&mut self, line: u32, text: &str, depth: u32) -> Result<(), Fault> {
        if depth > DEEPEST {
            return Err(unknown(line, "files of commands include each other without end"));
        }
        let joined = text.replace("\\\n", " ");
        for one in joined.lines().flat_map(|line| line.split(';')).flat_map(|line| line.split("&&")) {
            let one = one.split(" #").next().unwrap_or_default().trim();
            if !one.is_empty() && !one.starts_with('#') {
                self.one(line, one, depth)?;
            }
        }
        Ok(())
    }

    fn one(&mut self, line: u32, text: &str, depth: u32) -> Result<(), Fault> {
        let stages: Vec<Vec<&str>> = text.split('|').map(|stage| stage.split_whitespace().collect()).collect();
        let words = stages.first().into_iter().flatten().copied().filter(|word| !is_redirection(word));
        let words: Vec<&str> = words.collect();
        let Some((&program, rest)) = words.split_first() else {
            return Err(unknown(line, format!("the command `{text}` is not understood")));
        };
        match program {
            "sysctl" => self.sysctl(line, text, rest),
            "echo" => self.echo(line, text),
            "sockstat" => self.sockstat(line, &stages),
            "tcpdrop" if rest == ["-s", "TIME_WAIT"] => {
                if self.world.tcp().drop_time_waits() {
                    return Ok(());
                }
                Err(unknown(line, "the TCP under test cannot drop connections in TIME-WAIT"))
            }
            "ip" if rest.first() == Some(&"tcp_metrics") => Ok(()),
            "ip" => self.route(line, text, rest),
            // A queue without limits or delays of its own; others, such as netem, would change the packets of a script.
            "tc" if rest.iter().any(|word| matches!(*word, "pfifo" | "pfifo_fast" | "del")) => Ok(()),
            program if INERT.contains(&program) => Ok(()),
            program if program.ends_with("set_sysctls.py") => rest.iter().try_for_each(|one| self.set(line, one)),
            program if program.starts_with("/tmp/sysctl_restore") => Ok(()),
            program if program.ends_with(".sh") => match (self.files)(program) {
                Some(text) => self.commands(line, &text, depth + 1),
                None if program.ends_with("/defaults.sh") => DEFAULTS.iter().try_for_each(|one| self.set(line, one)),
                None => Err(unknown(line, format!("the file `{program}` does not exist"))),
            },
            _ => Err(unknown(line, format!("the command `{text}` is not understood"))),
        }
    }

    fn sysctl(&mut self, line: u32, text: &str, words: &[&str]) -> Result<(), Fault> {
        // A value may contain blanks, within quotes or not.
        let settings: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let quoted = text.contains(['"', '\'']);
        if quoted {
            let from = text.find(settings.first().copied().unwrap_or_default()).unwrap_or(0);
            return self.set(line, &text[from..]);
        }
        if settings.iter().all(|one| one.contains('=')) && !settings.is_empty() {
            return settings.iter().try_for_each(|one| self.set(line, one));
        }
        Err(unknown(line, format!("the command `{text}` is not understood")))
    }

    /// `echo VALUE > /proc/sys/NAME`.
    fn echo(&mut self, line: u32, text: &str) -> Result<(), Fault> {
        let parts = text.strip_prefix("echo").and_then(|text| text.split_once('>'));
        match parts.map(|(value, file)| (value.trim(), file.trim())) {
            Some((value, file)) if file.starts_with("/proc/sys/") => self.set(line, &format!("{file}={value}")),
            Some(_) | None => Err(unknown(line, format!("the command `{text}` is not understood"))),
        }
    }

    /// `NAME=VALUE`, where the name may be a path below `/proc/sys`.
    fn set(&mut self, line: u32, setting: &str) -> Result<(), Fault> {
        let unquoted = setting.replace(['"', '\''], "");
        let (name, value) = unquoted.split_once('=').unwrap_or((&unquoted, ""));
        let name = name.trim().trim_start_matches("/proc/sys/").replace('/', ".");
        let words: Option<Vec<String>> =
            value.split_whitespace().filter(|word| !is_redirection(word)).map(product).collect();
        let value = words.ok_or_else(|| unknown(line, format!("the value `{value}` is not understood")))?.join(" ");
        let known = self.world.set(&name, &value);
        if known.map_err(|text| Fault::new(line, Reason::Broken, text))? {
            return Ok(());
        }
        Err(unknown(line, format!("the setting {name}={value} is not understood")))
    }

    /// `ip route VERB DESTINATION … initcwnd N`: the initial window of connections over the route, which here is every route.
    fn route(&mut self, line: u32, text: &str, words: &[&str]) -> Result<(), Fault> {
        let not = || unknown(line, format!("the command `{text}` is not understood"));
        let words = words.strip_prefix(&["-6"]).or(words.strip_prefix(&["-4"])).unwrap_or(words);
        let ["route" | "r", "add" | "append" | "change" | "replace", _, rest @ ..] = words else { return Err(not()) };
        for pair in rest.chunks(2) {
            match pair {
                ["dev" | "via" | "src" | "proto" | "scope" | "metric" | "table", _] => {}
                ["initcwnd", segments] => self.set(line, &format!("ackclock.initcwnd={segments}"))?,
                _ => return Err(not()),
            }
        }
        Ok(())
    }

    /// FreeBSD's list of sockets, in which scripts count one state: `sockstat … | grep -c STATE | grep N`.
    fn sockstat(&mut self, line: u32, stages: &[Vec<&str>]) -> Result<(), Fault> {
        let not = || unknown(line, "this use of sockstat is not understood: `… | grep -c STATE | grep N`");
        let state = stages.iter().find_map(|stage| match stage.as_slice() {
            ["grep", "-c", state] => Some(*state),
            _ => None,
        });
        let count = match stages.last().map(Vec::as_slice) {
            Some(["grep", count]) => count.parse::<usize>().ok(),
            Some(_) | None => None,
        };
        let (state, count) = state.zip(count).ok_or_else(not)?;
        let states =
            self.world.tcp().states().ok_or_else(|| unknown(line, "the TCP under test does not report states"))?;
        let found = states.iter().filter(|found| **found == state).count();
        if found == count {
            return Ok(());
        }
        let text = format!("{count} connections in {state} were expected, and there are {found}");
        Err(Fault::new(line, Reason::State, text))
    }
}

fn unknown(line: u32, text: impl Into<String>) -> Fault {
    Fault::new(line, Reason::Unknown, text)
}

/// A word, or the product that the shell would compute: `$((15*1024*1024))`.
fn product(word: &str) -> Option<String> {
    let Some(factors) = word.strip_prefix("$((").and_then(|rest| rest.strip_suffix("))")) else {
        return Some(word.to_owned());
    };
    let mut factors = factors.split('*').map(|factor| factor.trim().parse::<u64>().ok());
    factors.try_fold(1_u64, |all, factor| all.checked_mul(factor?)).map(|product| product.to_string())
}

fn is_redirection(word: &str) -> bool {
    matches!(word, ">" | "/dev/null" | "2>&1" | ">/dev/null" | "2>/dev/null" | "&>/dev/null")
}
