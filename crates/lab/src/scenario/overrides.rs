//! The stack of a flow, and its parameters that a file or a command line sets by path.

use super::assign::{assign, Refusal};
use super::chosen::Chosen;
use super::outside::{Outside, Place, Tables, Workshop};
use super::MOST_SEEDS;
use crate::error::{listed, ScenarioError};
use crate::reader::{json, Node, Source};
use ackclock_tcp::stack::{Options, Stack};
use serde_json::Value;
use std::sync::Arc;
use toml::de::DeValue;

/// The seeds that a command line requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedSeeds {
    /// This many, counted up from the first.
    Count(u64),
    /// The chosen values, in this order.
    Listed(Vec<u64>),
}

/// The changes of a command line to a scenario.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The stack of every flow, with its own parameters after commas, which override all others: `rack-tlp,rto.min=200 ms`.
    pub stack: Option<String>,
    /// Parameters of every flow's stack, by path (`rto.tick`), as written; they override the file's.
    pub set: Vec<(String, String)>,
    /// The first seed; without `seeds`, the only seed.
    pub seed: Option<u64>,
    /// Which seeds.
    pub seeds: Option<AskedSeeds>,
    /// Makes the algorithms from outside that the scenario names. Default: they are refused.
    pub workshop: Option<Arc<dyn Workshop>>,
}

impl Overrides {
    /// The seeds to run, given that the file requests `file`.
    pub(super) fn seeds(&self, file: Vec<u64>) -> Result<Vec<u64>, ScenarioError> {
        let first = self.seed.or_else(|| file.first().copied()).unwrap_or(1);
        let count = match (&self.seeds, self.seed) {
            (None, None) => return Ok(file),
            (None, Some(_)) => 1,
            (Some(AskedSeeds::Count(count)), _) => *count,
            (Some(AskedSeeds::Listed(seeds)), _) => return self.listed(seeds),
        };
        let refuse = |allowed: String| ScenarioError::option("--seeds", count.to_string(), allowed);
        if !(1..=MOST_SEEDS).contains(&count) {
            return Err(refuse(format!("a whole number from 1 to {MOST_SEEDS}")));
        }
        let last = first.checked_add(count - 1).filter(|last| count == 1 || *last <= i64::MAX as u64);
        let last = last.ok_or_else(|| refuse(format!("seeds up to {} (the first is {first})", i64::MAX)))?;
        Ok((first..=last).collect())
    }

    /// Checks listed seeds: each occurs once, and `seed` is not given as well.
    fn listed(&self, seeds: &[u64]) -> Result<Vec<u64>, ScenarioError> {
        let refuse = |found: String, allowed: &str| Err(ScenarioError::option("--seeds", found, allowed));
        if let Some(seed) = self.seed {
            return refuse(format!("a list together with --seed {seed}"), "one of them");
        }
        if !(1..=MOST_SEEDS).contains(&(seeds.len() as u64)) {
            return refuse(format!("{} seeds", seeds.len()), &format!("1 to {MOST_SEEDS}"));
        }
        let mut sorted = seeds.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|w| w[0] == w[1]) {
            return refuse(format!("{} twice", twice[0]), "each seed once");
        }
        if sorted.last().is_some_and(|&last| last > i64::MAX as u64) {
            return refuse(format!("{}", sorted[sorted.len() - 1]), &format!("seeds up to {}", i64::MAX));
        }
        Ok(seeds.to_vec())
    }
}

/// The stack of one flow.
pub(super) struct Made {
    pub(super) stack: Stack,
    /// The tables of its algorithms from outside.
    pub(super) tables: Tables,
    /// Parameters that the file sets for its own stack and the chosen stack does not have.
    pub(super) unused: Vec<String>,
}

/// The stack of one flow, whose table names `profile`: that profile or the chosen one, then `[flow.set]`, then the command line's
/// parameters, then those of the chosen stack alone.
pub(super) fn stack(node: &Node<'_>, profile: &str, overrides: &Overrides) -> Result<Made, ScenarioError> {
    let named = node.get("stack").unwrap_or_else(|| node.clone());
    let of_file = Stack::named(profile).ok_or_else(|| named.refuse(allowed(profile)))?;
    let chosen = overrides.stack.as_ref().map(|text| Chosen::read(text, allowed)).transpose()?;
    let (mut stack, own) = match chosen {
        None => (of_file.clone(), Vec::new()),
        Some(Chosen { stack, set }) => (stack, set),
    };
    let (mut set, has_sack) = (parameters_set(node, overrides)?, stack.options.sack);
    set.extend(own.into_iter().map(|(path, text)| (path.to_owned(), from_option(text), Place::Chosen(path, text))));
    // Of several compared stacks, one may lack a parameter: the message names that stack.
    let with = overrides.stack.as_ref().map_or_else(String::new, |name| format!(" with stack \"{name}\""));
    let (mut outside, mut unused) = (Outside::default(), Vec::new());
    for (path, value, at) in &set {
        let Some(value) = outside.take(path, value.clone(), at) else { continue };
        match assign(&mut stack, path, value) {
            Ok(()) => {}
            // A file's parameters for its own stack need not exist in another one.
            Err(Refusal { lacks: true, .. })
                if matches!((at, &overrides.stack), (Place::File(_), Some(_))) && has(&of_file, &set, path) =>
            {
                unused.push(path.clone());
            }
            Err(r) => return Err(at.refuse(None, r.allowed, &with).with_hint(r.hint)),
        }
    }
    if has_sack && !stack.options.sack {
        stack = without_sack(stack, &set, &with)?;
    }
    let tables = outside.put(&mut stack, overrides.workshop.as_deref(), &with)?;
    stack.validate().map_err(|e| {
        let found = format!("{} = {}", e.key, e.found);
        let (in_file, in_options) = set.iter().partition::<Vec<_>, _>(|(_, _, at)| matches!(at, Place::File(_)));
        let to_blame = blamed(&in_options, e.key).or_else(|| blamed(&in_file, e.key));
        to_blame.unwrap_or(&Place::File(named.clone())).refuse(Some(found), e.allowed, &with)
    })?;
    Ok(Made { stack, tables, unused })
}

/// The stack that a text describes, without a scenario: `NAME` or `NAME,PATH=VALUE,…`. Algorithms from outside are not allowed.
///
/// # Errors
/// There is no such stack, a part is not a parameter, or the parts do not fit together.
pub fn stack_of(text: &str) -> Result<Stack, ScenarioError> {
    let Chosen { mut stack, set } = Chosen::read(text, allowed)?;
    let has_sack = stack.options.sack;
    let parameters = set.iter().map(|(path, text)| ((*path).to_owned(), from_option(text), Place::Chosen(path, text)));
    let parameters: Vec<Set<'_>> = parameters.collect();
    for (path, value, at) in &parameters {
        let assigned = assign(&mut stack, path, value.clone());
        assigned.map_err(|r| at.refuse(None, r.allowed, "").with_hint(r.hint))?;
    }
    if has_sack && !stack.options.sack {
        stack = without_sack(stack, &parameters, "")?;
    }
    stack.validate().map_err(|e| {
        let found = format!("{} = {}", e.key, e.found);
        ScenarioError::option("--stack", format!("{found} in \"{text}\""), e.allowed)
    })?;
    Ok(stack)
}

/// Whether the file's own stack has a parameter that the chosen stack lacks.
fn has(of_file: &Stack, set: &[Set<'_>], path: &str) -> bool {
    let mut outside = Outside::default();
    let mut own = of_file.clone();
    for (p, value, at) in set.iter().filter(|(_, _, at)| matches!(at, Place::File(_))) {
        let Some(value) = outside.take(p, value.clone(), at) else { continue };
        if assign(&mut own, p, value).is_err() && p == path {
            return false;
        }
    }
    true
}

/// The stack to use when `options.sack` of a stack with SACK is switched off: the same as towards a peer without SACK (decision 0015). No
/// parameter that was set may be lost.
fn without_sack(asked: Stack, set: &[Set<'_>], with: &str) -> Result<Stack, ScenarioError> {
    let with_sack = Stack { options: Options { sack: true, ..asked.options }, ..asked.clone() };
    // The stack is valid without SACK, or has another fault, too.
    if asked.validate().is_ok() || with_sack.validate().is_err() {
        return Ok(asked);
    }
    let becomes = asked.without_sack();
    let written = |stack: &Stack| serde_json::to_value(stack).unwrap_or_default();
    let (before, after) = (written(&asked), written(&becomes));
    for (path, _, at) in set {
        let of = |root: &Value| path.split('.').try_fold(root, |v, step| v.get(step)).cloned();
        if of(&before).is_some_and(|value| of(&after) != Some(value)) {
            let allowed = "only together with options.sack = true, since the stack has other components without SACK";
            return Err(at.refuse(None, allowed.to_owned(), with));
        }
    }
    Ok(becomes)
}

/// The existing stacks, for a message. The simulator does not have the kernel's TCP, but another command runs it.
fn allowed(name: &str) -> String {
    let stacks = format!("one of {}", listed(&Stack::names().collect::<Vec<_>>()));
    match name == "kernel" || name.starts_with("kernel:") {
        true => format!("{stacks}; the kernel's TCP runs in real time: ackclock live path SCENARIO --sender {name}"),
        false => stacks,
    }
}

/// A parameter that was set: its path, its value, and its place.
type Set<'a> = (String, Value, Place<'a>);

/// Every parameter that was set; later ones override earlier ones.
fn parameters_set<'a>(node: &Node<'a>, overrides: &'a Overrides) -> Result<Vec<Set<'a>>, ScenarioError> {
    let mut of_file = Vec::new();
    if let Some(set) = node.get("set") {
        flatten(&set, "", &mut of_file)?;
    }
    let of_file = of_file.into_iter().map(|(path, node)| (path, json(node.value), Place::File(node)));
    let options = overrides.set.iter().map(|(path, text)| (path.clone(), from_option(text), Place::Option(path, text)));
    Ok(of_file.chain(options).collect())
}

/// The parameter that made `key` invalid: the one whose path agrees most with it, the last of several.
fn blamed<'s, 'a>(set: &[&'s Set<'a>], key: &str) -> Option<&'s Place<'a>> {
    let alike = |path: &str| path.split('.').zip(key.split('.')).take_while(|(a, b)| a == b).count();
    set.iter().max_by_key(|s| alike(&s.0)).map(|s| &s.2)
}

/// Paths and values below `set`: `"rto.tick" = x`, `rto.tick = x` and `[flow.set.rto]` are the same. A table with the
/// key `kind` is the value of a whole slot.
fn flatten<'a>(node: &Node<'a>, prefix: &str, out: &mut Vec<(String, Node<'a>)>) -> Result<(), ScenarioError> {
    for (key, child) in node.entries(|| "a table of parameters, as in { \"rto.tick\" = \"500 ms\" }")? {
        let path = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        match child.value {
            DeValue::Table(t) if !t.keys().any(|k| k.get_ref() == "kind") => flatten(&child, &path, out)?,
            _ => out.push((path, child)),
        }
    }
    Ok(())
}

/// `500 ms`, `true`, `3`, `{ kind = "reno" }`: The value as TOML if it can be parsed, else as a string.
fn from_option(text: &str) -> Value {
    let line = format!("v = {text}");
    match (Source { file: "", text: &line }).parse() {
        Ok(table) => table.get_ref().get("v").map_or(Value::Null, |v| json(v.get_ref())),
        Err(_) => Value::String(text.to_owned()),
    }
}
