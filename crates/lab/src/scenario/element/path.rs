//! Elements that make a path reorder or change with time.

use crate::error::ScenarioError;
use crate::reader::Node;
use ackclock_sim::scenario::{BelowZero, Draws, ElementSpec, RedrawnDelaySpec};

/// `{ kind = "redrawn-delay", mean = "200 ms", deviation = "66.7 ms", every = "50 ms" }`
pub(super) fn redrawn_delay(node: &Node<'_>) -> Result<ElementSpec, ScenarioError> {
    let keys = node.keys(&["kind", "mean", "deviation", "every", "below_zero", "overtaking", "draws"])?;
    let mean = keys.need("mean", "a time, as in \"200 ms\"")?.nanos_above_zero()?;
    let deviation = keys.need("deviation", "a time, as in \"66.7 ms\"")?.nanos()?;
    let every = keys.need("every", "a time, as in \"50 ms\"")?.nanos_above_zero()?;
    let below_zero = [("again", BelowZero::Again), ("zero", BelowZero::Zero)];
    let draws = [("own", Draws::Own), ("link", Draws::Link)];
    Ok(ElementSpec::RedrawnDelay(RedrawnDelaySpec {
        mean,
        deviation,
        every,
        below_zero: keys.get("below_zero").map_or(Ok(BelowZero::Again), |n| n.choice(&below_zero))?,
        overtaking: keys.get("overtaking").map_or(Ok(true), |n| n.flag())?,
        draws: keys.get("draws").map_or(Ok(Draws::Own), |n| n.choice(&draws))?,
    }))
}
