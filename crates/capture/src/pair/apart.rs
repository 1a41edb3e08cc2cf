//! A file that holds both ends of its connections, each captured at an interface of its own.
//!
//! Idea: each interface is surveyed alone. If most of the packets belong to connections that are seen at one end at one
//! interface and at the other end at another, the interfaces are analysed like two files. If not, as before and behind a router,
//! the file is one capture, in which copies count once.

use super::find;
use crate::read::Contents;
use crate::survey::{Everything, Surveyed};
use std::ops::RangeInclusive;

/// The numbers of interfaces that are told apart.
const INTERFACES: RangeInclusive<usize> = 2..=8;

/// What was captured at each interface of a file that holds both ends; `None` of any other file. `survey` reads the file once
/// more, with the packets of one interface.
///
/// # Errors
/// Errors of `survey`.
pub fn apart<E>(
    contents: &Contents,
    mut survey: impl FnMut(u32) -> Result<Everything, E>,
) -> Result<Option<Vec<(u32, Everything)>>, E> {
    if !INTERFACES.contains(&contents.interfaces.len()) {
        return Ok(None);
    }
    let mut parts = Vec::new();
    for (interface, _) in (0..).zip(&contents.interfaces) {
        parts.push((interface, survey(interface)?));
    }
    parts.retain(|(_, found)| !found.connections.is_empty());
    let mut files: Vec<&mut [Surveyed]> = parts.iter_mut().map(|(_, found)| &mut found.connections[..]).collect();
    let names: Vec<_> = files.iter().map(|_| "").collect();
    let (pairs, _) = find::pairs(&files, &names);
    let packets = |s: &Surveyed| s.record.ways[0].packets + s.record.ways[1].packets;
    let paired: u64 =
        pairs.iter().flat_map(|p| p.names()).filter_map(|(f, n)| find::of(&files, f, n)).map(packets).sum();
    let all: u64 = files.iter_mut().flat_map(|f| f.iter()).map(packets).sum();
    Ok((paired > 0 && paired * 2 >= all).then_some(parts))
}
