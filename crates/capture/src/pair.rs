//! Connections with both ends captured, in two files.
//!
//! Idea: after a first pass over all files, connections are matched by their addresses and ports, or, if a device on the path
//! changed these, by both initial sequence numbers. Two captures of one end are pieces of one capture, or the same packets twice,
//! and are left unchanged; clocks may differ. If two are at different ends, a second pass records the arrivals at each end, and a
//! third one matches every packet sent by the other end. If too few match, the results of the first pass remain.

pub mod apart;
mod find;

use crate::connection::Wanted;
use crate::place::{Place, Why};
use crate::seen::Way;
use crate::survey::{full_segment, Beside, Survey, Surveyed, Task};
pub(crate) use find::Pair;
use std::collections::BTreeMap;

/// The maximum number of segments recorded, over all connections (56 bytes each).
const MOST: u64 = 1 << 23;
/// The percentage of arrivals that must match transmissions.
const ENOUGH: u64 = 95;

/// The tasks for connections, file by file.
type Tasks = Vec<BTreeMap<u64, Task>>;
/// The results of a pass, by file and number.
type Looks = BTreeMap<(usize, u64), Surveyed>;

/// Finds the connections with both ends captured, and analyses them again: `read` reads a file, by its position, with a survey.
/// Returns sentences about connections that are in several files and were not matched.
///
/// # Errors
/// Errors of `read`. In that case some or all `files` are unchanged.
pub fn match_ends<E>(
    files: &mut [&mut [Surveyed]],
    names: &[&str],
    wanted: Wanted,
    mut read: impl FnMut(usize, Survey) -> Result<Vec<Surveyed>, E>,
) -> Result<Vec<String>, E> {
    let (pairs, mut remarks) = find::pairs(files, names);
    let (pairs, too_large) = affordable(pairs, files);
    remarks.extend(too_large.iter().map(|p| {
        format!(
            "{} has too many packets to be matched; each file is analysed separately",
            find::description(files, names, p.names())
        )
    }));
    if pairs.is_empty() {
        return Ok(remarks);
    }
    let mut noted = resurvey(notes(&pairs, files), Wanted { each: false, ..wanted }, &mut read)?;
    let mut judged = resurvey(judgments(&pairs, &mut noted, files.len()), wanted, &mut read)?;
    for pair in &pairs {
        let ends = pair.ends.map(|one| judged.remove(&(one.file, one.number)));
        let [Some(a), Some(b)] = ends else { continue };
        match settled(pair, [a, b]) {
            Ok(both) => pair.ends.iter().zip(both).for_each(|(one, surveyed)| {
                files[one.file].iter_mut().filter(|s| s.number == one.number).for_each(|s| *s = surveyed.clone());
            }),
            Err((arrived, known)) => remarks.push(format!(
                "{}, but of {arrived} segments that arrived only {known} match segments that left: something on the path changes them. Each file is \
                 analysed separately",
                find::description(files, names, pair.names())
            )),
        }
    }
    Ok(remarks)
}

/// Reads the files with requested connections.
fn resurvey<E>(
    tasks: Tasks,
    wanted: Wanted,
    read: &mut impl FnMut(usize, Survey) -> Result<Vec<Surveyed>, E>,
) -> Result<Looks, E> {
    let mut found = BTreeMap::new();
    for (file, tasks) in tasks.into_iter().enumerate().filter(|(_, tasks)| !tasks.is_empty()) {
        for surveyed in read(file, Survey::again(wanted, tasks))? {
            found.insert((file, surveyed.number), surveyed);
        }
    }
    Ok(found)
}

/// Records the arrivals at both ends.
fn notes(pairs: &[Pair], files: &[&mut [Surveyed]]) -> Tasks {
    let mut tasks: Tasks = files.iter().map(|_| BTreeMap::new()).collect();
    for pair in pairs {
        // One of the files may lack the SYNs.
        let ends = pair.ends.iter().filter_map(|one| find::of(files, one.file, one.number));
        let segment = ends.filter_map(|s| full_segment(&s.syns)).min();
        for one in pair.ends {
            tasks[one.file].insert(one.number, Task::Note { segment });
        }
    }
    tasks
}

/// Judges transmissions by the arrivals at the other end.
fn judgments(pairs: &[Pair], noted: &mut Looks, files: usize) -> Tasks {
    let mut tasks: Tasks = (0..files).map(|_| BTreeMap::new()).collect();
    for [one, other] in pairs.iter().flat_map(|p| [p.ends, [p.ends[1], p.ends[0]]]) {
        let Some(mut arrivals) = noted.remove(&(other.file, other.number)).and_then(|s| s.noted) else { continue };
        if one.sent_here == other.sent_here {
            // Transmissions of one end are arrivals at the other.
            arrivals.reverse();
        }
        let place = match one.sent_here {
            Way::Out => Place::AtOut,
            Way::Back => Place::AtBack,
        };
        tasks[one.file].insert(one.number, Task::Judge { place, arrivals });
    }
    tasks
}

/// The pairs that fit into memory, and the others.
fn affordable(pairs: Vec<Pair>, files: &[&mut [Surveyed]]) -> (Vec<Pair>, Vec<Pair>) {
    let mut sum = 0u64;
    pairs.into_iter().partition(|pair| {
        let segments = pair.ends.iter().filter_map(|one| find::of(files, one.file, one.number)).map(|s| {
            let size = full_segment(&s.syns).map_or(u64::MAX, u64::from).max(1);
            s.record.ways.iter().map(|w| w.packets + w.carried_bytes / size).sum::<u64>()
        });
        let with = sum + segments.sum::<u64>();
        let fits = with <= MOST;
        sum = if fits { with } else { sum };
        fits
    })
}

/// The results for both ends of a pair, joined; or, if too few arrivals match, their number.
fn settled(pair: &Pair, looks: [Surveyed; 2]) -> Result<[Surveyed; 2], (u64, u64)> {
    let (mut all, mut found) = (0, 0);
    let mut done = Vec::with_capacity(2);
    for (i, mut surveyed) in looks.into_iter().enumerate() {
        let (one, other) = (pair.ends[i], pair.ends[1 - i]);
        let way = one.sent_here as usize;
        let arrivals = surveyed.noted.take().map(|ways| {
            let [out, back] = *ways;
            match one.sent_here {
                Way::Out => out,
                Way::Back => back,
            }
        });
        let between = arrivals.and_then(crate::both::Arrivals::between);
        let (arrived, known) = between.as_ref().map_or((0, 0), |b| (b.arrived, b.known));
        (all, found) = (all + arrived, found + known);
        surveyed.ways[way].reordering = between.map(|b| b.reordered);
        surveyed.record.place = Place::BothEnds;
        surveyed.record.why = Why::TwoFiles;
        surveyed.beside =
            Some(Beside { sent_here: one.sent_here, file: other.file, number: other.number, arrived, known });
        done.push(surveyed);
    }
    match <[Surveyed; 2]>::try_from(done) {
        Ok(both) if all > 0 && found * 100 >= all * ENOUGH => Ok(both),
        Ok(_) | Err(_) => Err((all, found)),
    }
}
