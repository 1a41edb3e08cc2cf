//! The settings that a script's commands change, and the states that they query.
//!
//! packetdrill runs a script's commands in a shell. `tools/campaigns/packetdrill.py` puts programs of its own first in `PATH`: `sysctl`
//! and `tcpdrop` append lines to a file that is read here before each call, and `sockstat` prints a file that is written
//! here after each call that changed a state.

use crate::end::not_understood;
use ackclock_conform::tcp::Tcp;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

/// The file of commands, and the file of states.
pub(crate) struct Orders {
    file: Option<File>,
    states: Option<PathBuf>,
    shown: String,
    rest: String,
}

impl Orders {
    /// Commands come from `path`, which must exist.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn new(path: Option<PathBuf>) -> Result<Self, String> {
        let open = |path: &PathBuf| {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(0))?;
            Ok(file)
        };
        let file = path.as_ref().map(open).transpose();
        let file = file.map_err(|why: std::io::Error| format!("--so_flags: orders: {why}"))?;
        let states = path.map(|path| path.with_extension("states"));
        Ok(Orders { file, states, shown: String::new(), rest: String::new() })
    }

    /// Applies the new lines.
    pub(crate) fn follow(&mut self, tcp: &mut dyn Tcp) {
        let Some(file) = &mut self.file else { return };
        if file.read_to_string(&mut self.rest).is_err() {
            not_understood("the file of commands cannot be read");
        }
        while let Some((line, rest)) = self.rest.split_once('\n') {
            let known = match line.split_once(' ') {
                Some(("set", setting)) => {
                    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
                    tcp.set(&name.trim().replace('/', "."), value.trim())
                }
                Some(("drop", "TIME_WAIT")) => tcp.drop_time_waits(),
                Some(_) | None => false,
            };
            if !known {
                not_understood(&format!("the command `{line}`"));
            }
            self.rest = rest.to_owned();
        }
    }

    /// Writes the states, if they changed: one line for each connection, in the form in which FreeBSD's sockstat ends its
    /// lines.
    pub(crate) fn show(&mut self, tcp: &dyn Tcp) {
        let Some(path) = &self.states else { return };
        let lines = tcp.states().unwrap_or_default().into_iter().map(|state| format!("packetdrill tcp {state}\n"));
        let text: String = lines.collect();
        if text != self.shown {
            if fs::write(path, &text).is_err() {
                not_understood("the file of states cannot be written");
            }
            self.shown = text;
        }
    }
}
