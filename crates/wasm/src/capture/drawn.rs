//! One flow of a capture as columns. Their names are those of `web/src/engine/capture.ts`, which explains them.

use crate::border::{self, Border, Column};
use ackclock_capture::graph::{Answered, Graph, Sent};
use ackclock_capture::rows::FlowRow;
use ackclock_capture::verdict::{Retransmission, Verdict};
use ackclock_course::{table, tables};
use serde_json::{json, Value};

table! {
    /// Segments, in the order of the capture.
    Sends {
        time "time": F64(f64),
        seq "seq": F64(f64),
        len "len": U32(u32),
        sends "sends": U8(u8),
        verdict "verdict": U8(u8),
        frame "frame": F64(f64),
    }
}

table! {
    /// Acknowledgments, in the order of the capture.
    Acks {
        time "time": F64(f64),
        ack "ack": F64(f64),
        rwnd "rwnd": F64(f64),
        dup_run "dupRun": U32(u32),
        sack_first "sackFirst": U32(u32),
        sack_count "sackCount": U8(u8),
        frame "frame": F64(f64),
    }
}

/// The flow's segments, each with its verdict, and the acknowledgments of them.
pub(super) fn columns(row: &FlowRow<'_>, graph: &Graph, border: &mut dyn Border) -> Value {
    // The SYN has offset 0 on the page.
    let place = |offset: i64| (offset + 1) as f64;
    let edges = |of: fn(&(i64, i64)) -> i64| Column::F64(vec![graph.blocks.iter().map(|b| place(of(b))).collect()]);
    let (mut sends, mut acks) = (Sends::default(), Acks::default());
    let mut judged = row.retransmissions().peekable();
    for Sent { frame, at, offset, len } in &graph.sent {
        while judged.next_if(|r| r.frame < *frame).is_some() {}
        let verdict = judged.next_if(|r| r.frame == *frame);
        sends.time.push(row.file.seconds(*at));
        sends.seq.push(place(*offset));
        sends.len.push(*len);
        sends.sends.push(verdict.map_or(1, |r| u8::try_from(r.copies).unwrap_or(u8::MAX).saturating_add(1)));
        sends.verdict.push(verdict.map_or(tables::Verdict::First, called) as u8);
        sends.frame.push(*frame as f64);
    }
    for Answered { frame, at, ack, window, duplicates, blocks } in &graph.answered {
        acks.time.push(row.file.seconds(*at));
        acks.ack.push(place(*ack));
        acks.rwnd.push(window.map_or(f64::NAN, |bytes| bytes as f64));
        acks.dup_run.push(*duplicates);
        acks.sack_first.push(blocks.0);
        acks.sack_count.push(blocks.1);
        acks.frame.push(*frame as f64);
    }
    json!({
        "sends": border::table(sends.columns(), border),
        "acks": border::table(acks.columns(), border),
        "sackLeft": border.column(edges(|b| b.0)),
        "sackRight": border.column(edges(|b| b.1)),
    })
}

fn called(r: &Retransmission) -> tables::Verdict {
    match r.judged.verdict {
        Verdict::Needed => tables::Verdict::Needed,
        Verdict::Refused => tables::Verdict::Refused,
        Verdict::Needless => tables::Verdict::Needless,
        Verdict::Undecided => tables::Verdict::Undecided,
    }
}
