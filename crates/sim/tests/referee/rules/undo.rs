//! An undo gives back no more than there was, once for an episode, and not for one that a timeout or a mark made void.

use super::{unless, Rule};
use crate::book::{Ack, Book};
use crate::judge::Verdict;
use ackclock_tcp::event::{Event, Phase, Slot, Window};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::undo::UndoSpec;
use std::collections::BTreeMap;

#[derive(Clone, Copy)]
struct Episode {
    prior: Window,
    void: bool,
}

#[derive(Default)]
struct Undo {
    /// Whether an interrupted episode's window counts as the one before (Linux).
    chains: bool,
    /// Whether the window itself may come back.
    window_too: bool,
    episodes: BTreeMap<u32, Episode>,
    given: Option<(Window, Window)>,
    newest: u32,
}

pub(super) fn rule(stack: &Stack) -> Option<Box<dyn Rule>> {
    let (chains, window_too) = match &stack.undo {
        UndoSpec::Restore(s) => (s.before_interrupted, true),
        UndoSpec::SlowStartBack(s) => (false, s.restore_cwnd),
        UndoSpec::EifelResponse(_) => (false, true),
        UndoSpec::Nothing => (false, false),
        UndoSpec::Custom(_) => return None,
    };
    Some(Box::new(Undo { chains, window_too, ..Undo::default() }))
}

impl Undo {
    fn meet(&mut self, id: u32, prior: Option<Window>, running: bool) {
        let Some(mut prior) = prior.filter(|_| id > self.newest) else { return };
        if let Some(older) = self.episodes.get(&self.newest).filter(|_| running && self.chains) {
            let older = older.prior;
            prior = Window { cwnd: prior.cwnd.max(older.cwnd), ssthresh: prior.ssthresh.max(older.ssthresh) };
        }
        self.newest = id;
        self.episodes.insert(id, Episode { prior, void: false });
    }
}

impl Rule for Undo {
    fn name(&self) -> &'static str {
        "undo"
    }
    fn source(&self) -> &'static str {
        "RFC 4015 §3.1; Blanton & Allman 2002 §5: return to the state before the needless retransmission, and not beyond"
    }
    fn ack(&mut self, book: &Book, ack: &Ack) -> Verdict {
        if ack.ece
            && let Some(ep) = self.episodes.get_mut(&book.episode)
        {
            ep.void = true;
        }
        Ok(())
    }
    fn event(&mut self, book: &Book, e: &Event, _: Option<&Ack>) -> Verdict {
        let running = matches!(book.phase, Phase::Recovery | Phase::Loss);
        match *e {
            Event::Window { by: Slot::Undo, from, to, .. } => self.given = Some((from, to)),
            Event::Window { from, episode, .. } => self.meet(episode, Some(from), running),
            Event::Timeout { episode, .. } => {
                self.meet(episode, book.w, running);
                let interrupted = self.episodes.get_mut(&(episode - 1)).filter(|_| running);
                if let Some(ep) = interrupted {
                    ep.void = true;
                }
            }
            Event::Phase { episode, .. } => self.meet(episode, book.w, running),
            Event::Mistake { episode, undone, .. } => return self.mistake(book, episode, undone),
            _ => {}
        }
        Ok(())
    }
}

impl Undo {
    fn mistake(&mut self, book: &Book, id: u32, undone: bool) -> Verdict {
        let Some((from, to)) = self.given.take() else {
            return unless(!undone, || "an undo is reported, and the window did not change".into());
        };
        let Some(ep) = self.episodes.get_mut(&id) else { return Ok(()) };
        unless(!ep.void, || format!("episode {id} is undone a second time, or void"))?;
        ep.void = true;
        let prior = ep.prior;
        let cwnd = if self.window_too { from.cwnd.max(prior.cwnd) } else { from.cwnd }.max(book.mss as f64);
        unless(to.cwnd <= cwnd, || format!("cwnd {} after an undo, {} before the episode", to.cwnd, prior.cwnd))?;
        let most = from.ssthresh.max(prior.ssthresh).max(prior.cwnd);
        unless(to.ssthresh <= most, || format!("ssthresh {} after an undo, at most {most} before", to.ssthresh))?;
        unless(to.ssthresh >= from.ssthresh, || format!("an undo lowers ssthresh to {}", to.ssthresh))
    }
}
