//! Reading a folder of packet logs: `cases.csv` and one `CASE_clean_VARIANT_every.csv.gz` for each
//! run.

use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
use std::path::Path;

/// The dropped packets, the size of the transfer, and the receiver's window in packets.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// As in the file names.
    pub(crate) name: String,
    /// 0-based arrivals at the bottleneck.
    pub(crate) drop_arrivals: Vec<u64>,
    /// Packets to send; `None`: it never stops.
    pub(crate) packets: Option<u64>,
    /// Packets.
    pub(crate) window: u64,
}

/// A data packet that left the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Send {
    /// Seconds.
    pub(crate) time_s: f64,
    /// Packet number, from 0.
    pub(crate) number: u64,
    /// Whether that number was sent before.
    pub(crate) retransmit: bool,
}

/// One log.
pub(crate) struct Log {
    /// File name.
    pub(crate) file: String,
    /// Its case.
    pub(crate) case: Case,
    /// ns-2's name of the sender's variant.
    pub(crate) variant: String,
    /// In order.
    pub(crate) sends: Vec<Send>,
}

/// All logs of a folder, by name.
///
/// # Errors
/// A sentence that names the file, the line, and the fault.
pub(crate) fn all(folder: &Path) -> Result<Vec<Log>, String> {
    let cases = cases(&folder.join("cases.csv"))?;
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<String> = entries.filter_map(|e| e.ok()?.file_name().into_string().ok()).collect();
    files.retain(|f| f.ends_with(".csv.gz"));
    files.sort();
    files.iter().map(|f| one(folder, f, &cases)).collect()
}

fn one(folder: &Path, file: &str, cases: &[Case]) -> Result<Log, String> {
    let parts: Vec<&str> = file.trim_end_matches(".csv.gz").split('_').collect();
    let [case, "clean", variant, "every"] = parts[..] else {
        return Err(format!("{file}: expected CASE_clean_VARIANT_every.csv.gz"));
    };
    let known = || cases.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    let case = cases.iter().find(|c| c.name == case);
    let case = case.ok_or_else(|| format!("{file}: its case is not in cases.csv, which has {}", known()))?;
    let mut text = String::new();
    let path = folder.join(file);
    let gz = fs::File::open(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    GzDecoder::new(gz).read_to_string(&mut text).map_err(|e| format!("{}: {e}", path.display()))?;
    let sends = text.lines().enumerate().filter(|(_, l)| l.split(',').nth(1) == Some("send"));
    let sends = sends.map(|(i, l)| send(l).ok_or_else(|| format!("{file}:{}: not a send: {l}", i + 1)));
    let sends = sends.collect::<Result<Vec<Send>, String>>()?;
    if sends.is_empty() {
        return Err(format!("{file}: no line says send"));
    }
    Ok(Log { file: file.into(), case: case.clone(), variant: variant.into(), sends })
}

fn send(line: &str) -> Option<Send> {
    let mut f = line.split(',');
    let time_s = f.next()?.parse().ok()?;
    let number = f.nth(1)?.parse().ok()?;
    let retransmit = match f.next()? {
        "0" => false,
        "1" => true,
        _ => return None,
    };
    Some(Send { time_s, number, retransmit })
}

fn cases(path: &Path) -> Result<Vec<Case>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let rows = text.lines().enumerate().skip(1).filter(|(_, l)| !l.trim().is_empty());
    rows.map(|(i, l)| case(l).ok_or_else(|| format!("{}:{}: not a case: {l}", path.display(), i + 1))).collect()
}

fn case(line: &str) -> Option<Case> {
    let f: Vec<&str> = line.trim_end().split(',').collect();
    let [name, drops, packets, window] = f[..] else { return None };
    let drop_arrivals = drops.split_whitespace().map(|d| d.parse().ok()).collect::<Option<_>>()?;
    let packets = if packets.is_empty() { None } else { Some(packets.parse().ok()?) };
    Some(Case { name: name.into(), drop_arrivals, packets, window: window.parse().ok()? })
}
