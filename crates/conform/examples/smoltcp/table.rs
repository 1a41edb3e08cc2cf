//! The results of many scripts as lines.

use ackclock_conform::run::Report;
use ackclock_conform::verdict::{Reason, Verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Passed, failed, not understood.
type Counts = [usize; 3];

/// Prints the results of `files`; with `each`, prints those of every script first.
pub(crate) fn print(files: &[PathBuf], reports: &[Report], each: bool) {
    let mut folders: BTreeMap<&Path, Counts> = BTreeMap::new();
    let mut reasons: BTreeMap<Reason, (usize, String)> = BTreeMap::new();
    let mut all = Counts::default();
    for (file, report) in files.iter().zip(reports) {
        let (place, fault) = match &report.verdict {
            Verdict::Pass => (0, None),
            Verdict::Fail(fault) => (1, Some(fault)),
            Verdict::NotUnderstood(fault) => (2, Some(fault)),
        };
        all[place] += 1;
        folders.entry(file.parent().unwrap_or(Path::new("."))).or_default()[place] += 1;
        if each {
            let word = ["pass", "fail", "not understood"][place];
            println!("{}: {word}{}", file.display(), fault.map_or(String::new(), |f| format!(": {f}")));
        }
        if let Some(fault) = fault {
            let first = || (0, format!("{}:{}", file.display(), fault.line));
            reasons.entry(fault.reason).or_insert_with(first).0 += 1;
        }
    }
    folders.iter().for_each(|(folder, counts)| println!("{}: {}", folder.display(), text(*counts)));
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    reasons.iter().for_each(|(reason, (count, first))| println!("{count:>6} {}, such as {first}", reason.name()));
    println!("{}", text(all));
}

fn text([pass, fail, unknown]: Counts) -> String {
    format!("{pass} of {} pass, {fail} fail, {unknown} not understood", pass + fail + unknown)
}
