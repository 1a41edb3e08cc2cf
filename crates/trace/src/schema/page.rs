//! `docs/trace.md`.

use super::{Kind, COLUMNS, EVENTS};
use crate::sink::FORMAT;
use std::fmt::Write;

/// The text of `docs/trace.md`.
pub fn page() -> String {
    let mut p = format!("{HEAD}\n## Events\n\n{TELLS}\n| event | meaning |\n| --- | --- |\n");
    for e in EVENTS {
        let _ = writeln!(p, "| `{e}` | {} |", meaning(e));
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

fn meaning(event: &str) -> &'static str {
    match event {
        "sent" => "a host passed a packet to its link",
        "delivered" => "a packet reached a host",
        "dropped" => "a packet was dropped on the path",
        "refused" => "a TCP discarded a packet that had reached it, or some of its bytes",
        "queue" => "a packet arrived at the queue of a directed link (omitted for links whose queue can never be full)",
        "acked" => "a sender processed an acceptable ACK (its arrival is a `delivered` of its own)",
        "window" => "`cwnd` or `ssthresh` changed",
        "inflation" => "the artificial inflation of a Reno-style recovery changed",
        "phase" => "a sender changed its phase, of which there are four",
        "timeout" => "the retransmission timer fired",
        "mistake" => "an episode was found to be a mistake",
        "probe" => "a segment was sent to probe the tail (RFC 8985 §7, RFC 9002 §6.2)",
        "persist" => "a zero window was probed (RFC 9293 §3.8.6.1)",
        "threshold" => {
            "the number of duplicate ACKs that indicates a loss changed (the first ACK reports the initial one)"
        }
        "rtt" => "a sender's round-trip estimate changed (in live runs, sampled every 10 ms and after each ACK)",
        _ => "",
    }
}

const HEAD: &str = "\
<!-- Generated: cargo run -p ackclock-trace --example trace_page > docs/trace.md -->
# Traces

`ackclock run SCENARIO --trace FILE` writes one record for each event, in columns. The file name's ending chooses the format: `.parquet` (Snappy, row
groups of 65536 records) or `.csv` (with its description beside it in `FILE-metadata.json`, as \"CSV on the Web\" specifies). The complete file
appears when the run has succeeded; otherwise there is none.

A file names the run that it holds: `ackclock.format`, `ackclock.version`, `ackclock.scenario` (hash of the scenario),
`ackclock.seed`, `ackclock.stacks` (one line each) and `ackclock.trace_hash`. Parquet keeps these as key-value metadata, CSV
as `notes` of its description. Every Parquet column carries its `unit` and `meaning` as Arrow field metadata.
";

const TELLS: &str = "\
A record fills the columns that apply to its event and leaves the others empty.
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
