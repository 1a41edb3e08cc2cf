//! The rows of a flow's graph. `web/src/engine/trace.ts` has the same columns for the page.
//!
//! Times are seconds since the run's start, offsets and windows bytes. A value that does not exist is NaN, or -1 in a column of
//! integers. Offsets are those of the sender's stream: 0 is the SYN, data begins at 1.

use crate::pieces::Pieces;
use crate::table;

/// `sends` of a first transmission.
pub const ONCE: u8 = 1;

/// Numbers from 0 with a word each, as `u8` in columns.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident, $list:ident { $($(#[$meaning:meta])* $kind:ident $word:literal,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $name {
                $($(#[$meaning])* $kind,)*
            }

            impl $name {
                /// All of them, in the order of their numbers.
                pub const ALL: &[Self] = &[$(Self::$kind),*];
            }

            /// The words, in the order of their numbers.
            pub const $list: &[&str] = &[$($word),*];
        )*
    };
}

words! {
    /// The fate of a transmission.
    Fate, FATES {
        /// It arrived.
        Delivered "delivered",
        /// The path dropped it.
        Dropped "dropped",
        /// Neither has happened when the run ends.
        UnderWay "under way",
        /// It arrived, and the receiver threw new data of it away.
        Refused "refused",
        /// A capture does not show it.
        Unknown "unknown",
    }
    /// The verdict on a transmission, from the fate of every copy.
    Verdict, VERDICTS {
        /// It is the first one of its data.
        First "first",
        /// A needed retransmission.
        Needed "needed",
        /// A refused one.
        Refused "refused",
        /// A needless one.
        Needless "needless",
        /// The run ended before that was known.
        Open "open",
        /// A capture does not say.
        Undecided "undecided",
    }
    /// An instant that gets a sign.
    Mark, MARKS {
        /// The retransmission timer fired.
        Timeout "timeout",
        /// An episode was a mistake.
        Mistake "mistake",
        /// The same, and it was undone.
        Undone "undone",
        /// A zero window was probed.
        Persist "persist",
        /// The tail was probed.
        Probe "probe",
    }
}

table! {
    /// Segments with data, in the order of transmission. While a run is recorded some columns may be shorter: those with a
    /// usual value, and those of a packet's fate.
    Sends {
        /// When it was sent.
        time "time": F64(f64),
        /// Its first offset.
        seq "seq": F64(f64),
        /// Its length.
        len "len": U32(u32),
        /// How often this data has been sent by now: 1 is the first transmission.
        sends "sends": U8(u8),
        /// A [`Verdict`].
        verdict "verdict": U8(u8),
        /// A [`Fate`].
        fate "fate": U8(u8),
        /// When it arrived or was dropped; NaN while in flight.
        fate_time "fateTime": F64(f64),
        /// The slot that requested it.
        by "by": U8(u8),
        /// The newest episode at that time, 0 before the first.
        episode "episode": U32(u32),
        /// The element that dropped it, else -1.
        element "element": I32(i32),
        /// The number of its arrival there, from 0, else -1.
        nth "nth": I32(i32),
        /// Its number among the flow's packets with sequence space in the order of sending, from 0.
        number "number": U32(u32),
        /// 1 if it arrived with the mark of a queue (CE, RFC 3168).
        marked "marked": U8(u8),
    }
}

table! {
    /// Pure ACKs and the sender's reaction, in the order of arrival at the sender; dropped ones are at their time of sending.
    /// While a run is recorded they are where they ended, and some columns may be shorter.
    Acks {
        /// When the receiver sent it.
        sent "sent": F64(f64),
        /// When it arrived at the sender; NaN if it was dropped.
        time "time": F64(f64),
        /// Its acknowledgment.
        ack "ack": F64(f64),
        /// The announced window.
        rwnd "rwnd": F64(f64),
        /// Duplicate ACKs in a row, this one included; on an advancing ACK, the length of the run that it ended.
        dup_run "dupRun": U32(u32),
        /// Bytes in the network after it, by the sender's estimate.
        pipe "pipe": F64(f64),
        /// Bytes that it newly reports as delivered.
        newly_delivered "newlyDelivered": F64(f64),
        /// Its number among the flow's pure ACKs in the order of sending, from 0.
        number "number": U32(u32),
        /// The position of its first block among the flow's SACK blocks.
        sack_first "sackFirst": U32(u32),
        /// The number of its blocks.
        sack_count "sackCount": U8(u8),
        /// 1 if it was dropped on the path.
        dropped "dropped": U8(u8),
        /// 1 if it echoes a mark (ECE, RFC 3168).
        echo "echo": U8(u8),
    }
}

table! {
    /// The window after each change of it.
    Windows {
        /// When it changed.
        time "time": F64(f64),
        /// The congestion window.
        cwnd "cwnd": F64(f64),
        /// The slow start threshold; infinite while there is none.
        ssthresh "ssthresh": F64(f64),
        /// The slot that wrote it.
        by "by": U8(u8),
        /// The newest episode at that time.
        episode "episode": U32(u32),
    }
}

table! {
    /// A step function.
    Steps {
        /// When a value begins.
        time "time": F64(f64),
        /// The value.
        value "value": F64(f64),
    }
}

table! {
    /// The sender's changes of phase; it begins in `open`.
    Phases {
        /// When it changed.
        time "time": F64(f64),
        /// The phase left.
        from "from": U8(u8),
        /// The phase entered.
        to "to": U8(u8),
        /// The reason.
        why "why": U8(u8),
        /// The newest episode at that time.
        episode "episode": U32(u32),
    }
}

table! {
    /// Instants.
    Marks {
        /// When it happened.
        time "time": F64(f64),
        /// A [`Mark`].
        kind "kind": U8(u8),
        /// Its episode.
        episode "episode": U32(u32),
        /// Of a timeout the number of earlier back-offs; of a probe its offset; else NaN.
        value "value": F64(f64),
    }
}

table! {
    /// The queue of a directed link at each arrival, the arriving packet included.
    Queue {
        /// The time of the arrival.
        time "time": F64(f64),
        /// Packets waiting and in service.
        packets "packets": U32(u32),
    }
}

impl Sends {
    /// All columns with all rows.
    pub(crate) fn whole(mut self) -> Sends {
        let rows = self.time.len();
        self.sends.fill(rows, ONCE);
        self.verdict.fill(rows, Verdict::First as u8);
        self.fate.fill(rows, Fate::UnderWay as u8);
        self.fate_time.fill(rows, f64::NAN);
        self.element.fill(rows, -1);
        self.nth.fill(rows, -1);
        self.marked.fill(rows, 0);
        self
    }
}

impl Acks {
    /// All columns with all rows.
    pub(crate) fn whole(mut self) -> Acks {
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
    pub(crate) fn in_order(mut self) -> Acks {
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
    pub(crate) fn step(&mut self, time: f64, value: f64) {
        if self.value.last() != Some(&value) {
            self.time.push(time);
            self.value.push(value);
        }
    }

    /// The value at `time`, or just before it; `None` before the first step.
    pub fn at(&self, time: f64, before: bool) -> Option<f64> {
        let steps = self.time.count_until(time, before);
        steps.checked_sub(1).map(|i| self.value[i])
    }
}
