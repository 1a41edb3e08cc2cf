//! The columns of a picture. Their names are those of `web/src/engine/trace.ts`, which explains them.

use super::FIRST;
use crate::columns::table;
use crate::pieces::Pieces;

/// `sends` of a first transmission.
pub(super) const ONCE: u8 = 1;
/// `fate` of a packet that has not arrived and was not dropped: a position in `FATES`.
pub(super) const UNDER_WAY: u8 = 2;

table! {
    /// Segments with data, in the order of transmission. Until [`Sends::whole`] some columns may be shorter: those with a usual
    /// value, and those of a packet's fate.
    Sends {
        time "time": F64(f64),
        seq "seq": F64(f64),
        len "len": U32(u32),
        sends "sends": U8(u8),
        verdict "verdict": U8(u8),
        fate "fate": U8(u8),
        fate_time "fateTime": F64(f64),
        by "by": U8(u8),
        episode "episode": U32(u32),
        element "element": I32(i32),
        nth "nth": I32(i32),
        number "number": U32(u32),
        marked "marked": U8(u8),
    }
}

table! {
    /// Pure ACKs, in the order in which they ended. Until [`Acks::whole`] some columns may be shorter,
    /// as in [`Sends`].
    Acks {
        sent "sent": F64(f64),
        time "time": F64(f64),
        ack "ack": F64(f64),
        rwnd "rwnd": F64(f64),
        dup_run "dupRun": U32(u32),
        pipe "pipe": F64(f64),
        newly_delivered "newlyDelivered": F64(f64),
        number "number": U32(u32),
        sack_first "sackFirst": U32(u32),
        sack_count "sackCount": U8(u8),
        dropped "dropped": U8(u8),
        echo "echo": U8(u8),
    }
}

table! {
    /// Changes of the window.
    Windows {
        time "time": F64(f64),
        cwnd "cwnd": F64(f64),
        ssthresh "ssthresh": F64(f64),
        by "by": U8(u8),
        episode "episode": U32(u32),
    }
}

table! {
    /// A step function.
    Steps {
        time "time": F64(f64),
        value "value": F64(f64),
    }
}

table! {
    /// Changes of phase.
    Phases {
        time "time": F64(f64),
        from "from": U8(u8),
        to "to": U8(u8),
        why "why": U8(u8),
        episode "episode": U32(u32),
    }
}

table! {
    /// Instants.
    Marks {
        time "time": F64(f64),
        kind "kind": U8(u8),
        episode "episode": U32(u32),
        value "value": F64(f64),
    }
}

table! {
    /// The queue as found by arrivals.
    Queue {
        time "time": F64(f64),
        packets "packets": U32(u32),
    }
}

impl Sends {
    /// All columns with all rows.
    pub(super) fn whole(mut self) -> Sends {
        let rows = self.time.len();
        self.sends.fill(rows, ONCE);
        self.verdict.fill(rows, FIRST);
        self.fate.fill(rows, UNDER_WAY);
        self.fate_time.fill(rows, f64::NAN);
        self.element.fill(rows, -1);
        self.nth.fill(rows, -1);
        self.marked.fill(rows, 0);
        self
    }
}

impl Acks {
    /// All columns with all rows.
    pub(super) fn whole(mut self) -> Acks {
        let rows = self.sent.len();
        self.dup_run.fill(rows, 0);
        self.pipe.fill(rows, f64::NAN);
        self.newly_delivered.fill(rows, 0.0);
        self.sack_count.fill(rows, 0);
        self.dropped.fill(rows, 0);
        self.echo.fill(rows, 0);
        self
    }

    /// Moves dropped ACKs from the position of the drop to the position of the transmission.
    pub(super) fn in_order(mut self) -> Acks {
        if !self.dropped.iter().any(|dropped| *dropped == 1) {
            return self;
        }
        let key = |i: usize| if self.dropped[i] == 1 { self.sent[i] } else { self.time[i] };
        let mut order: Vec<usize> = (0..self.sent.len()).collect();
        order.sort_by(|a, b| key(*a).total_cmp(&key(*b)));
        fn pick<T: Copy>(column: &mut Pieces<T>, order: &[usize]) {
            *column = order.iter().map(|i| column[*i]).collect();
        }
        for column in
            [&mut self.sent, &mut self.time, &mut self.ack, &mut self.rwnd, &mut self.pipe, &mut self.newly_delivered]
        {
            pick(column, &order);
        }
        for column in [&mut self.dup_run, &mut self.number, &mut self.sack_first] {
            pick(column, &order);
        }
        pick(&mut self.sack_count, &order);
        pick(&mut self.dropped, &order);
        pick(&mut self.echo, &order);
        self
    }
}

impl Steps {
    /// Sets the value from `time` on, if it changes.
    pub(super) fn step(&mut self, time: f64, value: f64) {
        if self.value.last() != Some(&value) {
            self.time.push(time);
            self.value.push(value);
        }
    }
}
