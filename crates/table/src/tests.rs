//! Rows declared in each form.

use crate::{description, markdown, row, typescript, Cell, Described, Flat, Kind, Row, Value};
use serde_json::{json, to_value};

struct Counts {
    acked: u64,
    late: Option<f64>,
}

row! {
    /// A transfer.
    #[derive(Clone, Debug, PartialEq)]
    struct Transfer {
        /// How long it took.
        time_s: f64 [unit("s")];
    }
}

row! {
    /// Values of a quantity.
    #[derive(Clone, Debug, PartialEq)]
    struct Spread {
        /// Their mean.
        mean_s: Option<f64> [unit("s")];
        /// Their number.
        count: u64;
    }
}

row! {
    /// A row with rows in it.
    #[derive(Clone, Debug, PartialEq)]
    struct Measured {
        /// Round-trip times.
        rtt: Flat<Spread> [prefixed, parts(&[("mean_s", "mean RTT", "ms", 1e3, 1)])];
        /// Delays.
        delay: Flat<Spread>;
    }
}

row! {
    /// A flow
    /// of a run.
    #[derive(Clone, Debug, PartialEq)]
    struct Flow of (counts, name): (&Counts, &str) {
        /// Its name.
        name: String = name.to_owned();
        /// Payload acknowledged.
        acked_bytes: u64 [unit("bytes"), averaged, summed, shown("acked"), scaled("kB", 1e-3, 1), more_is_better] = counts.acked;
        /// The latest packet.
        late_s: Option<f64> [unit("s"), largest] = counts.late;
        /// When it ended.
        finish_s: Option<f64> [unit("s"), last] = counts.late;
        /// The mean lateness, which rows together do not have.
        mean_s: Option<f64> [single] = counts.late;
        /// Its transfers.
        transfers: Vec<Transfer> [sparse] = counts.late.map(|time_s| Transfer { time_s }).into_iter().collect();
        /// The last transfer.
        last: Option<Transfer> [sparse] = counts.late.map(|time_s| Transfer { time_s });
    }
}

row! {
    /// Counts.
    for Counts as "CountsRow", r {
        /// Whether anything was acknowledged.
        any: bool = r.acked > 0;
        /// In words.
        words: &'static str = if r.acked > 0 { "some" } else { "none" };
    }
}

fn flow(acked: u64, late: Option<f64>) -> Flow {
    Flow::of((&Counts { acked, late }, "a"))
}

#[test]
fn the_cells_of_a_row_match_its_columns() {
    let cells = flow(3, Some(0.5)).cells();
    let none = Cell::None;
    let half = Cell::Real(0.5);
    assert_eq!(cells, [Cell::Text("a".into()), Cell::Int(3), half.clone(), half.clone(), half, none.clone(), none]);
    let columns = Flow::columns();
    let kinds: Vec<_> = columns.iter().map(|c| (&*c.name, c.kind, c.nullable)).collect();
    let transfer = Kind::Row("Transfer");
    let expected = [
        ("name", Kind::Text, false),
        ("acked_bytes", Kind::Int, false),
        ("late_s", Kind::Real, true),
        ("finish_s", Kind::Real, true),
        ("mean_s", Kind::Real, true),
        ("transfers", Kind::List(&Kind::Row("Transfer")), false),
        ("last", transfer, true),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(Counts { acked: 0, late: None }.cells(), [Cell::Bool(false), Cell::Text("none".into())]);
}

#[test]
fn json_has_every_column_but_sparse_ones_without_a_value() {
    let full = json!({
        "name": "a", "acked_bytes": 3, "late_s": 0.5, "finish_s": 0.5, "mean_s": 0.5, "transfers": [{"time_s": 0.5}],
        "last": {"time_s": 0.5},
    });
    assert_eq!(to_value(flow(3, Some(0.5))).expect("JSON"), full);
    let empty = json!({ "name": "a", "acked_bytes": 3, "late_s": null, "finish_s": null, "mean_s": null });
    assert_eq!(to_value(flow(3, None)).expect("JSON"), empty);
    assert_eq!(to_value(Counts { acked: 1, late: None }).expect("JSON"), json!({ "any": true, "words": "some" }));
}

#[test]
fn the_columns_of_a_flat_row_have_its_name_before_theirs_if_it_is_prefixed() {
    let spread = |count| Flat(Spread { mean_s: None, count });
    let row = Measured { rtt: spread(1), delay: spread(2) };
    let names: Vec<_> = Measured::columns().iter().map(|c| c.name.to_string()).collect();
    assert_eq!(names, ["rtt_mean_s", "rtt_count", "mean_s", "count"]);
    assert_eq!(Measured::columns()[0].meaning, "Round-trip times. Their mean.");
    let shown: Vec<_> = Measured::columns().iter().map(|c| c.shown.map(|s| (s.title, s.unit, s.digits))).collect();
    assert_eq!(shown, [Some(("mean RTT", "ms", 1)), None, None, None]);
    assert_eq!(row.cells(), [Cell::None, Cell::Int(1), Cell::None, Cell::Int(2)]);
    let json = json!({ "rtt_mean_s": null, "rtt_count": 1, "mean_s": null, "count": 2 });
    assert_eq!(to_value(row).expect("JSON"), json);
}

#[test]
fn rows_together_have_sums_the_largest_values_or_nothing_as_declared() {
    let mut all = flow(3, Some(1.5));
    all.add(&flow(4, Some(2.0)));
    all.add(&flow(5, Some(1.0)));
    let Flow { name, acked_bytes, late_s, finish_s, mean_s, transfers, last } = all.clone();
    assert_eq!((&*name, acked_bytes, late_s, finish_s, mean_s), ("a", 12, Some(2.0), Some(1.0), None));
    assert_eq!((transfers.len(), last), (1, Some(Transfer { time_s: 1.5 })));
    all.add(&flow(6, None));
    assert_eq!((all.acked_bytes, all.late_s, all.finish_s), (18, Some(2.0), None));
}

#[test]
fn a_count_that_no_signed_number_holds_is_missing() {
    assert_eq!(flow(u64::MAX, None).cells()[1], Cell::None);
}

#[test]
fn the_description_in_each_language_has_unit_meaning_and_type() {
    let about = Described::of::<Flow>();
    assert_eq!(about.about, "A flow of a run.");
    let page = markdown(&about);
    assert!(page.contains("| `acked_bytes` | int64, never empty | bytes | Payload acknowledged. |"), "{page}");
    assert!(page.contains("| `last` | object, only in JSON |  | The last transfer. |"), "{page}");
    let types = typescript(std::slice::from_ref(&about));
    for line in [
        "export interface Flow {",
        "  /** Payload acknowledged. Unit: bytes. */\n  readonly acked_bytes: number;",
        "  readonly late_s: number | null;",
        "  readonly transfers?: readonly Transfer[];",
        "  readonly last?: Transfer;",
        r#"  acked_bytes: { label: "acked", unit: "kB", scale: 0.001, digits: 1, moreIsBetter: true },"#,
        r#"  late_s: { label: "late", unit: "s", scale: 1.0, digits: 3, moreIsBetter: false },"#,
    ] {
        assert!(types.contains(line), "{types}");
    }
    let all: serde_json::Value = serde_json::from_str(&description(&[("flow", about)])).expect("JSON");
    let shown = json!({ "title": "acked", "unit": "kB", "scale": 1e-3, "digits": 1, "brief": false, "seldom": false, "more_is_better": true });
    assert_eq!(all["flow"]["columns"][1]["shown"], shown);
    assert_eq!(all["flow"]["columns"][1]["averaged"], true);
}
