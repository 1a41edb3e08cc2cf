//! A plan as TOML again, with nothing left to a default: what `ackclock show` prints.

mod path;

use super::Plan;
use ackclock_sim::scenario::{
    DirectionSpec, ElementSpec, FlowSpec, Gap, LinkForm, Place, QueueLimit, ScriptAction, ScriptRule, SwapMode,
    WireSpec,
};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::units::show_bytes;
use serde_json::{Map, Value};
use std::fmt::{self, Display, Write};

impl Plan {
    /// This plan as a scenario file in which every default is spelled out, the stacks' parameters too. Read again, it is
    /// the same scenario with the same stacks and seeds, so its runs have the same identities.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let s = &self.scenario;
        writeln!(out, "name = {}\n\n[run]", quoted(&s.name))?;
        writeln!(out, "duration = \"{}\"\n{}", s.duration, seeds(&self.seeds))?;
        if self.reordering {
            writeln!(out, "reordering = true")?;
        }
        let node = |n: u32| quoted(s.nodes.get(n as usize).map_or("", String::as_str));
        for l in &s.links {
            writeln!(out, "\n[[link]]\nfrom = {}\nto = {}", node(l.from), node(l.to))?;
            writeln!(out, "{}", direction(&l.forward).join("\n"))?;
            writeln!(out, "back = {{ {} }}", direction(&l.back).join(", "))?;
        }
        for f in &s.flows {
            writeln!(out, "\n[[flow]]\nname = {}\nfrom = {}\nto = {}", quoted(&f.name), node(f.from), node(f.to))?;
            if let Some(stack) = self.stacks.get(f.stack as usize) {
                flow(out, f, stack)?;
            }
        }
        Ok(())
    }
}

/// As a TOML string. JSON's escapes are TOML's, but for DEL, which TOML wants escaped.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn seeds(seeds: &[u64]) -> String {
    let consecutive = seeds.windows(2).all(|w| w[0].checked_add(1) == Some(w[1]));
    match (seeds, consecutive) {
        ([seed], _) => format!("seed = {seed}"),
        ([first, ..], true) if *first <= u64::MAX >> 2 => {
            format!("seeds = {{ first = {first}, count = {} }}", seeds.len())
        }
        _ => format!("seeds = {}", list(seeds.iter())),
    }
}

fn list(items: impl Iterator<Item = impl Display>) -> String {
    format!("[{}]", items.map(|i| i.to_string()).collect::<Vec<_>>().join(", "))
}

/// The keys of one direction of a link.
fn direction(d: &DirectionSpec) -> [String; 5] {
    let limit = match d.queue.limit {
        QueueLimit::Unlimited => "unlimited".to_owned(),
        QueueLimit::Packets(n) => format!("{n} packets"),
        QueueLimit::Bytes(n) => show_bytes(n),
    };
    let form = match d.form {
        LinkForm::Auto => "auto",
        LinkForm::Queued => "queued",
    };
    let rate = d.rate.map_or_else(|| "unlimited".to_owned(), |r| r.to_string());
    let counts = d.queue.limit_counts_service;
    [
        format!("rate = \"{rate}\""),
        format!("delay = \"{}\"", d.delay),
        format!("queue = {{ limit = \"{limit}\", limit_counts_service = {counts} }}"),
        format!("elements = {}", list(d.elements.iter().map(element))),
        format!("form = \"{form}\""),
    ]
}

fn place(at: Place) -> &'static str {
    match at {
        Place::Entry => "entry",
        Place::Exit => "exit",
    }
}

fn element(e: &ElementSpec) -> String {
    match e {
        ElementSpec::Swap { mode, count, gap } => {
            let mode = match mode {
                SwapMode::Slots => "slots",
                SwapMode::Literal => "literal",
                SwapMode::Neighbours => "neighbours",
            };
            let gap = match gap {
                Gap::Exponential(mean) => format!("{{ exponential = \"{mean}\" }}"),
                Gap::Constant(gap) => format!("{{ constant = \"{gap}\" }}"),
            };
            format!("{{ kind = \"swap\", mode = \"{mode}\", count = {count}, gap = {gap} }}")
        }
        ElementSpec::Bernoulli { p, at } => format!("{{ kind = \"bernoulli\", p = {p:?}, at = \"{}\" }}", place(*at)),
        ElementSpec::Script { at, rules } => {
            format!("{{ kind = \"script\", {}, at = \"{}\" }}", script(rules), place(*at))
        }
        ElementSpec::RedrawnDelay(s) => path::redrawn_delay(s),
        ElementSpec::Split(s) => path::split(s),
        ElementSpec::Demote(s) => path::demote(s),
        ElementSpec::Netem(s) => path::netem(s),
        ElementSpec::PathTrace(s) => path::path_trace(s),
        ElementSpec::Deliveries(s) => path::deliveries(s),
    }
}

fn script(rules: &[ScriptRule]) -> String {
    let of = |action: ScriptAction| rules.iter().filter(move |r| r.action == action).map(|r| r.nth);
    let delays = rules.iter().filter_map(|r| match r.action {
        ScriptAction::Delay(by) => Some(format!("{{ nth = {}, by = \"{by}\" }}", r.nth)),
        ScriptAction::Drop | ScriptAction::Duplicate => None,
    });
    let (drops, duplicates) = (list(of(ScriptAction::Drop)), list(of(ScriptAction::Duplicate)));
    format!("drop = {drops}, duplicate = {duplicates}, delay = {}", list(delays))
}

/// The keys of one flow from `stack` on.
fn flow(out: &mut String, f: &FlowSpec, stack: &Stack) -> fmt::Result {
    // A stack that `set` gave another name is written as what it was made from; every parameter follows anyway.
    let profile = Stack::named(&stack.name).map_or_else(|| Stack::names().next().unwrap_or(""), |_| &stack.name);
    writeln!(out, "stack = {}\nsegment = \"{} B\"\nwindow = \"{}\"", quoted(profile), f.mss, show_bytes(f.window))?;
    writeln!(out, "handshake = {}", f.handshake)?;
    match f.wire {
        WireSpec::Ipv4 => writeln!(out, "wire = \"ipv4\"")?,
        WireSpec::Ns2 { header } => writeln!(out, "wire = \"ns2\"\nheader = \"{header} B\"")?,
    }
    match f.app.bytes {
        None => writeln!(out, "app = {{ kind = \"bulk\", start = \"{}\" }}", f.app.start)?,
        Some(n) => {
            writeln!(out, "app = {{ kind = \"fixed\", start = \"{}\", size = \"{}\" }}", f.app.start, show_bytes(n))?;
        }
    }
    let mut receiver = Map::new();
    for (key, value) in object(serde_json::to_value(&f.ack)) {
        receiver.insert(if key == "kind" { "ack".to_owned() } else { key }, value);
    }
    writeln!(out, "receiver = {}\n[flow.set]", toml(&receiver.into()))?;
    for (slot, value) in object(serde_json::to_value(stack)) {
        if slot != "name" || value != profile {
            writeln!(out, "{slot} = {}", toml(&value))?;
        }
    }
    Ok(())
}

/// The members of an object; only specs that code made and no file can name have none.
fn object(value: serde_json::Result<Value>) -> Map<String, Value> {
    match value {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// A JSON value as inline TOML; what is null is left out, as is its default.
fn toml(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let members = map.iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| format!("{k} = {}", toml(v)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => list(items.iter().map(toml)),
        Value::String(s) => quoted(s),
        other => other.to_string(),
    }
}
