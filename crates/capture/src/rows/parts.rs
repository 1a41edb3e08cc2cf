//! The interfaces of a file that holds both ends of its connections, as files of their own.

use super::OneFile;
use crate::survey::Everything;
use std::collections::BTreeMap;

/// The most characters of an interface's name that are shown.
const LONGEST_NAME: usize = 40;

/// One interface of such a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The interface, counted from 0.
    pub interface: u32,
    /// Whether it stands for the file where files are counted.
    pub first: bool,
}

/// The interfaces of a file instead of the file.
pub fn split(file: &OneFile, parts: Vec<(u32, Everything)>) -> Vec<OneFile> {
    let parts = parts.into_iter().enumerate();
    parts
        .map(|(n, (interface, found))| OneFile {
            name: file.name.clone(),
            contents: file.contents.clone(),
            traffic: file.traffic.clone(),
            found,
            part: Some(Part { interface, first: n == 0 }),
        })
        .collect()
}

/// Each file once.
pub(super) fn whole(files: &[OneFile]) -> impl Iterator<Item = &OneFile> {
    files.iter().filter(|file| file.part.is_none_or(|part| part.first))
}

/// Keeps each connection of a split file at one interface, unless its ends are matched: where it was captured first. Returns a
/// sentence about each such file. Must be called after the ends were matched.
pub fn settle(files: &mut [OneFile]) -> Vec<String> {
    let mut first: BTreeMap<(String, u64), (bool, i64, u32)> = BTreeMap::new();
    let rank =
        |file: &OneFile, c: &crate::survey::Surveyed| Some((c.beside.is_none(), c.record.start, file.part?.interface));
    for file in &*files {
        for c in &file.found.connections {
            if let Some(rank) = rank(file, c) {
                let best = first.entry((file.name.clone(), c.number)).or_insert(rank);
                *best = rank.min(*best);
            }
        }
    }
    for file in files.iter_mut() {
        let mut connections = std::mem::take(&mut file.found.connections);
        connections.retain(|c| {
            c.beside.is_some()
                || rank(file, c)
                    .is_none_or(|own| first.get(&(file.name.clone(), c.number)).is_none_or(|best| *best == own))
        });
        file.found.connections = connections;
    }
    let is_matched = |file: &OneFile| {
        let own = files.iter().filter(|other| other.name == file.name);
        own.flat_map(|part| &part.found.connections).any(|c| c.beside.is_some())
    };
    whole(files).filter(|file| file.part.is_some() && is_matched(file)).map(|file| told(file, files)).collect()
}

fn told(file: &OneFile, files: &[OneFile]) -> String {
    let parts = files.iter().filter(|other| other.name == file.name).filter_map(|other| other.part);
    let names: Vec<_> = parts.map(|part| file.interface(part.interface)).collect();
    format!(
        "{} holds both ends of its connections, at {}: what was sent at one is compared with what arrived at the other.",
        file.name,
        names.join(" and ")
    )
}

impl OneFile {
    /// An interface in words, with its name if the file has one.
    fn interface(&self, number: u32) -> String {
        // A file may contain anything.
        let printable = |name: &String| name.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect::<String>();
        let name = self.contents.interfaces.get(number as usize).and_then(|i| i.name.as_ref()).map(printable);
        name.map_or_else(|| format!("interface {number}"), |name| format!("interface {number} ({name})"))
    }

    /// Its name, with the interface if it is only one of them.
    pub fn part_name(&self) -> String {
        self.part.map_or_else(|| self.name.clone(), |part| format!("{}, {}", self.name, self.interface(part.interface)))
    }
}
