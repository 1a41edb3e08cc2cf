//! The fitted path as a scenario file, with each number's evidence beside it.

use super::disorder::Disorder;
use super::estimate::{Estimate, Mark};
use super::{Duplicates, Fit, Transfer};
use std::fmt::Write as _;

/// The values that a scenario uses where the capture leaves them open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The likeliest.
    Value,
    /// The worse ends of the intervals of values that were not measured, and of random loss.
    Low,
    /// The better ends.
    High,
}

impl End {
    fn of(self, e: &Estimate) -> f64 {
        match (e.mark, self) {
            (Mark::Measured, _) | (_, End::Value) => e.value,
            (Mark::LowerBound | Mark::Unknown, End::Low) => e.low,
            (Mark::LowerBound | Mark::Unknown, End::High) => e.high,
        }
    }

    /// A value of which more is worse.
    fn of_burden(self, e: &Estimate) -> f64 {
        match self {
            End::Value => e.value,
            End::Low => End::High.of(e),
            End::High => End::Low.of(e),
        }
    }

    /// The share of losses. A capture contains few, so the ends of its interval are run even if it is measured.
    fn loss(self, e: &Estimate) -> f64 {
        match self {
            End::Value => e.value,
            End::Low => e.high,
            End::High => e.low,
        }
    }
}

/// One parameter for display: its name, its unit, the factor to that unit, and its estimate.
type Parameter<'a> = (&'static str, &'static str, f64, &'a Estimate);

impl Fit {
    /// All parameters with their estimates.
    pub fn parameters(&self) -> Vec<Parameter<'_>> {
        let mut all: Vec<Parameter<'_>> = vec![
            ("rate", "Mb/s", 1e-6, &self.rate),
            ("propagation", "ms", 1e3, &self.propagation),
            ("queue limit", "packets", 1.0, &self.queue),
            ("loss", "%", 100.0, &self.loss.share),
        ];
        match &self.disorder {
            Disorder::None => {}
            Disorder::Swaps { count, gap } => {
                all.push(("swaps at once", "", 1.0, count));
                all.push(("time between swaps", "s", 1.0, gap));
            }
            Disorder::Jitter { range } => all.push(("jitter", "ms", 1e3, range)),
            Disorder::TwoPaths { apart, share } => {
                all.push(("paths apart", "ms", 1e3, apart));
                all.push(("share on the longer path", "%", 100.0, share));
            }
        }
        if let Some(main) = self.main() {
            all.push(("receiver window", "kB", 1e-3, &main.window));
        }
        all
    }

    /// The transfer with the most bytes.
    pub fn main(&self) -> Option<&Transfer> {
        self.transfers.iter().max_by_key(|t| t.bytes)
    }

    /// Whether a value that affects a run is uncertain, so that both ends have to be run.
    pub fn is_open(&self) -> bool {
        let own = self.parameters().into_iter().map(|(.., e)| e);
        let all = own.chain(self.transfers.iter().map(|t| &t.window));
        self.loss.lost > 0 || all.into_iter().any(|e| e.mark != Mark::Measured && e.low < e.high)
    }

    /// The path as a scenario; `stack` sends, and each transfer has its captured size.
    pub fn scenario(&self, end: End, stack: &str, seconds: f64, seeds: u32) -> String {
        let mut text = String::new();
        text.push_str("# A path fitted to a capture. Each number has its evidence and its interval beside it.\n");
        for d in &self.disagreements {
            let _ = writeln!(text, "# The flows disagree: {d}.");
        }
        let _ = write!(
            text,
            "name = \"fitted to a capture\"\n\n[run]\nduration = \"{seconds:.3} s\"\nseeds = {{ first = 1, count = {seeds} }}\n\n"
        );
        self.link(&mut text, end);
        for (i, t) in self.transfers.iter().enumerate() {
            self.flow(&mut text, (t, i), end, stack);
        }
        text
    }

    fn link(&self, text: &mut String, end: End) {
        let mut comment = |name: &str| {
            for (n, unit, scale, e) in self.parameters().into_iter().filter(|p| p.0 == name) {
                let _ = writeln!(text, "# {n}: {}", words(unit, scale, e));
            }
        };
        for name in ["rate", "propagation", "queue limit", "loss", "swaps at once", "time between swaps"] {
            comment(name);
        }
        for name in ["jitter", "paths apart", "share on the longer path"] {
            comment(name);
        }
        let beyond = self.beyond();
        let delay = (end.of_burden(&self.propagation) / 2.0 * 1e9).round();
        let mut elements: Vec<String> = Vec::new();
        if let Disorder::Swaps { count, gap } = &self.disorder {
            let (count, gap) = (end.of_burden(count).round().max(1.0), (end.of(gap) * 1e3).round().max(1.0));
            elements.push(format!(
                "{{ kind = \"swap\", mode = \"literal\", count = {count:.0}, gap = {{ exponential = \"{gap:.0} ms\" }} }}"
            ));
        }
        let at = "at = \"exit\", only = \"data\"";
        match self.loss.bursts {
            Some(b) => elements.push(format!(
                "{{ kind = \"gilbert-elliott\", p = {:.6}, r = {:.6}, {at} }}",
                (b.turns_bad * end.loss(&self.loss.share) / self.loss.share.value).clamp(1e-6, 1.0),
                b.turns_good
            )),
            None if self.loss.lost > 0 => {
                elements.push(format!("{{ kind = \"bernoulli\", p = {:.6}, {at} }}", end.loss(&self.loss.share)));
            }
            None => {}
        }
        let to = if beyond.is_some() { "R" } else { "D" };
        let _ = write!(
            text,
            "[[link]]\nfrom = \"S\"\nto = \"{to}\"\nrate = \"{:.0} bps\"\ndelay = \"{delay:.0} ns\"\nqueue = \"{:.0} packets\"\n",
            end.of(&self.rate),
            end.of(&self.queue).max(1.0),
        );
        let _ = writeln!(text, "elements = [{}]", elements.join(", "));
        text.push_str("# The capture does not show the reverse path; it is assumed to be unloaded.\n");
        text.push_str("back = { rate = \"unlimited\", queue = \"unlimited\", elements = [] }\n\n");
        if let Some(element) = beyond {
            let _ = write!(
                text,
                "[[link]]\nfrom = \"R\"\nto = \"D\"\nrate = \"unlimited\"\ndelay = \"0 s\"\nelements = [{element}]\nback = {{ elements = [] }}\n\n"
            );
        }
    }

    /// The element behind the bottleneck that reorders packets.
    fn beyond(&self) -> Option<String> {
        match &self.disorder {
            Disorder::None | Disorder::Swaps { .. } => None,
            Disorder::Jitter { range } => {
                let half = (range.value / 2.0 * 1e9).round();
                Some(format!("{{ kind = \"netem\", delay = \"{half:.0} ns\", jitter = \"{half:.0} ns\" }}"))
            }
            Disorder::TwoPaths { apart, share } => {
                let (longer, shorter) = ((share.value * 1e3).round(), ((1.0 - share.value) * 1e3).round());
                let delay = (apart.value * 1e9).round();
                let paths =
                    format!("[{{ weight = {shorter:.0} }}, {{ weight = {longer:.0}, delay = \"{delay:.0} ns\" }}]");
                Some(format!("{{ kind = \"split\", choice = \"random\", paths = {paths} }}"))
            }
        }
    }

    fn flow(&self, text: &mut String, (t, number): (&Transfer, usize), end: End, stack: &str) {
        let ack = if self.answers.every() { "every" } else { "linux" };
        let window = end.of(&t.window).max(f64::from(t.segment)).min(f64::from(1u32 << 30));
        let _ = writeln!(text, "# {}: {} bytes in {:.3} s", t.name, t.bytes, t.seconds);
        let _ = writeln!(text, "# receiver window: {}", words("kB", 1e-3, &t.window));
        let _ = writeln!(text, "# ACKs: {}", self.answers.words());
        if t.sack {
            let _ = writeln!(text, "# DSACK: {}", t.duplicates.words());
        }
        let _ = write!(
            text,
            "[[flow]]\nname = \"flow-{}\"\nfrom = \"S\"\nto = \"D\"\nstack = \"{stack}\"\nsegment = \"{} B\"\nwindow = \"{window:.0} B\"\nhandshake = {}\n",
            number + 1,
            t.segment,
            t.whole,
        );
        let _ = write!(
            text,
            "receiver = {{ ack = \"{ack}\", sack = {}, dsack = {}, timestamps = {} }}\napp = {{ kind = \"fixed\", size = \"{} B\", start = \"{:.0} ns\" }}\n\n",
            t.sack,
            t.sack && !matches!(t.duplicates, Duplicates::Silent(_)),
            t.timestamps,
            t.bytes.max(1),
            t.start * 1e9,
        );
    }
}

/// A value's evidence, in words.
fn words(unit: &str, scale: f64, e: &Estimate) -> String {
    let show = |v: f64| {
        let v = v * scale;
        let digits = if v.abs() >= 100.0 {
            0
        } else if v.abs() >= 10.0 {
            1
        } else {
            3
        };
        format!("{v:.digits$}")
    };
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    format!("{} {}{unit} ({} to {}); {}", e.mark.name(), show(e.value), show(e.low), show(e.high), e.how)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::{Answers, Loss};

    fn fitted(queue: Estimate) -> Fit {
        let sure = |value| Estimate::measured(value, (value, value), "");
        Fit {
            rate: sure(1e7),
            propagation: sure(0.04),
            queue,
            loss: Loss { share: sure(0.0), lost: 0, bursts: None },
            disorder: Disorder::None,
            answers: Answers { single: None },
            transfers: Vec::new(),
            disagreements: Vec::new(),
            packet: 1500.0,
        }
    }

    #[test]
    fn a_value_that_was_not_measured_leaves_the_fit_open_without_any_loss() {
        assert!(!fitted(Estimate::measured(20.0, (19.0, 21.0), "")).is_open());
        assert!(fitted(Estimate::at_least(20.0, 80.0, "")).is_open());
    }

    #[test]
    fn a_window_of_unknown_scale_is_run_at_both_ends_of_what_it_may_be() {
        let mut fit = fitted(Estimate::measured(20.0, (19.0, 21.0), ""));
        let window = Estimate { low: 9e4, high: 9e6, ..Estimate::unknown(9e4, "no scale") };
        fit.transfers.push(Transfer {
            name: "a > b".to_owned(),
            start: 0.0,
            seconds: 1.0,
            bytes: 1_000_000,
            segment: 1460,
            window,
            sack: true,
            duplicates: Duplicates::Unknown,
            timestamps: false,
            whole: false,
        });
        assert!(fit.is_open());
        let of = |end| fit.scenario(end, "reno", 1.0, 1);
        assert!(
            of(End::Value).contains("\nwindow = \"90000 B\"\n") && of(End::Low).contains("\nwindow = \"90000 B\"\n")
        );
        assert!(of(End::High).contains("\nwindow = \"9000000 B\"\n"));
    }

    #[test]
    fn half_the_propagation_is_the_delay_of_the_way_there() {
        let text = fitted(Estimate::measured(20.0, (19.0, 21.0), "")).scenario(End::Value, "reno", 1.0, 1);
        assert!(text.contains("\ndelay = \"20000000 ns\"\n"), "{text}");
    }
}
