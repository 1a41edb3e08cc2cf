//! The meaning of the keys of a link's directions. Keys missing in `back` are as in the forward direction, and keys missing in a
//! path of a split are as in its link.

use super::outside::{self, Workshop};
use super::table;
use super::write::object;
use crate::error::ScenarioError;
use crate::file::Direction;
use crate::form::{blame, made};
use crate::reader::Node;
use ackclock_sim::scenario::{DirectionSpec, ElementSpec, QueueLimit, QueueSpec};
use ackclock_tcp::time::Nanos;
use serde_json::{Map, Value};

/// The longest propagation delay, far below the largest time.
const LONGEST_DELAY: Nanos = Nanos::from_secs(3600);

/// Reads both directions, which are equal except for the keys in `back`.
pub(super) fn directions(
    node: &Node<'_>,
    forward: Direction,
    back: Option<Direction>,
    workshop: Option<&dyn Workshop>,
) -> Result<(DirectionSpec, DirectionSpec), ScenarioError> {
    let forward = direction(node, forward.0, QueueSpec::default(), workshop)?;
    let back = match (node.get("back"), back) {
        (Some(node), Some(Direction(keys))) => {
            direction(&node, beside(object(&forward), keys), forward.queue, workshop)?
        }
        _ => forward.clone(),
    };
    Ok((forward, back))
}

/// `all`, with the values of `keys` where both have a key.
fn beside(mut all: Map<String, Value>, keys: Map<String, Value>) -> Map<String, Value> {
    all.extend(keys);
    all
}

/// Reads one direction from its keys. Keys that are not in `node` come from elsewhere, the queue from `like`.
fn direction(
    node: &Node<'_>,
    mut keys: Map<String, Value>,
    like: QueueSpec,
    workshop: Option<&dyn Workshop>,
) -> Result<DirectionSpec, ScenarioError> {
    let elements = keys.remove("elements").unwrap_or_default();
    let mut spec: DirectionSpec = made(keys.into()).map_err(|fault| blame(node, fault))?;
    if spec.delay > LONGEST_DELAY {
        return Err(node.refuse_in("delay", format!("a delay of at most \"{LONGEST_DELAY}\"")));
    }
    if spec.queue.limit_counts_service && spec.queue.limit == QueueLimit::Unlimited {
        let queue = node.get("queue").unwrap_or_else(|| node.clone());
        return Err(queue.refuse_key("limit_counts_service", "true for an unlimited queue", "false, or a limit"));
    }
    let (nodes, list) = (node.list("elements"), node.get("elements").unwrap_or_else(|| node.clone()));
    for (i, keys) in elements.as_array().into_iter().flatten().enumerate() {
        spec.elements.push(element(nodes.get(i).unwrap_or(&list), keys.clone(), &spec, workshop)?);
    }
    if let (false, Some(queue)) = (spec.waits(), node.get("queue"))
        && spec.queue.limit != QueueLimit::Unlimited
        && spec.queue != like
    {
        let found = "a limited queue on a link of unlimited rate";
        return Err(queue.refuse_as(found, "a limited rate, since no packet waits at an unlimited one"));
    }
    match spec.fault() {
        None => Ok(spec),
        Some(fault) => Err(blame(node, fault)),
    }
}

/// One element. Keys that are missing in its paths, if it has any, are as in `own`, its direction.
fn element(
    node: &Node<'_>,
    mut keys: Value,
    own: &DirectionSpec,
    workshop: Option<&dyn Workshop>,
) -> Result<ElementSpec, ScenarioError> {
    if outside::is_outside(&keys) {
        return outside::element(node, keys, workshop);
    }
    let own = DirectionSpec { elements: Vec::new(), ..own.clone() };
    let paths = keys.get_mut("paths").and_then(Value::as_array_mut);
    for (path, at) in paths.into_iter().flatten().zip(node.list("paths")) {
        let Value::Object(keys) = path else { continue };
        let mut way = beside(object(&own), std::mem::take(keys));
        let weight = way.remove("weight");
        *keys = object(direction(&at, way, own.queue, workshop)?);
        keys.extend(weight.map(|weight| ("weight".to_owned(), weight)));
    }
    let (keys, file) = table::beside(node, keys)?;
    made(keys).map_err(|fault| table::blame(node, file.as_deref(), fault))
}
