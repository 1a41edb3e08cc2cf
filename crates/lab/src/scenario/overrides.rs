//! The stack of a flow, and its parameters that a file or a command line sets by path.

use super::chosen::Chosen;
use super::outside::{Outside, Place, Tables, Workshop};
use super::MOST_SEEDS;
use crate::error::{listed, nearest, ScenarioError};
use crate::reader::{json, Node, Source};
use ackclock_tcp::stack::{Options, Stack};
use serde_json::{Map, Value};
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
    let (stack, own) = match chosen {
        None => (of_file.clone(), Vec::new()),
        Some(Chosen { stack, set }) => (stack, set),
    };
    let (mut set, has_sack) = (parameters_set(node, overrides)?, stack.options.sack);
    let mut so_far = SoFar::new(stack);
    set.extend(own.into_iter().map(|(path, text)| (path.to_owned(), from_option(text), Place::Chosen(path, text))));
    // Of several compared stacks, one may lack a parameter: the message names that stack.
    let with = overrides.stack.as_ref().map_or_else(String::new, |name| format!(" with stack \"{name}\""));
    let (mut outside, mut unused) = (Outside::default(), Vec::new());
    for (path, value, at) in &set {
        let Some(value) = outside.take(path, value.clone(), at) else { continue };
        match so_far.assign(path, value) {
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
    let SoFar { mut stack, written: _ } = so_far;
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
    let Chosen { stack, set } = Chosen::read(text, allowed)?;
    let has_sack = stack.options.sack;
    let parameters = set.iter().map(|(path, text)| ((*path).to_owned(), from_option(text), Place::Chosen(path, text)));
    let parameters: Vec<Set<'_>> = parameters.collect();
    let mut so_far = SoFar::new(stack);
    for (path, value, at) in &parameters {
        let assigned = so_far.assign(path, value.clone());
        assigned.map_err(|r| at.refuse(None, r.allowed, "").with_hint(r.hint))?;
    }
    let SoFar { mut stack, written: _ } = so_far;
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
    let mut own = SoFar::new(of_file.clone());
    for (p, value, at) in set.iter().filter(|(_, _, at)| matches!(at, Place::File(_))) {
        let Some(value) = outside.take(p, value.clone(), at) else { continue };
        if own.assign(p, value).is_err() && p == path {
            return false;
        }
    }
    true
}

/// The stack to use when `options.sack` of a stack with SACK is switched off: the same as towards a peer without SACK (decision 0155). No
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

/// Why a parameter was refused.
struct Refusal {
    allowed: String,
    hint: Option<String>,
    /// The stack has no such parameter.
    lacks: bool,
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

/// A stack, as far as its parameters are set.
struct SoFar {
    stack: Stack,
    /// The stack as a table, once one was needed.
    written: Option<Value>,
}

impl SoFar {
    fn new(stack: Stack) -> Self {
        SoFar { stack, written: None }
    }

    /// Sets one parameter: writes the stack as a table, changes the table, and reads it again. A refusal changes nothing.
    fn assign(&mut self, path: &str, value: Value) -> Result<(), Refusal> {
        let plain = |allowed: String| Refusal { allowed, hint: None, lacks: false };
        let write = |stack: &Stack| serde_json::to_value(stack).map_err(|e| plain(e.to_string()));
        let mut root = self.written.as_ref().map_or_else(|| write(&self.stack), |written| Ok(written.clone()))?;
        let (known, walked) = put(&mut root, path, value)?;
        let last = path.rsplit_once('.').map_or(path, |p| p.1);
        let new: Stack = serde_json::from_value(root).map_err(|e| match e.to_string() {
            said if said.starts_with(&format!("unknown field `{last}`")) => {
                unknown(path, said.split('`').skip(3).step_by(2).map(|k| format!("{walked}{k}")).collect())
            }
            said => refusal(&said),
        })?;
        let read = write(&new)?;
        if path.split('.').try_fold(&read, |v, step| v.get(step)).is_none() {
            return Err(unknown(path, known));
        }
        (self.stack, self.written) = (new, Some(read));
        Ok(())
    }
}

/// Changes one value of a stack's table. Returns the parameters beside it, and the path to them.
fn put(root: &mut Value, path: &str, value: Value) -> Result<(Vec<String>, String), Refusal> {
    let (above, last) = path.rsplit_once('.').unwrap_or(("", path));
    let (mut at, mut walked) = (root, String::new());
    for step in above.split('.').filter(|s| !s.is_empty()) {
        let known = parameters(at, &walked);
        at = at.get_mut(step).ok_or_else(|| unknown(&format!("{walked}{step}"), known))?;
        walked = format!("{walked}{step}.");
    }
    let known = parameters(at, &walked);
    let Value::Object(map) = at else {
        return Err(Refusal { allowed: format!("`{above}`, which takes no parameters"), hint: None, lacks: false });
    };
    if last == "kind" {
        map.retain(|k, _| k == "kind"); // a different kind has different parameters
    }
    let value = match (map.get(last).and_then(|old| old.get("kind")), value) {
        (Some(_), Value::String(kind)) => serde_json::json!({ "kind": kind }),
        (_, value) => value,
    };
    map.insert(last.to_owned(), value);
    Ok((known, walked))
}

/// The paths of the entries in a table of parameters.
fn parameters(table: &Value, prefix: &str) -> Vec<String> {
    let keys = table.as_object().into_iter().flat_map(Map::keys);
    keys.map(|k| format!("{prefix}{k}")).collect()
}

/// There is no such parameter.
fn unknown(path: &str, known: Vec<String>) -> Refusal {
    let hint = nearest(path, known.iter().map(String::as_str)).map(|n| format!("`{n}`"));
    let allowed = match known.is_empty() {
        true => format!("no parameter below `{}`", path.rsplit_once('.').map_or("", |p| p.0)),
        false => format!("one of the parameters {}", listed(&known)),
    };
    Refusal { allowed, hint, lacks: true }
}

/// Turns serde's message about a fault into the allowed values: `unknown variant `x`, expected one of `a`, `b``, or our own sentence.
fn refusal(message: &str) -> Refusal {
    let allowed = match (message.split_once("expected "), message.rsplit_once("; ")) {
        (Some((_, "u16")), _) => "a whole number from 0 to 65535".to_owned(),
        (Some((_, "u32")), _) => "a whole number from 0 to 4294967295".to_owned(),
        (Some((_, "u64")), _) => "a whole number from 0".to_owned(),
        (Some((_, "f64")), _) => "a number".to_owned(),
        (Some((_, "a boolean")), _) => "true or false".to_owned(),
        (Some((_, expected)), _) => expected.replace('`', ""),
        (None, _) if message.ends_with("there are no fields") => "a kind without parameters".to_owned(),
        (None, Some((_, tail))) => tail.to_owned(),
        (None, None) => message.to_owned(),
    };
    let mut quoted = message.split('`').skip(1).step_by(2);
    let hint = quoted.next().and_then(|word| nearest(word, quoted)).map(|n| format!("\"{n}\""));
    Refusal { allowed, hint: hint.filter(|_| message.starts_with("unknown")), lacks: false }
}

/// `500 ms`, `true`, `3`, `{ kind = "reno" }`: The value as TOML if it can be parsed, else as a string.
fn from_option(text: &str) -> Value {
    let line = format!("v = {text}");
    match (Source { file: "", text: &line }).parse() {
        Ok(table) => table.get_ref().get("v").map_or(Value::Null, |v| json(v.get_ref())),
        Err(_) => Value::String(text.to_owned()),
    }
}
