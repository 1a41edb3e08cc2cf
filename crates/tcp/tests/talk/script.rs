//! The language of a conversation, after packetdrill's.
//!
//! ```text
//! stack newreno                 # a named stack; then any of:
//! iw 10  mss 1000  rwnd 20000   # initial window (segments), our MSS, both sides' windows (bytes)
//! open connect                  # or `listen`; else the connection is established from the start
//! options sack timestamps       # exactly these TCP options instead of the stack's own
//! ack delayed 200               # receiver's policy: every, delayed MS, heartbeat MS, linux
//! maxburst 3  by-hand           # limit; the application reads by `read`
//! lose 1001 4001                # the peer is a receiver; the first copy of these segments is lost
//! show window                   # after every input: phase, cwnd, ssthresh, inflation, pipe
//!
//! 0.0  write 10000              # seconds, then the event; `+0.1` counts from the previous line
//! 0.1  < . 1:1 ack 1001 win 20000 <sack 2001-3001>
//! 0.2  close | abort | read 500 | end
//! ```
//!
//! Segments read `flags from:to ack A win W <options>`; flags are S, F, R, P and `.` for ACK; offsets are the engine's
//! (the SYN at 0, data from 1); `to` counts payload only. Options: `mss N`, `wscale N`, `sack-permitted`, `ts VAL ECR`,
//! `sack L-R …`.

use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::{Options, Stack};
use ackclock_tcp::startup::{fixed::FixedSpec, StartupSpec};
use ackclock_tcp::time::{Nanos, Time};
use std::fmt::Write as _;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Open {
    Connect,
    Listen,
    Established,
}

#[derive(Clone, Copy)]
pub(crate) enum Act {
    Hear(Segment),
    Write(u64),
    Read(u64),
    Close,
    Abort,
    End,
}

pub(crate) struct Script {
    pub(crate) stack: Stack,
    pub(crate) mss: u32,
    pub(crate) rwnd: u64,
    pub(crate) open: Open,
    pub(crate) by_hand: bool,
    pub(crate) lose: Vec<u64>,
    pub(crate) show: bool,
    /// Time, text as written, and event.
    pub(crate) lines: Vec<(Time, String, Act)>,
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

pub(crate) fn parse(text: &str) -> Result<Script, String> {
    let stack = Stack::named("newreno").ok_or("no such stack")?;
    let (mss, rwnd, open) = (1000, 20_000, Open::Established);
    let mut s = Script { stack, mss, rwnd, open, by_hand: false, lose: vec![], show: false, lines: vec![] };
    for (n, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if !line.is_empty() {
            s.line(line).map_err(|e| format!("line {}: {line}: {e}", n + 1))?;
        }
    }
    Ok(s)
}

fn number<T: std::str::FromStr>(words: &mut Words) -> Result<T, String> {
    let word = words.next().ok_or("a number is missing")?;
    word.parse().map_err(|_| format!("{word} is no number"))
}

impl Script {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if line.starts_with(|c: char| c.is_ascii_digit() || c == '+') {
            return self.act(line);
        }
        let mut w = line.split_whitespace().peekable();
        while let Some(key) = w.next() {
            match key {
                "stack" => {
                    let name = w.next().unwrap_or("");
                    self.stack = Stack::named(name).ok_or_else(|| format!("no stack {name}"))?;
                }
                "iw" => {
                    let initial_window_segs = number(&mut w)?;
                    self.stack.startup = StartupSpec::Fixed(FixedSpec { initial_window_segs, ssthresh_segs: None });
                }
                "mss" => self.mss = number(&mut w)?,
                "rwnd" => self.rwnd = number(&mut w)?,
                "maxburst" => self.stack.limits.maxburst_segs = Some(number(&mut w)?),
                "open" => self.open = if w.next() == Some("listen") { Open::Listen } else { Open::Connect },
                "by-hand" => self.by_hand = true,
                "show" => self.show = w.next() == Some("window"),
                "lose" => {
                    while w.peek().is_some_and(|x| x.parse::<u64>().is_ok()) {
                        self.lose.push(number(&mut w)?);
                    }
                }
                "options" => {
                    let given: Vec<&str> = w.by_ref().collect();
                    let has = |o: &str| given.contains(&o);
                    let (sack, dsack) = (has("sack") || has("dsack"), has("dsack"));
                    let (timestamps, window_scale) = (has("timestamps"), has("window-scale"));
                    self.stack.options = Options { sack, dsack, timestamps, window_scale, ..Options::default() };
                }
                "ack" => {
                    self.stack.ack = match w.next() {
                        Some("delayed") => AckSpec::Delayed { delay: Nanos::from_millis(number(&mut w)?) },
                        Some("heartbeat") => {
                            AckSpec::Heartbeat { interval: Nanos::from_millis(number(&mut w)?), phase: Nanos::ZERO }
                        }
                        Some("linux") => AckSpec::Linux(Default::default()),
                        _ => AckSpec::Every,
                    };
                }
                other => return Err(format!("{other} means nothing here")),
            }
        }
        Ok(())
    }

    fn act(&mut self, line: &str) -> Result<(), String> {
        let (when, what) = line.split_once(char::is_whitespace).ok_or("what happens is missing")?;
        let secs: f64 = when.trim_start_matches('+').parse().map_err(|_| "no time")?;
        let mut at = Time((secs * 1e9).round() as u64);
        if when.starts_with('+') {
            at.0 += self.lines.last().map_or(0, |l| l.0 .0);
        }
        let what = what.trim();
        let mut w = what.split_whitespace().peekable();
        let act = match w.next() {
            Some("write") => Act::Write(number(&mut w)?),
            Some("read") => Act::Read(number(&mut w)?),
            Some("close") => Act::Close,
            Some("abort") => Act::Abort,
            Some("end") => Act::End,
            Some("<") => Act::Hear(segment(what.trim_start_matches('<').trim())?),
            _ => return Err("write, read, close, abort, end or < expected".into()),
        };
        self.lines.push((at, what.to_owned(), act));
        Ok(())
    }
}

const FLAGS: [(char, u8); 7] = [
    ('S', Segment::SYN),
    ('F', Segment::FIN),
    ('R', Segment::RST),
    ('P', Segment::PSH),
    ('.', Segment::ACK),
    ('E', Segment::ECE),
    ('W', Segment::CWR),
];

fn range(word: &str, sign: char) -> Result<(u64, u64), String> {
    let (a, b) = word.split_once(sign).ok_or_else(|| format!("{word} is no range"))?;
    let n = |s: &str| s.parse().map_err(|_| format!("{word} is no range"));
    Ok((n(a)?, n(b)?))
}

fn segment(text: &str) -> Result<Segment, String> {
    let (head, options) = text.split_once('<').unwrap_or((text, ""));
    let mut w: Words = head.split_whitespace().peekable();
    let mut s = Segment { wnd: 20_000, ..Segment::EMPTY };
    for c in w.next().unwrap_or("").chars() {
        s.flags |= FLAGS.iter().find(|f| f.0 == c).ok_or_else(|| format!("no flag {c}"))?.1;
    }
    let (from, to) = range(w.next().unwrap_or(""), ':')?;
    (s.seq, s.len) = (Offset(from), (to - from) as u32);
    while let Some(key) = w.next() {
        match key {
            "ack" => s.ack = Offset(number(&mut w)?),
            "win" => s.wnd = number(&mut w)?,
            other => return Err(format!("{other} means nothing in a segment")),
        }
    }
    for option in options.trim_end_matches('>').split(',').map(str::trim).filter(|o| !o.is_empty()) {
        let mut w: Words = option.split_whitespace().peekable();
        match w.next().unwrap_or("") {
            "mss" => s.mss = number(&mut w)?,
            "wscale" => s.wscale = number(&mut w)?,
            "sack-permitted" => s.opts |= Segment::SACK_PERMITTED,
            "ts" => {
                s.opts |= Segment::TIMESTAMPS;
                (s.tsval, s.tsecr) = (number(&mut w)?, number(&mut w)?);
            }
            "sack" => {
                for block in w {
                    let (l, r) = range(block, '-')?;
                    s.push_sack(Offset(l), Offset(r));
                }
            }
            other => return Err(format!("no option {other}")),
        }
    }
    Ok(s)
}

/// A segment in the language of conversations.
pub(crate) fn show(s: &Segment) -> String {
    let mut t: String = FLAGS.iter().filter(|f| s.has(f.1)).map(|f| f.0).collect();
    let _ = write!(t, " {}:{}", s.seq, s.seq + u64::from(s.len));
    if s.has(Segment::ACK) {
        let _ = write!(t, " ack {}", s.ack);
    }
    let _ = write!(t, " win {}", s.wnd);
    let mut o = Vec::new();
    if s.mss != 0 {
        o.push(format!("mss {}", s.mss));
    }
    if s.wscale != Segment::NO_SCALE {
        o.push(format!("wscale {}", s.wscale));
    }
    if s.opts & Segment::SACK_PERMITTED != 0 {
        o.push("sack-permitted".into());
    }
    if s.opts & Segment::TIMESTAMPS != 0 {
        o.push(format!("ts {} {}", s.tsval, s.tsecr));
    }
    if s.blocks > 0 {
        let blocks: Vec<String> = s.sack_blocks().map(|b| format!("{}-{}", b.0, b.1)).collect();
        o.push(format!("sack {}", blocks.join(" ")));
    }
    if !o.is_empty() {
        let _ = write!(t, " <{}>", o.join(", "));
    }
    t
}
