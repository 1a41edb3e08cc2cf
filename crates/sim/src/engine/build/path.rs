//! Lays out the elements that make a path reorder or change with time.

use super::check::{refuse, short};
use super::Parts;
use crate::element::link::Port;
use crate::element::queued_link::Delays;
use crate::element::redrawn_delay::RedrawnDelay;
use crate::error::Impossible;
use crate::rng::Stream;
use crate::scenario::{DirectionSpec, Draws, ElementSpec, RedrawnDelaySpec};

/// Whether packets may arrive closer together than the link's transmitter sent them, or in another order.
pub(super) fn bunches(e: &ElementSpec) -> bool {
    match e {
        ElementSpec::RedrawnDelay(_) => true,
        ElementSpec::Swap { .. } | ElementSpec::Bernoulli { .. } | ElementSpec::Script { .. } => false,
    }
}

/// Checks an element of this module; others are always good.
pub(super) fn check(what: &str, _: &DirectionSpec, e: &ElementSpec) -> Result<(), Impossible> {
    match e {
        ElementSpec::RedrawnDelay(s) => redrawn_delay(&format!("{what}: redrawn delay"), s),
        _ => Ok(()),
    }
}

fn redrawn_delay(what: &str, s: &RedrawnDelaySpec) -> Result<(), Impossible> {
    for (name, time) in [("mean", s.mean), ("every", s.every)] {
        if time.0 == 0 {
            return refuse(&format!("{what}: {name}"), time, "at least 1 ns");
        }
    }
    for (name, time) in [("mean", s.mean), ("deviation", s.deviation), ("every", s.every)] {
        short(&format!("{what}: {name}"), time)?;
    }
    Ok(())
}

impl Parts<'_> {
    /// Element number `i` of direction `d`, whose luck is called `name`, if it belongs to this module.
    pub(super) fn path_element(&mut self, d: &DirectionSpec, i: usize, name: &str, port: &mut Port) {
        let e = &d.elements[i];
        let kind = std::mem::discriminant(e);
        let nth = d.elements[..i].iter().filter(|o| std::mem::discriminant(*o) == kind).count();
        let luck = |name: &str, what| Stream::new(self.seed, &format!("{name}/{what}.{nth}"));
        let Some(queue) = port.queue.as_mut() else { return };
        match e {
            ElementSpec::RedrawnDelay(s) => {
                let luck = match s.draws {
                    Draws::Own => luck(name, "redrawn-delay"),
                    Draws::Link => luck(&self.forward, "redrawn-delay/link"),
                };
                queue.add_delay(Delays::Redrawn(RedrawnDelay::new(s, luck)));
            }
            ElementSpec::Swap { .. } | ElementSpec::Bernoulli { .. } | ElementSpec::Script { .. } => {}
        }
    }
}
