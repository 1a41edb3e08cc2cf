//! `docs/trace.md`.

use super::{Kind, COLUMNS, EVENTS};
use crate::sink::FORMAT;
use std::fmt::Write;

/// The text of `docs/trace.md`.
pub fn page() -> String {
    let mut p = format!("{HEAD}\n## Events\n\n{TELLS}\n| event | what it tells |\n| --- | --- |\n");
    for e in EVENTS {
        let _ = writeln!(p, "| `{e}` | {} |", told(e));
    }
    let _ =
        write!(p, "\n## Columns (format {FORMAT})\n\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n");
    for c in COLUMNS {
        let words = match c.kind {
            Kind::Word(lists) if c.name != "event" && c.name != "why" => {
                let all: Vec<String> = lists.iter().copied().flatten().map(|w| format!("`{w}`")).collect();
                format!(" One of {}.", all.join(", "))
            }
            _ => String::new(),
        };
        let null = if c.nullable { "" } else { ", never empty" };
        let _ = writeln!(p, "| `{}` | {}{null} | {} | {}{words} |", c.name, c.kind.arrow(), c.unit, c.meaning);
    }
    let _ = write!(p, "\n## Trace hash\n\n{}\n{USE}", crate::hash::TEXT);
    p
}

fn told(event: &str) -> &'static str {
    match event {
        "sent" => "a host handed a packet to its link",
        "delivered" => "a packet reached a host",
        "dropped" => "a packet was dropped on the way",
        "refused" => "a TCP threw away a packet that had reached it, or some of its bytes",
        "queue" => "a packet came to the queue of a directed link (left out for links whose queue can never be full)",
        "acked" => "a sender processed an acceptable ACK (its arrival is a `delivered` of its own)",
        "window" => "`cwnd` or `ssthresh` changed",
        "inflation" => "the artificial inflation of a Reno-style recovery changed",
        "phase" => "a sender went from one of its four phases to another",
        "timeout" => "the retransmission timer fired",
        "mistake" => "a judge found that an episode was a mistake",
        "persist" => "a zero window was probed (RFC 9293 §3.8.6.1)",
        "threshold" => "another number of duplicate ACKs now means a loss (the first ACK tells the first one)",
        "rtt" => {
            "what a sender holds about its round trip changed (in live runs, which ask every 10 ms and after each ACK)"
        }
        _ => "",
    }
}

const HEAD: &str = "\
<!-- Generated: cargo run -p ackclock-trace --example trace_page > docs/trace.md -->
# Traces

`ackclock run SCENARIO --trace FILE` writes one record for each thing that happened, as columns. The file's ending chooses
the format: `.parquet` (Snappy, row groups of 131072 records) or `.csv` (with its description beside it in
`FILE-metadata.json`, as \"CSV on the Web\" wants it). The file appears when the run has ended well, whole, or not at all.

A file says which run it holds: `ackclock.format`, `ackclock.version`, `ackclock.scenario` (hash of the scenario),
`ackclock.seed`, `ackclock.stacks` (one line each) and `ackclock.trace_hash`. Parquet keeps these as key-value metadata, CSV
as `notes` of its description. Every Parquet column carries its `unit` and `meaning` as Arrow field metadata.
";

const TELLS: &str = "\
A record fills the columns that mean something for its event and leaves the others empty.
";

const USE: &str = "\
## Reading

```console
$ ackclock examples scenarios/bundle.toml --copy-to .
$ ackclock run scenarios/bundle.toml --seed 1 --trace run.parquet
```

```python
import polars as pl

t = pl.read_parquet(\"run.parquet\")
sends = t.filter((pl.col(\"event\") == \"sent\") & (pl.col(\"len\") > 0))
print(
    sends.group_by(\"flow\").agg(pl.len(), (pl.col(\"sends\") > 1).sum(), pl.col(\"refused\").sum(), pl.col(\"needless\").sum())
)
```

```sql
-- DuckDB: who cut the window, how often, by how much
select \"by\", count(*), avg(cwnd_from - cwnd) from 'run.parquet' where event = 'window' and cwnd < cwnd_from group by \"by\";
```
";
