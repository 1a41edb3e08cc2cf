//! Times the analysis.

use ackclock_capture::read::{open, File};
use ackclock_capture::survey::Survey;
use ackclock_capture::{Analysis, Ended, Flow, Flows, Seen, Wanted};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// Most concurrent connections.
const LIMIT: usize = 100_000;

/// Adds up the headers that it is given, so that the compiler cannot omit them.
#[derive(Default)]
struct Headers(u64);

impl Analysis for Headers {
    type State = u64;

    fn begin(&mut self, _: &Flow) -> u64 {
        0
    }
    fn segment(&mut self, _: &Flow, state: &mut u64, seen: &Seen) {
        *state += seen.end() ^ seen.ack.unwrap_or(0);
    }
    fn end(&mut self, _: &Flow, state: u64, _: Ended) {
        self.0 ^= state;
    }
}

pub(crate) fn headers(file: &Path) -> Result<(), Box<dyn Error>> {
    let mut headers = Headers::default();
    timed(file, &mut headers)?;
    eprintln!("{:x}", headers.0);
    Ok(())
}

pub(crate) fn analyse(file: &Path) -> Result<(), Box<dyn Error>> {
    let mut survey = Survey::new(Wanted::default(), LIMIT, None);
    timed(file, &mut survey)?;
    let found = survey.finish().connections;
    let counts = found.iter().flat_map(|f| f.record.ways).map(|way| way.retransmissions);
    let sums = counts.fold([0; 5], |s, c| {
        [s[0] + c.total, s[1] + c.needed, s[2] + c.needless, s[3] + c.refused, s[4] + c.undecided]
    });
    eprintln!("{} connections; retransmissions, needed, needless, refused, undecided: {sums:?}", found.len());
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this call is the measured work")]
fn timed<A: Analysis>(path: &Path, analysis: &mut A) -> Result<(), Box<dyn Error>> {
    let mut file = open(path)?;
    if let File::Mapped(map) = &file {
        // Reads the file into the page cache, so that the disk is not measured.
        eprintln!("{:x}", map.iter().step_by(4096).fold(0u8, |a, b| a ^ b));
    }
    let (begin, on_cpu) = (Instant::now(), on_cpu());
    let mut flows = Flows::new(analysis, LIMIT);
    let contents = file.read(|frame| flows.frame(frame))?;
    let (memory, mapped) = (resident("RssAnon:"), resident("RssFile:"));
    let traffic = flows.finish();
    let (seconds, cpu_seconds) = (begin.elapsed().as_secs_f64(), (self::on_cpu() - on_cpu) as f64 / 1e9);
    println!(
        "{{\"seconds\": {seconds}, \"cpu_seconds\": {cpu_seconds}, \"bytes\": {}, \"packets\": {}, \"connections\": {}, \"memory_bytes\": {memory}, \"mapped_bytes\": {mapped}}}",
        contents.bytes, contents.frames, traffic.connections
    );
    Ok(())
}

/// Memory of this process of one kind, in bytes, while all connections still exist; 0 where the system does not report it.
fn resident(kind: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(kind));
    line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// CPU time of this thread, nanoseconds; 0 where the system does not report it. On a busy machine it is more meaningful than
/// wall-clock time.
fn on_cpu() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0)
}
