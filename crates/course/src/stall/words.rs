//! The phrases about stalls of runs and captures.

/// A number of things: `1 ACK`, `3 ACKs`.
pub fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A number of segments, with a decimal if it is not whole.
pub fn segments(n: f64) -> String {
    let n = (n * 10.0).round() / 10.0;
    format!("{n} segment{}", if n == 1.0 { "" } else { "s" })
}

/// A moment, in seconds since the beginning.
pub fn at(seconds: f64) -> String {
    format!("{seconds:.3} s")
}

/// A length of time with three significant digits, in milliseconds below a tenth of a second.
pub fn span(seconds: f64) -> String {
    let three = |x: f64| format!("{x:.2e}").parse::<f64>().unwrap_or(x);
    if seconds < 0.1 {
        format!("{} ms", three(seconds * 1e3))
    } else {
        format!("{} s", three(seconds))
    }
}

/// How many duplicate ACKs arrived, as the beginning of a sentence.
pub fn duplicates(n: u64) -> String {
    match n {
        0 => "No duplicate ACK arrived".to_owned(),
        n => format!("{} arrived", count(n, "duplicate ACK")),
    }
}

/// The expiry of the retransmission timer, this long after something.
pub fn timer_fired(after_s: f64, what: &str) -> String {
    format!("The retransmission timer fired {} after {what}", span(after_s))
}

/// A tail loss probe, this long after something.
pub fn probed(after_s: f64, what: &str, content: &str) -> String {
    format!("A tail loss probe was sent {} after {what}: {content}", span(after_s))
}

/// Nothing that was sent after a lost segment could reveal the loss.
pub const NOTHING_AFTER: &str = "nothing sent after it arrived";
/// The application had written no more.
pub const NOTHING_NEW: &str = "there was nothing new to send";
