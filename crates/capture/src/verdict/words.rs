//! Evidence in words.

use super::{Evidence, Judged};

impl Judged {
    /// The verdict with its evidence: one or two sentences, without the final full stop.
    pub fn words(&self) -> String {
        let likely = if self.likely { "likely " } else { "" };
        format!("{likely}{}: {}", self.verdict.name(), self.evidence.words(self.earlier, self.proof))
    }
}

impl Evidence {
    /// The evidence, in words. `earlier` and `proof` are frames as in [`Judged`].
    pub fn words(&self, earlier: Option<u64>, proof: Option<u64>) -> String {
        let copy = frame("the earlier copy", earlier);
        let ack = frame("the acknowledgment", proof);
        match *self {
            Evidence::AlreadyAcknowledged => format!("{ack} arrived before it was sent"),
            Evidence::TooSoon { after, smallest } => {
                let (after, smallest) = (ms(after), ms(smallest));
                format!("{ack} arrived {after} after it, but no round trip took less than {smallest}; {copy} had arrived")
            }
            Evidence::EarlierEcho { value } => format!("{ack} echoes timestamp {value}, which is that of {copy}"),
            Evidence::EarlierAnswered { by } => {
                format!("{ack} acknowledges a segment that was sent {} before this copy; {copy} had arrived", ms(by))
            }
            Evidence::Reported { duplicates, copies } => {
                let times = counted(duplicates, "duplicate", "duplicates");
                let later = counted(copies, "copy", "copies");
                format!("the receiver reported {times} of its bytes, and {later} from this one on cannot account for all of them")
            }
            Evidence::BareAcks { acks } => {
                let acks = counted(acks, "acknowledgment", "acknowledgments");
                format!("{acks} without new information answered late copies")
            }
            Evidence::EarlierArrived => format!("{copy} passed here and was accepted"),
            Evidence::TakenThere => format!("{copy} arrived{} and was accepted", there(proof)),
            Evidence::OlderTimestamp { value, recent } => {
                format!("{copy} arrived with timestamp {value} when the receiver had {recent}; PAWS refused it")
            }
            Evidence::RefusedByPaws { value, recent } => format!(
                "{ack} acknowledged nothing new: {copy}, with timestamp {value}, arrived when the receiver had {recent}, and PAWS refused it"
            ),
            Evidence::RefusedThere { value } => {
                format!("{copy} arrived{}, and the receiver refused it for its timestamp {value} (PAWS)", there(proof))
            }
            Evidence::NoEarlierCopy => "no earlier copy passed here".to_owned(),
            Evidence::FilledLate => "it filled a gap a round trip or more after later data had passed: it was sent again, or was that \
                                     late"
                .to_owned(),
            Evidence::NoneArrived => "no earlier copy arrived".to_owned(),
            Evidence::OwnEcho { value } => format!("{ack} echoes timestamp {value}: this copy or a later one filled the hole"),
            Evidence::LaterArrived { by, most } => format!(
                "data sent {} after {copy} arrived before its bytes, and packets were overtaken by at most {}",
                ms(by),
                ms(most)
            ),
            Evidence::NoneReported { after } => format!(
                "the receiver reported no duplicate, so one copy arrived; {ack} arrived {} after this one",
                ms(after)
            ),
            Evidence::NoBareAck { after } => format!(
                "every acknowledgment had new information, so one copy arrived; {ack} arrived {} after this one",
                ms(after)
            ),
            Evidence::NotAcknowledged => "nothing acknowledged it before the capture ended".to_owned(),
            Evidence::NotThere => "the receiver's capture lacks copies that may have arrived".to_owned(),
            Evidence::NoAcknowledgments => "no acknowledgments were captured".to_owned(),
            Evidence::FirstNotSeen => "the first copy was not captured".to_owned(),
            Evidence::PerhapsRefused { value, recent } => format!(
                "the receiver had timestamp {recent} by then, and may have refused {copy} with its {value} (PAWS)"
            ),
            Evidence::Alike => "either copy may have arrived first, and nothing tells them apart".to_owned(),
        }
    }
}

fn frame(what: &str, number: Option<u64>) -> String {
    number.map_or_else(|| what.to_owned(), |n| format!("{what} (frame {n})"))
}

/// A frame of the receiver's capture.
fn there(number: Option<u64>) -> String {
    number.map_or_else(String::new, |n| format!(" (frame {n} of the receiver's capture)"))
}

fn counted(n: u32, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A time in milliseconds, with three decimals.
fn ms(nanos: i64) -> String {
    format!("{}{}.{:03} ms", if nanos < 0 { "-" } else { "" }, nanos.abs() / 1_000_000, nanos.abs() / 1000 % 1000)
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    #[test]
    fn a_verdict_names_its_evidence_and_its_frames() {
        let judged = Judged {
            verdict: Verdict::Needless,
            likely: true,
            evidence: Evidence::TooSoon { after: 12_345_678, smallest: 100_000_000 },
            earlier: Some(7),
            proof: Some(31),
        };
        let words =
            "likely needless: the acknowledgment (frame 31) arrived 12.345 ms after it, but no round trip took less than \
                     100.000 ms; the earlier copy (frame 7) had arrived";
        assert_eq!(judged.words(), words);
        assert_eq!(Evidence::NoneArrived.words(None, None), "no earlier copy arrived");
    }
}
