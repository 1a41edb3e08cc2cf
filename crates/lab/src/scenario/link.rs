//! A link's two directions, and their queues.

use super::element;
use crate::error::ScenarioError;
use crate::reader::{Keys, Node};
use ackclock_sim::scenario::{DirectionSpec, LinkForm, QueueLimit, QueueSpec};
use ackclock_tcp::time::Nanos;

/// The keys of one direction.
pub(super) const DIRECTION: [&str; 5] = ["rate", "delay", "queue", "elements", "form"];

/// Both directions: alike, but for the keys that stand in `back`.
pub(super) fn directions(keys: &Keys<'_>) -> Result<(DirectionSpec, DirectionSpec), ScenarioError> {
    let forward = direction(keys, None)?;
    let back = match keys.get("back") {
        Some(node) => direction(&node.keys(&DIRECTION)?, Some(&forward))?,
        None => forward.clone(),
    };
    Ok((forward, back))
}

/// One direction; what `keys` do not say is as in `like`.
pub(super) fn direction(keys: &Keys<'_>, like: Option<&DirectionSpec>) -> Result<DirectionSpec, ScenarioError> {
    let rate = match (keys.get("rate"), like) {
        (None, Some(l)) => l.rate,
        _ => keys.need("rate", "a rate, as in \"5 Mbps\", or \"unlimited\"")?.rate()?,
    };
    let delay = match (keys.get("delay"), like) {
        (None, Some(l)) => l.delay,
        _ => delay(&keys.need("delay", "a time, as in \"50 ms\"")?)?,
    };
    let queue = match (keys.get("queue"), like) {
        (None, Some(l)) => l.queue,
        (None, None) => QueueSpec { limit: QueueLimit::Unlimited, limit_counts_service: false },
        (Some(q), _) => queue(&q)?,
    };
    let form = match (keys.get("form"), like) {
        (None, Some(l)) => l.form,
        (None, None) => LinkForm::Auto,
        (Some(f), _) => f.choice(&[("auto", LinkForm::Auto), ("queued", LinkForm::Queued)])?,
    };
    let mut spec = DirectionSpec { rate, delay, queue, elements: Vec::new(), form };
    spec.elements = match (keys.get("elements"), like) {
        (None, Some(l)) => l.elements.clone(),
        (None, None) => Vec::new(),
        (Some(list), _) => element::list(&list, &spec)?,
    };
    if let (false, Some(q)) = (element::waits(&spec), keys.get("queue")) {
        if queue.limit != QueueLimit::Unlimited {
            return Err(q.refuse_as("a limited queue on a link of unlimited rate", "a rate, since nothing waits here"));
        }
    }
    element::check_queue(keys, &spec)?;
    Ok(spec)
}

/// A propagation delay: at most an hour, far from the end of countable time.
fn delay(node: &Node<'_>) -> Result<Nanos, ScenarioError> {
    let n = node.nanos()?;
    if n > Nanos::from_secs(3600) {
        return Err(node.refuse("a delay of at most \"3600 s\""));
    }
    Ok(n)
}

/// `"65 packets"`, or a table with the limit and its convention.
fn queue(node: &Node<'_>) -> Result<QueueSpec, ScenarioError> {
    if !node.value.is_table() {
        return Ok(QueueSpec { limit: node.limit()?, limit_counts_service: false });
    }
    let keys = node.keys(&["limit", "limit_counts_service"])?;
    let limit = keys.need("limit", "\"65 packets\", a size as in \"64 KiB\", or \"unlimited\"")?.limit()?;
    let counts = match keys.get("limit_counts_service") {
        None => false,
        Some(n) => {
            let counts = n.flag()?;
            if counts && limit == QueueLimit::Unlimited {
                return Err(n.refuse_as("true for an unlimited queue", "false, or a limit"));
            }
            counts
        }
    };
    Ok(QueueSpec { limit, limit_counts_service: counts })
}
