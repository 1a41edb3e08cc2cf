//! The programs at the ends of a path. None of them outlives its run, however the run ends.
//!
//! Source: Linux, `man 7 pid_namespaces`; `man 5 proc` (`/proc/[pid]/net`).

use crate::error::LiveError;
use crate::path::hosts::{address, Host};
use crate::sys;
use ackclock_sim::watch::Side;
use nix::sched::{unshare, CloneFlags};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{channel, Receiver};
use std::sync::Arc;
use std::thread::{self, Scope};
use std::time::Duration;

/// How often it is checked whether a program has ended.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// A running program. When this is dropped, the program and every process that it has started are killed.
pub(super) struct Program {
    stop: Arc<AtomicBool>,
    ends: Receiver<Result<i32, LiveError>>,
}

impl Program {
    /// Starts `command` in a host's namespace. Its environment contains both addresses.
    pub(super) fn start<'s>(
        scope: &'s Scope<'s, '_>,
        host: &'s Host,
        side: Side,
        mut command: Command,
    ) -> Result<Program, LiveError> {
        let peer = match side {
            Side::Sender => Side::Receiver,
            Side::Receiver => Side::Sender,
        };
        command.env("ACKCLOCK_ADDRESS", address(side).to_string()).env("ACKCLOCK_PEER", address(peer).to_string());
        let (stop, (says_begun, begun), (says_ended, ends)) = (Arc::new(AtomicBool::new(false)), channel(), channel());
        let stopped = Arc::clone(&stop);
        // The kernel ends the program together with the thread that started it, so the thread must stay.
        scope.spawn(move || match spawn(host, &mut command) {
            Ok(child) => {
                let _ = says_begun.send(Ok(()));
                let _ = says_ended.send(wait(child, &stopped));
            }
            Err(e) => drop(says_begun.send(Err(e))),
        });
        begun.recv().unwrap_or_else(|_| Err(LiveError::Failed("a thread of the run panicked".into())))?;
        Ok(Program { stop, ends })
    }

    /// Its exit code, once, if it has ended, or 128 plus the number of the signal that ended it.
    pub(super) fn ended(&self) -> Result<Option<i32>, LiveError> {
        self.ends.try_recv().map_or(Ok(None), |code| code.map(Some))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
    }
}

fn spawn(host: &Host, command: &mut Command) -> Result<Child, LiveError> {
    host.namespace.enter()?;
    unshare(CloneFlags::CLONE_NEWPID).map_err(|e| {
        LiveError::Unavailable(format!(
            "cannot create a process namespace ({e}); this needs root, CAP_SYS_ADMIN or user namespaces"
        ))
    })?;
    sys::under_an_init(command);
    command.spawn().map_err(|e| {
        let name = command.get_program().to_string_lossy();
        LiveError::Input(format!(
            "command line: found the command \"{name}\" ({e}), allowed: a program that can be run"
        ))
    })
}

fn wait(mut child: Child, stop: &AtomicBool) -> Result<i32, LiveError> {
    let failed = || LiveError::system("waiting for a program");
    loop {
        if let Some(status) = child.try_wait().map_err(failed())? {
            return Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
        }
        if stop.load(Relaxed) {
            // It may have ended on its own.
            let _ = child.kill();
            child.wait().map_err(failed())?;
        } else {
            thread::sleep(LOOK);
        }
    }
}

/// Whether a program in a host's namespace waits for packets: a TCP socket that listens, or any UDP socket.
pub(super) fn listens(host: &Host) -> Result<bool, LiveError> {
    /// `TCP_LISTEN` (Linux, `include/net/tcp_states.h`).
    const LISTEN: &str = "0A";
    host.namespace.run(|| {
        let read = |file: &str| fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default();
        // A header, then one socket per line: number, local address, remote address, state.
        let states = |text: &str| -> Vec<String> {
            text.lines().skip(1).filter_map(|l| l.split_whitespace().nth(3).map(str::to_owned)).collect()
        };
        let tcp = ["tcp", "tcp6"].into_iter().any(|f| states(&read(f)).iter().any(|state| state == LISTEN));
        tcp || ["udp", "udp6"].into_iter().any(|f| !states(&read(f)).is_empty())
    })
}
