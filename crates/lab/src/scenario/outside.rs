//! Algorithms from outside the engine: `{ kind = "python", source = … }` in a slot. They are collected while parameters are set, built by the
//! caller's factory, and put into their slots at the end.

use crate::error::ScenarioError;
use crate::form::{blame, made};
use crate::reader::Node;
use ackclock_sim::scenario::custom::CustomSpec;
use ackclock_sim::scenario::{self, DirectionSpec, ElementSpec, Only};
use ackclock_tcp::congestion::{Congestion, CongestionSpec};
use ackclock_tcp::detect::threshold::{DupThresh, ThresholdSpec};
use ackclock_tcp::detect::{dup_ack::DupAckSpec, DetectSpec, Detector};
use ackclock_tcp::disorder::{Disorder, DisorderSpec};
use ackclock_tcp::recovery::{Recovery, RecoverySpec};
use ackclock_tcp::rto::{Rto, RtoSpec};
use ackclock_tcp::spurious::{Spurious, SpuriousSpec};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::{Startup, StartupSpec};
use ackclock_tcp::timeout::{Timeout, TimeoutSpec};
use ackclock_tcp::undo::{Undo, UndoSpec};
use ackclock_tcp::Factory;
use serde_json::{json, Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The kind of an algorithm or a path element from outside.
const KIND: &str = "python";
/// The slot name with which [`Workshop::make`] is called for a path element.
pub const ELEMENT: &str = "element";

pub use crate::file::set::SLOTS;

/// Makes the algorithms and path elements from outside that a scenario names.
pub trait Workshop: fmt::Debug + Send + Sync {
    /// Makes the algorithm that `table` (its `kind` and its other keys) describes for the slot at the path `slot`, or the
    /// path element if `slot` is [`ELEMENT`].
    ///
    /// # Errors The reason why it cannot be made.
    fn make(&self, slot: &str, table: &Map<String, Value>) -> Result<Custom, Refused>;
}

/// Why an algorithm from outside was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The key of its table that caused the fault, if one did.
    pub key: Option<String>,
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
    /// The value that was probably meant.
    pub hint: Option<String>,
}

/// An algorithm from outside, for one of the [`SLOTS`].
#[derive(Debug)]
#[expect(missing_docs, reason = "each variant is the slot of its name")]
pub enum Custom {
    Congestion(Factory<dyn Congestion>),
    Detect(Factory<dyn Detector>),
    Threshold(Factory<dyn DupThresh>),
    Disorder(Factory<dyn Disorder>),
    Recovery(Factory<dyn Recovery>),
    Rto(Factory<dyn Rto>),
    Spurious(Factory<dyn Spurious>),
    Startup(Factory<dyn Startup>),
    Timeout(Factory<dyn Timeout>),
    Undo(Factory<dyn Undo>),
    /// A path element. Its place, its packets and its table are filled in later.
    Element(CustomSpec),
}

/// The tables of a stack's algorithms from outside, as written, by the paths of their slots.
pub type Tables = BTreeMap<&'static str, Map<String, Value>>;

/// The place where a parameter was set.
#[derive(Clone)]
pub(super) enum Place<'a> {
    /// In the file.
    File(Node<'a>),
    /// In an option: its path and its text.
    Option(&'a str, &'a str),
    /// After the chosen stack's name: its path and its text.
    Chosen(&'a str, &'a str),
}

impl Place<'_> {
    /// A refusal of this value; the message has the written value, followed by `with`.
    pub(super) fn refuse(&self, found: Option<String>, allowed: String, with: &str) -> ScenarioError {
        match self {
            Place::File(node) => node.refuse_as(format!("{}{with}", found.unwrap_or_else(|| node.written())), allowed),
            Place::Option(path, text) => {
                let found = found.unwrap_or_else(|| (*text).to_owned());
                ScenarioError::option(&format!("--set {path}"), format!("{found}{with}"), allowed)
            }
            Place::Chosen(path, text) => {
                let found = found.unwrap_or_else(|| (*text).to_owned());
                ScenarioError::option("--stack", format!("{path} = {found}{with}"), allowed)
            }
        }
    }

    /// The place of a key in the table here, or this place.
    fn of(&self, key: &str) -> Self {
        let Place::File(node) = self else { return self.clone() };
        let entries = node.entries(|| "").unwrap_or_default();
        entries.into_iter().find(|(k, _)| k == key).map_or_else(|| self.clone(), |(_, n)| Place::File(n))
    }
}

/// The requests so far.
#[derive(Default)]
pub(super) struct Outside<'a> {
    asked: BTreeMap<&'static str, Asked<'a>>,
}

/// One algorithm: its table, and the places where it and its parts were set.
struct Asked<'a> {
    table: Map<String, Value>,
    table_at: Place<'a>,
    later: BTreeMap<String, Place<'a>>,
}

impl<'a> Outside<'a> {
    /// Takes the parameter if it concerns an algorithm from outside; returns the rest, or all of it otherwise.
    pub(super) fn take(&mut self, path: &str, mut value: Value, at: &Place<'a>) -> Option<Value> {
        if let Some(slot) = SLOTS.into_iter().find(|s| *s == path) {
            let ours = kind(&value) == Some(KIND);
            if ours || !(slot == "detect.threshold" && self.is_parameter("detect", path)) {
                return self.replace(slot, ours, value, at);
            }
        }
        let slot = SLOTS.into_iter().rev().find(|s| self.is_parameter(s, path));
        let of_kind = |s: &&str| path.strip_suffix(".kind") == Some(*s);
        let Some(slot) = slot.or_else(|| SLOTS.into_iter().find(of_kind)) else { return Some(value) };
        let key = &path[slot.len() + 1..];
        if key == "kind" {
            let ours = value == KIND;
            let known = self.asked.contains_key(slot);
            if ours || known {
                self.replace(slot, ours, json!({ "kind": value.clone() }), at);
            }
            return (!ours).then_some(value);
        }
        if let Some(asked) = self.asked.get_mut(slot) {
            asked.table.insert(key.to_owned(), value.take());
            asked.later.insert(key.to_owned(), at.clone());
        }
        None
    }

    /// Whether `path` is directly in the table of the algorithm that was requested for `slot`.
    fn is_parameter(&self, slot: &str, path: &str) -> bool {
        let below = path.strip_prefix(slot).and_then(|rest| rest.strip_prefix('.'));
        self.asked.contains_key(slot) && below.is_some()
    }

    /// A whole slot is set.
    fn replace(&mut self, slot: &'static str, ours: bool, mut value: Value, at: &Place<'a>) -> Option<Value> {
        self.asked.remove(slot);
        if slot == "detect" {
            self.asked.remove("detect.threshold");
        }
        if ours {
            let table = match value {
                Value::Object(table) => table,
                name => Map::from_iter([("kind".to_owned(), name)]),
            };
            self.asked.insert(slot, Asked { table, table_at: at.clone(), later: BTreeMap::new() });
            return None;
        }
        // A built-in detector whose table has a threshold from outside.
        if slot == "detect" && value.get("threshold").and_then(kind) == Some(KIND) {
            let threshold = value.as_object_mut().and_then(|t| t.remove("threshold")).unwrap_or_default();
            self.replace("detect.threshold", true, threshold, &at.of("threshold"));
        }
        Some(value)
    }

    /// Makes the requested algorithms and puts them into the stack. Returns the tables, as written.
    pub(super) fn put(
        self,
        stack: &mut Stack,
        workshop: Option<&dyn Workshop>,
        with: &str,
    ) -> Result<Tables, ScenarioError> {
        let mut tables = Tables::new();
        for (slot, asked) in self.asked {
            let made = workshop.map_or_else(|| Err(nobody()), |w| w.make(slot, &asked.table));
            let put = made.and_then(|custom| custom.put(stack));
            put.map_err(|r| {
                let at = match &r.key {
                    Some(key) => asked.later.get(key).cloned().unwrap_or_else(|| asked.table_at.of(key)),
                    None => asked.table_at.clone(),
                };
                at.refuse(Some(r.found), r.allowed, with).with_hint(r.hint)
            })?;
            tables.insert(slot, asked.table);
        }
        Ok(tables)
    }
}

/// The refusal if there is no workshop for algorithms from outside.
fn nobody() -> Refused {
    Refused {
        key: None,
        found: format!("kind \"{KIND}\""),
        allowed: "a built-in kind, since Python classes run only under Python".to_owned(),
        hint: None,
    }
}

/// Whether the keys describe a path element from outside.
pub(super) fn is_outside(keys: &Value) -> bool {
    kind(keys) == Some(KIND)
}

/// Makes the path element from outside that the keys describe.
pub(super) fn element(
    node: &Node<'_>,
    keys: Value,
    workshop: Option<&dyn Workshop>,
) -> Result<ElementSpec, ScenarioError> {
    let Value::Object(mut table) = keys else { return Err(node.refuse("a table")) };
    let mut asked = table.clone();
    table.shift_remove("kind");
    let at = asked.remove("at").map_or(Ok(scenario::Place::default()), made).map_err(|fault| blame(node, fault))?;
    let only = asked.remove("only").map_or(Ok(Only::default()), made).map_err(|fault| blame(node, fault))?;
    let made = workshop.map_or_else(|| Err(nobody()), |w| w.make(ELEMENT, &asked));
    match made {
        Ok(Custom::Element(spec)) => Ok(ElementSpec::Custom(CustomSpec { at, only, table, ..spec })),
        Ok(_) => Err(node.refuse_as("an algorithm of a stack", "a path element")),
        Err(Refused { key, found, allowed, hint }) => {
            let refusal = match key {
                Some(key) => node.refuse_key(&key, found, allowed),
                None => node.refuse_as(found, allowed),
            };
            Err(refusal.with_hint(hint))
        }
    }
}

/// Whether a direction, or one of its paths, has a path element from outside.
pub(super) fn stands_on(direction: &DirectionSpec) -> bool {
    let custom = |e: &ElementSpec| matches!(e, ElementSpec::Custom(_));
    let paths = direction.split().into_iter().flat_map(|split| &split.paths);
    direction.elements.iter().any(custom) || paths.into_iter().any(|path| stands_on(&path.way))
}

/// Describes the path elements from outside by their code, also those on the paths of splits.
pub(super) fn name_by_code(direction: &mut DirectionSpec) {
    for element in &mut direction.elements {
        if let ElementSpec::Custom(spec) = element {
            *spec = spec.clone().by_code();
        } else if let ElementSpec::Split(split) = element {
            split.paths.iter_mut().for_each(|path| name_by_code(&mut path.way));
        }
    }
}

fn kind(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("kind")?.as_str())
}

impl Custom {
    /// Puts it into its slot.
    fn put(self, stack: &mut Stack) -> Result<(), Refused> {
        match self {
            Custom::Element(_) => {
                let (found, allowed) = ("a path element".to_owned(), "an algorithm of a stack".to_owned());
                return Err(Refused { key: None, found, allowed, hint: None });
            }
            Custom::Congestion(f) => stack.congestion = CongestionSpec::Custom(f),
            Custom::Detect(f) => stack.detect = DetectSpec::Custom(f),
            Custom::Disorder(f) => stack.disorder = DisorderSpec::Custom(f),
            Custom::Recovery(f) => stack.recovery = RecoverySpec::Custom(f),
            Custom::Rto(f) => stack.rto = RtoSpec::Custom(f),
            Custom::Spurious(f) => stack.spurious = SpuriousSpec::Custom(f),
            Custom::Startup(f) => stack.startup = StartupSpec::Custom(f),
            Custom::Timeout(f) => stack.timeout = TimeoutSpec::Custom(f),
            Custom::Undo(f) => stack.undo = UndoSpec::Custom(f),
            Custom::Threshold(f) => match stack.detect.threshold_mut() {
                Some(threshold) => *threshold = ThresholdSpec::Custom(f),
                None => {
                    return Err(Refused {
                        key: None,
                        found: "a threshold rule for a detector without a threshold".to_owned(),
                        allowed: "also detect = \"dup-ack\" or detect = \"sack\"".to_owned(),
                        hint: None,
                    })
                }
            },
        }
        Ok(())
    }
}

/// The stack's parameters as JSON, with the tables of the algorithms from outside in their slots.
pub(super) fn written(stack: &Stack, tables: &Tables) -> serde_json::Result<Value> {
    let mut plain = stack.clone();
    for &slot in tables.keys() {
        match (slot, &mut plain.detect) {
            ("congestion", _) => plain.congestion = CongestionSpec::default(),
            ("detect", _) => plain.detect = DetectSpec::DupAck(DupAckSpec::default()),
            ("detect.threshold", DetectSpec::DupAck(s)) => s.threshold = ThresholdSpec::default(),
            ("detect.threshold", DetectSpec::Sack(s)) => s.threshold = ThresholdSpec::default(),
            ("disorder", _) => plain.disorder = DisorderSpec::default(),
            ("recovery", _) => plain.recovery = RecoverySpec::Tahoe,
            ("rto", _) => plain.rto = RtoSpec::default(),
            ("spurious", _) => plain.spurious = SpuriousSpec::default(),
            ("startup", _) => plain.startup = StartupSpec::default(),
            ("timeout", _) => plain.timeout = TimeoutSpec::default(),
            ("undo", _) => plain.undo = UndoSpec::default(),
            _ => {}
        }
    }
    let mut json = serde_json::to_value(plain)?;
    for (slot, table) in tables {
        let at = slot.split('.').try_fold(&mut json, |v, step| v.get_mut(step));
        if let Some(at) = at {
            *at = Value::Object(table.clone());
        }
    }
    Ok(json)
}
