//! The window opens by ACKs of new data alone, and by no more than its source allows.

use super::{unless, Rule};
use crate::book::{Ack, Book};
use crate::judge::Verdict;
use ackclock_tcp::congestion::CongestionSpec;
use ackclock_tcp::event::{Event, Phase, Slot, Window};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::StartupSpec;

enum Most {
    /// A segment per ACK, and SMSS² / cwnd above ssthresh, exactly (RFC 5681 §3.1).
    Exactly,
    /// This many segments per ACK.
    Segments(f64),
    /// A segment per ACK, or up to W_est, which gains at most a segment for each window acknowledged (RFC 9438 §4.3).
    Cubic,
    /// What the ACK acknowledges, or a segment.
    Bytes,
}

struct Growth {
    most: Most,
    /// An ACK that only SACKs may open the window, too (Linux).
    by_sack: bool,
    /// The window opened on this ACK, which acknowledges nothing.
    by_sack_alone: bool,
    /// The window, phase and episode when the ACK arrived.
    before: Option<(Window, Phase, u32)>,
    /// Slow start is not restrained.
    plain: bool,
    /// Something else changed the window on this ACK.
    disturbed: bool,
    /// The largest value that W_est may have, bytes, and the episode since which it counts.
    estimate: Option<f64>,
    episode: u32,
    /// The newest episode when an undo was last reported.
    undone: Option<u32>,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let (most, by_sack) = match &stack.congestion {
        CongestionSpec::Aimd(s) if s.abc_limit_segs.is_none() && !s.only_if_limited => (Most::Exactly, false),
        CongestionSpec::Cubic(_) => (Most::Cubic, false),
        CongestionSpec::Cubic2008(_) => (Most::Segments(1.0), false),
        // One in slow start, and one for the round trip that ends.
        CongestionSpec::Vegas(_) => (Most::Segments(2.0), false),
        CongestionSpec::LinuxCubic(_) | CongestionSpec::LinuxReno => (Most::Bytes, true),
        CongestionSpec::Quic(_) => (Most::Bytes, false),
        _ => return None,
    };
    let plain = matches!(stack.startup, StartupSpec::Fixed(_));
    Some(Box::new(Growth {
        most,
        by_sack,
        by_sack_alone: false,
        before: None,
        plain,
        disturbed: false,
        estimate: None,
        episode: 0,
        undone: None,
    }))
}

impl Rule for Growth {
    fn name(&self) -> &'static str {
        "growth"
    }
    fn source(&self) -> &'static str {
        "RFC 5681 §3.1: at most SMSS for each ACK of new data, eq. 3 above ssthresh; RFC 9438 §4.3, §4.4; RFC 9002 §7.3"
    }
    fn ack(&mut self, book: &Book, ack: &Ack) -> Verdict {
        let open = book.w.filter(|w| w.cwnd >= w.ssthresh && book.phase != Phase::Recovery);
        self.estimate = open
            .filter(|_| self.episode == book.episode)
            .map(|w| self.estimate.unwrap_or(w.cwnd).max(w.cwnd) + book.mss as f64 * ack.acked as f64 / w.cwnd);
        self.episode = book.episode;
        self.before = book.w.map(|w| (w, book.phase, book.episode));
        self.disturbed = false;
        Ok(())
    }
    fn event(&mut self, book: &Book, e: &Event, ack: Option<&Ack>) -> Verdict {
        if matches!(e, Event::Mistake { .. }) {
            (self.disturbed, self.undone) = (true, Some(book.episode));
        }
        let Event::Window { by: Slot::Congestion, from, to, episode } = *e else { return Ok(()) };
        // A probe that repaired a loss cuts the window without an episode (RFC 8985 §7.4.2).
        self.disturbed |= to.cwnd < from.cwnd;
        if to.cwnd <= from.cwnd || episode > book.episode {
            return Ok(());
        }
        let Some(ack) = ack else { return Err("the window opens without an ACK".into()) };
        let news = ack.acked > 0 || (self.by_sack && ack.delivered > 0);
        self.by_sack_alone = ack.acked == 0;
        unless(news && !ack.ece, || "the window opens on an ACK without new data, or with an echo".into())?;
        unless(book.phase != Phase::Recovery, || "the window opens in a fast recovery".into())?;
        let (mss, slow) = (book.mss as f64, from.cwnd < from.ssthresh);
        let most = match self.most {
            Most::Exactly if !slow => mss * mss / from.cwnd,
            Most::Exactly => mss,
            Most::Segments(n) => n * mss,
            // An undo brings back a W_est that only the sender knows (RFC 9438 §4.9.2).
            Most::Cubic if self.undone == Some(book.episode) => f64::INFINITY,
            Most::Cubic => mss.max(self.estimate.map_or(0.0, |est| est - from.cwnd)),
            Most::Bytes => mss.max(ack.delivered.max(ack.acked) as f64 + mss),
        };
        let by = to.cwnd - from.cwnd;
        unless(by <= most + 1e-6, || format!("cwnd {} opens by {by}, at most {most} is allowed", from.cwnd))
    }
    fn after(&mut self, book: &Book, ack: &Ack) -> Verdict {
        // Linux, tcp_may_raise_cwnd. The threshold may change on this ACK, and is reported after the window.
        let wide = book.threshold.is_none_or(|segments| segments > 3);
        let narrow = std::mem::take(&mut self.by_sack_alone) && !wide;
        unless(!narrow, || format!("the window opens by SACKed data with a threshold of {:?}", book.threshold))?;
        let (Most::Exactly, true, Some((w, phase, episode))) = (&self.most, self.plain, self.before.take()) else {
            return Ok(());
        };
        let quiet = phase == Phase::Open && book.phase == Phase::Open && episode == book.episode && !self.disturbed;
        let (true, Some(now)) = (quiet && ack.acked > 0 && !ack.ece, book.w) else { return Ok(()) };
        let mss = book.mss as f64;
        let want = w.cwnd + if w.cwnd < w.ssthresh { mss } else { mss * mss / w.cwnd };
        unless((now.cwnd - want).abs() < 1e-6, || format!("cwnd goes from {} to {}, not to {want}", w.cwnd, now.cwnd))
    }
}
