//! Captures as files in a folder, together with the truth about their retransmissions.

use super::{addresses, leaving, Captures, Places};
use crate::both::Both;
use crate::error::TraceError;
use crate::file::NewFile;
use crate::truth::{self, Truth};
use ackclock_sim::scenario::Scenario;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// The listener for a run whose captures are written to a folder.
pub type FolderWatch = Both<Captures<BufWriter<NewFile>>, Truth>;

/// `sender.pcapng`, `receiver.pcapng`, `middle.pcapng` if requested, and `truth.csv`. Each file gets its name only once the run
/// is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureFolder {
    path: PathBuf,
}

impl CaptureFolder {
    /// Creates the folder `path` if necessary. The listener is for the captures of the run of `scenario` with `seed`: `snap` is
    /// the number of bytes kept of each packet, `middle` the number of a node between the ends that is also captured.
    ///
    /// # Errors
    /// Why the folder is not writable.
    pub fn create(
        path: &Path,
        scenario: &Scenario,
        seed: u64,
        snap: u32,
        middle: Option<u32>,
    ) -> Result<(Self, FolderWatch), TraceError> {
        let refused = |path: &Path| {
            let path = path.to_owned();
            move |source| TraceError::Capture { path, source }
        };
        std::fs::create_dir_all(path).map_err(refused(path))?;
        let file = |name: &str| {
            let file = path.join(name);
            NewFile::create(&file).map(BufWriter::new).map_err(refused(&file))
        };
        let places = Places {
            sender: file("sender.pcapng")?,
            receiver: file("receiver.pcapng")?,
            middle: middle.map(|node| file("middle.pcapng").map(|f| (node, f))).transpose()?,
        };
        let captures = Captures::new(scenario, seed, snap, places).map_err(refused(path))?;
        let leaves = middle.map(|node| leaving(scenario, node)).unwrap_or_default();
        let truth = Truth::new(scenario.flows.len() as u32).with_middle(leaves);
        Ok((CaptureFolder { path: path.to_owned() }, Both(captures, truth)))
    }

    /// Writes the remaining data, and gives the files their names.
    ///
    /// # Errors
    /// The first error since the beginning.
    pub fn finish(self, scenario: &Scenario, watch: FolderWatch) -> Result<(), TraceError> {
        let (CaptureFolder { path }, Both(captures, truth)) = (self, watch);
        let keep = || {
            let Places { sender, receiver, middle } = captures.finish()?;
            let files = [Some(sender), Some(receiver), middle.map(|(_, file)| file)];
            for file in files.into_iter().flatten() {
                file.into_inner().map_err(io::IntoInnerError::into_error)?.keep()?;
            }
            truth::write(&path, &truth.finish(), |flow| {
                let spec = &scenario.flows[flow as usize];
                (&spec.name, addresses(flow, spec))
            })
        };
        keep().map_err(|source| TraceError::Capture { path: path.clone(), source })
    }
}
