use crate::play::{ack, data, play, two_flows, Call, What};
use ackclock_sim::watch::Side;
use ackclock_tcp::event::{Event, Slot};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_trace::csv::CsvSink;
use ackclock_trace::schema::{fill, Cells, Flags, Id, Kind, Sack, COLUMNS};
use ackclock_trace::sink::Chunk;
use ackclock_trace::sink::CHUNK;
use ackclock_trace::{Hasher, Meta, Recorder, Row, Sink, TraceError, TraceHash};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, Int8Type};
use arrow_array::{Array, RecordBatch, StringArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fmt::Display;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A new empty folder that is removed at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ackclock-trace-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn names(&self) -> Vec<String> {
        let mut all: Vec<_> =
            fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn meta() -> Meta {
    Meta { scenario: "xxh3-128:ab".into(), seed: 7, stacks: vec!["reno".into(), "sack \"ff96\"".into()] }
}

pub(crate) fn record(path: &Path, calls: &[Call]) -> Result<TraceHash, TraceError> {
    let mut r = Recorder::create(path, meta(), 2)?;
    play(calls, &mut r);
    r.finish()
}

pub(crate) fn in_memory(calls: &[Call]) -> Vec<Row> {
    let mut r = Recorder::new(Vec::new(), 2);
    play(calls, &mut r);
    r.close().unwrap().1
}

/// The cells of a record as CSV writes them; empty for null.
struct Line(Vec<String>);

impl Line {
    fn put(&mut self, column: Id, v: impl Display) {
        self.0[column as usize] = v.to_string();
    }
}

impl Cells for Line {
    fn int(&mut self, column: Id, v: i64) {
        self.put(column, v);
    }

    fn small(&mut self, column: Id, v: i32) {
        self.put(column, v);
    }

    fn real(&mut self, column: Id, v: f64) {
        self.put(column, v);
    }

    fn truth(&mut self, column: Id, v: bool) {
        self.put(column, v);
    }

    fn word(&mut self, column: Id, nth: usize) {
        self.put(column, COLUMNS[column as usize].word(nth));
    }

    fn flags(&mut self, v: Flags) {
        self.put(Id::Flags, v);
    }

    fn sack(&mut self, v: Sack<'_>) {
        self.put(Id::Sack, v);
    }
}

pub(crate) fn table(rows: &[Row]) -> Vec<Vec<String>> {
    let line = |row: &Row| {
        let mut line = Line(vec![String::new(); COLUMNS.len()]);
        fill(&row.by_ref(), &mut line);
        line.0
    };
    rows.iter().map(line).collect()
}

fn parquet_cell(batch: &RecordBatch, column: usize, row: usize) -> String {
    let a = batch.column(column);
    if a.is_null(row) {
        return String::new();
    }
    match COLUMNS[column].kind {
        Kind::Int => a.as_primitive::<Int64Type>().value(row).to_string(),
        Kind::Small => a.as_primitive::<Int32Type>().value(row).to_string(),
        Kind::Real => a.as_primitive::<Float64Type>().value(row).to_string(),
        Kind::Bool => a.as_boolean().value(row).to_string(),
        Kind::Text => a.as_string::<i32>().value(row).to_owned(),
        Kind::Word(_) => {
            let words = a.as_dictionary::<Int8Type>();
            words.downcast_dict::<StringArray>().unwrap().value_at(row)
        }
    }
}

trait ValueAt {
    fn value_at(&self, row: usize) -> String;
}

impl ValueAt for arrow_array::TypedDictionaryArray<'_, Int8Type, StringArray> {
    fn value_at(&self, row: usize) -> String {
        let key = self.keys().value(row);
        self.values().value(usize::try_from(key).unwrap()).to_owned()
    }
}

pub(crate) fn read_parquet(path: &Path) -> Vec<Vec<String>> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    assert_eq!(reader.schema().fields().len(), COLUMNS.len());
    for (f, c) in reader.schema().fields().iter().zip(COLUMNS) {
        assert_eq!((f.name().as_str(), f.is_nullable()), (c.name, c.nullable));
        assert_eq!(f.metadata().get("meaning").map(String::as_str), Some(c.meaning));
    }
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let rows = |b: &RecordBatch| -> Vec<Vec<String>> {
        (0..b.num_rows()).map(|r| (0..COLUMNS.len()).map(|c| parquet_cell(b, c, r)).collect()).collect()
    };
    batches.iter().flat_map(rows).collect()
}

fn read_csv(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|l| l.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    assert_eq!(header, COLUMNS.iter().map(|c| c.name).collect::<Vec<_>>());
    lines.collect()
}

#[test]
fn parquet_csv_and_memory_hold_the_same_rows() {
    let folder = Folder::new("same");
    let (parquet, csv) = (folder.0.join("run.parquet"), folder.0.join("run.csv"));
    let hash = record(&parquet, &two_flows()).unwrap();
    assert_eq!(record(&csv, &two_flows()).unwrap(), hash);
    let rows = table(&in_memory(&two_flows()));
    assert_eq!(rows.len(), two_flows().iter().filter(|c| !is_asked(c)).count());
    assert_eq!(read_parquet(&parquet), rows);
    assert_eq!(read_csv(&csv), rows);
    assert_eq!(folder.names(), ["run.csv", "run.csv-metadata.json", "run.parquet"]);
}

fn is_asked(c: &Call) -> bool {
    matches!(c.what, What::Tcp(Event::Sent { .. }))
}

#[test]
fn every_column_is_filled_by_some_record_and_by_its_own_value() {
    let rows = table(&in_memory(&two_flows()));
    for (i, c) in COLUMNS.iter().enumerate() {
        assert!(rows.iter().any(|r| !r[i].is_empty()), "{}", c.name);
    }
    let line = |event: &str, nth: usize| {
        let r = rows.iter().filter(|r| r[1] == "1" && r[3] == event).nth(nth).unwrap();
        COLUMNS
            .iter()
            .zip(r)
            .filter(|x| !x.1.is_empty())
            .map(|(c, v)| format!("{}={v}", c.name))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        line("sent", 0),
        "time_ns=1 flow=1 side=sender event=sent seq=0 len=0 flags=S rwnd=0 tsval=4000000000 tsecr=0 wire=40 packet=0 sends=1"
    );
    assert_eq!(line("dropped", 0), "time_ns=10001 flow=1 side=receiver event=dropped seq=1 len=1000 flags=A ack=1 rwnd=65535 element=3 nth=7 why=script");
    assert_eq!(
        line("sent", 3),
        "time_ns=14001 flow=1 side=receiver event=sent seq=1 len=0 flags=A ack=1 sack=1001-2001 rwnd=1048576 wire=40 packet=0"
    );
    assert_eq!(
        line("acked", 0),
        "time_ns=19001 flow=1 side=sender event=acked ack=1 newly_delivered=1000 dup_run=1 pipe=1000"
    );
    assert_eq!(line("window", 0), "time_ns=19001 flow=1 side=sender event=window by=congestion episode=1 cwnd=333.3333333333333 ssthresh=7300.5 cwnd_from=14600 ssthresh_from=inf");
    assert_eq!(
        line("phase", 0),
        "time_ns=19001 flow=1 side=sender event=phase why=lost episode=1 phase_from=open phase_to=recovery"
    );
    assert_eq!(line("sent", 4), "time_ns=19001 flow=1 side=sender event=sent seq=1 len=1000 flags=A ack=1 rwnd=65535 wire=1040 packet=3 sends=2 needless=false refused=false by=recovery episode=1");
    assert_eq!(line("sent", 5), "time_ns=21001 flow=1 side=sender event=sent seq=1001 len=1000 flags=A ack=1 rwnd=65535 wire=1040 packet=4 sends=2 needless=true refused=false by=timeout episode=1");
    assert_eq!(line("sent", 6), "time_ns=22001 flow=1 side=sender event=sent seq=1 len=1000 flags=A ack=1 rwnd=65535 wire=1040 packet=5 sends=3 needless=false refused=true by=timeout episode=1");
    assert_eq!(line("refused", 0), "time_ns=24001 flow=1 side=receiver event=refused seq=1 len=1000 flags=A ack=1 rwnd=65535 sends=2 missing=1000 why=paws");
    assert_eq!(line("mistake", 0), "time_ns=25001 flow=1 side=sender event=mistake why=rto episode=1 undone=true");
    assert_eq!(line("threshold", 0), "time_ns=27001 flow=1 side=sender event=threshold dupthresh=4");
    let rtt = "time_ns=28001 flow=1 side=sender event=rtt srtt_ns=50000000 rttvar_ns=25000000 rto_ns=200000000";
    assert_eq!(line("rtt", 0), rtt);
}

#[test]
fn a_packet_that_a_queue_has_marked_shows_it_behind_its_flags() {
    let flags = |seg| {
        let at = Call { at: 1, flow: 0, side: Side::Receiver, what: What::Delivered { seg, wire: 140, sends: 1 } };
        let row = &table(&in_memory(&[at]))[0];
        row[COLUMNS.iter().position(|c| c.name == "flags").unwrap()].clone()
    };
    let mut seg = Segment { opts: Segment::ECT, ..data(1, 100) };
    seg.flags |= Segment::CWR;
    assert_eq!(flags(seg), "AW");
    assert!(seg.mark_congestion());
    assert_eq!(flags(seg), "AWC");
}

#[test]
fn each_packet_carries_the_word_of_the_engine_that_covers_it_at_that_instant() {
    let at = |at, what| Call { at, flow: 0, side: Side::Sender, what };
    let asked = |start, len, by| What::Tcp(Event::Sent { start: Offset(start), len, episode: 4, sends: 1, by });
    let sent = |seq| What::Sent { seg: data(seq, 100), wire: 140, sends: 1 };
    let rows = in_memory(&[
        at(1, asked(1, 100, Slot::Recovery)),
        at(1, asked(101, 100, Slot::Timeout)),
        at(1, sent(1)),
        at(1, sent(101)),
        at(2, asked(201, 300, Slot::Disorder)),
        at(2, sent(201)),
        at(2, sent(301)),
        at(2, sent(401)),
        at(3, sent(501)),
        at(3, asked(601, 100, Slot::Sequencer)),
        at(4, sent(601)),
    ]);
    let by: Vec<_> =
        rows.iter().map(|r| if let ackclock_trace::What::Sent { by, .. } = r.what { by } else { None }).collect();
    let (r, t, d) = (Some((Slot::Recovery, 4)), Some((Slot::Timeout, 4)), Some((Slot::Disorder, 4)));
    assert_eq!(by, [r, t, d, d, d, None, None]);
}

/// A long run, so that several chunks are written.
fn long() -> Vec<Call> {
    let n = CHUNK as u64 * 2;
    let sent = |i: u64| What::Sent { seg: data(1 + i * 1000, 1000), wire: 1040, sends: 1 };
    (0..n)
        .map(|i| Call { at: i, flow: 0, side: Side::Sender, what: sent(i) })
        .chain(two_flows().into_iter().map(|c| Call { at: c.at + n, flow: 1, ..c }))
        .collect()
}

#[test]
fn a_file_of_several_chunks_names_its_run() {
    let folder = Folder::new("chunks");
    let path = folder.0.join("run.parquet");
    let hash = record(&path, &long()).unwrap();
    let mut alone = Hasher::new(2);
    play(&long(), &mut alone);
    assert_eq!(hash, alone.hash());
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    assert_eq!(reader.metadata().num_row_groups(), 3);
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let value = |k: &str| pairs.iter().find(|p| p.key == k).unwrap().value.clone().unwrap();
    assert_eq!(value("ackclock.trace_hash"), hash.to_string());
    assert_eq!((value("ackclock.seed").as_str(), value("ackclock.format").as_str()), ("7", "2"));
    assert_eq!(
        (value("ackclock.scenario").as_str(), value("ackclock.stacks").as_str()),
        ("xxh3-128:ab", "reno\nsack \"ff96\"")
    );
    assert_eq!(read_parquet(&path), table(&in_memory(&long())));
}

#[test]
fn a_csv_has_its_description_beside_it() {
    let folder = Folder::new("about");
    let path = folder.0.join("run.csv");
    let hash = record(&path, &two_flows()).unwrap();
    let text = fs::read_to_string(folder.0.join("run.csv-metadata.json")).unwrap();
    let about: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(about["url"], "run.csv");
    assert_eq!(about["notes"][0]["ackclock.trace_hash"], hash.to_string());
    assert_eq!(about["notes"][0]["ackclock.stacks"], "reno\nsack \"ff96\"");
    assert_eq!(about["tableSchema"]["columns"].as_array().unwrap().len(), COLUMNS.len());
}

#[test]
fn nothing_stands_under_the_name_before_the_end_and_the_old_file_stays_when_the_run_is_given_up() {
    let folder = Folder::new("given-up");
    for name in ["run.parquet", "run.csv"] {
        let path = folder.0.join(name);
        fs::write(&path, "old").unwrap();
        let mut r = Recorder::create(&path, meta(), 2).unwrap();
        play(&two_flows(), &mut r);
        assert_eq!(folder.names().len(), 2, "{:?}", folder.names());
        drop(r);
        assert_eq!(folder.names(), [name]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn what_cannot_be_written_is_one_sentence_with_the_path_and_leaves_nothing() {
    let folder = Folder::new("refused");
    let refused = |path: PathBuf| record(&path, &two_flows()).unwrap_err().to_string();
    let at = |name: &str| folder.0.join(name);
    fs::create_dir(at("folder.csv")).unwrap();
    fs::write(at("file"), "").unwrap();
    for (path, says) in [
        (at("run.json"), "found a name with another ending, allowed: .parquet, .csv"),
        (at("run"), "found a name with another ending, allowed: .parquet, .csv"),
        (at("no/such/run.parquet"), "No such file or directory"),
        (at("file/run.csv"), "Not a directory"),
        (at("folder.csv"), "not a regular file"),
    ] {
        let message = refused(path.clone());
        assert!(
            message.contains(says) && message.contains(path.to_str().unwrap()) && message.lines().count() == 1,
            "{message}"
        );
    }
    assert_eq!(folder.names(), ["file", "folder.csv"]);
}

#[cfg(unix)]
#[test]
fn a_csv_whose_name_was_taken_meanwhile_leaves_no_description() {
    let folder = Folder::new("taken");
    let path = folder.0.join("run.csv");
    let r = Recorder::create(&path, meta(), 2).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(r.finish().is_err());
    assert_eq!(folder.names(), ["run.csv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_by_its_own_words_in_both_formats() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let mut rows = in_memory(&long());
    let hash = TraceHash(0);
    let csv = CsvSink::new(full()).unwrap().write(&mut rows).unwrap_err();
    assert_eq!(csv.raw_os_error(), Some(28));
    let parquet = ackclock_trace::parquet::ParquetSink::new(full(), &meta()).and_then(|mut s| {
        let mut chunk = s.chunk();
        rows.iter().for_each(|row| chunk.push(row.by_ref()));
        s.write(&mut chunk)?;
        s.finish(hash).map(drop)
    });
    assert_eq!(parquet.unwrap_err().raw_os_error(), Some(28));
}

/// Fails at the first chunk.
struct Full;

impl Sink for Full {
    type Chunk = Vec<Row>;
    type Out = ();

    fn chunk(&self) -> Vec<Row> {
        Vec::new()
    }

    fn write(&mut self, _: &mut Vec<Row>) -> std::io::Result<()> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn finish(self, _: TraceHash) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_failed_recorder_reports_it_during_the_run_and_at_its_end() {
    let mut r = Recorder::new(Full, 2);
    let calls = long();
    play(&calls[..CHUNK], &mut r);
    assert!(r.failed().is_none());
    play(&calls[CHUNK..], &mut r);
    assert_eq!(r.failed().map(std::io::Error::kind), Some(std::io::ErrorKind::StorageFull));
    assert_eq!(r.close().unwrap_err().kind(), std::io::ErrorKind::StorageFull);
}

/// Records the number of rows in each call.
#[derive(Default)]
struct Watched(std::rc::Rc<std::cell::RefCell<Vec<usize>>>);

impl Sink for Watched {
    type Chunk = Vec<Row>;
    type Out = ();

    fn chunk(&self) -> Vec<Row> {
        Vec::new()
    }

    fn write(&mut self, rows: &mut Vec<Row>) -> std::io::Result<()> {
        self.0.borrow_mut().push(rows.len());
        Ok(())
    }

    fn finish(self, _: TraceHash) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn chunks_are_written_during_the_run_but_not_before_their_retransmissions_are_judged() {
    let seen = Watched::default();
    let written = seen.0.clone();
    let mut r = Recorder::new(seen, 1);
    let (seg, wire) = (data(1, 1000), 1040);
    let mut at = 0;
    let mut say = |r: &mut Recorder<Watched>, side, what| {
        at += 1;
        Call { at, flow: 0, side, what }.to(r);
    };
    say(&mut r, Side::Sender, What::Sent { seg, wire, sends: 1 });
    say(&mut r, Side::Sender, What::Sent { seg, wire, sends: 2 });
    for _ in 0..2 * CHUNK {
        say(&mut r, Side::Sender, What::Delivered { seg: ack(1, &[]), wire: 40, sends: 0 });
    }
    assert!(written.borrow().is_empty(), "the second copy waits for the fate of the first");
    say(&mut r, Side::Receiver, What::Delivered { seg, wire, sends: 1 });
    for _ in 0..CHUNK {
        say(&mut r, Side::Sender, What::Delivered { seg: ack(1001, &[]), wire: 40, sends: 0 });
    }
    assert_eq!(*written.borrow(), [CHUNK, CHUNK, CHUNK]);
    r.close().unwrap();
    assert_eq!(written.borrow().iter().sum::<usize>(), 3 * CHUNK + 3);
}

#[test]
fn what_a_killed_run_left_goes_with_a_later_run_and_a_running_one_is_left_alone() {
    let folder = Folder::new("killed");
    let (old, young) = (".run.csv.7-0.partial", ".run.csv.8-0.partial");
    for (name, age) in [(old, 3700), (young, 0), (".other.csv.7-0.partial", 3700)] {
        let file = File::create(folder.0.join(name)).unwrap();
        let then = file.metadata().unwrap().modified().unwrap() - std::time::Duration::from_secs(age);
        file.set_modified(then).unwrap();
    }
    record(&folder.0.join("run.csv"), &two_flows()).unwrap();
    assert_eq!(folder.names(), [".other.csv.7-0.partial", young, "run.csv", "run.csv-metadata.json"]);
}
