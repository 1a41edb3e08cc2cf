//! A plan as TOML again, with nothing left to a default: what `ackclock show` prints.

mod element;

use super::outside::{self, Tables};
use super::Plan;
use ackclock_sim::scenario::{
    BackgroundKind, BackgroundSpec, DirectionSpec, FlowSpec, LinkForm, QueueLimit, Size, WireSpec,
};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::units::show_bytes;
use element::{element, gap};
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
            flow(out, f, self, "flow")?;
        }
        for b in &s.background {
            writeln!(out, "\n[[background]]\nfrom = {}\nto = {}", node(b.from), node(b.to))?;
            background(out, b, self)?;
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

/// The keys of one table of background traffic from `start` on.
fn background(out: &mut String, b: &BackgroundSpec, plan: &Plan) -> fmt::Result {
    writeln!(out, "start = \"{}\"", b.start)?;
    if let Some(stop) = b.stop {
        writeln!(out, "stop = \"{stop}\"")?;
    }
    match &b.kind {
        BackgroundKind::Source(s) => {
            writeln!(out, "kind = \"source\"\nrate = \"{}\"\npacket = \"{} B\"", s.rate, s.packet)?;
            s.on_off.map_or(Ok(()), |(on, off)| writeln!(out, "on = {}\noff = {}", gap(&on), gap(&off)))
        }
        BackgroundKind::Transfers(t) => {
            let size = match t.size {
                Size::Constant(n) => format!("{{ constant = \"{}\" }}", show_bytes(n)),
                Size::Exponential(n) => format!("{{ exponential = \"{}\" }}", show_bytes(n)),
                Size::Pareto { mean, shape } => format!("{{ pareto = \"{}\", shape = {shape:?} }}", show_bytes(mean)),
            };
            writeln!(out, "kind = \"transfers\"\ngap = {}\nsize = {size}\nmost = {}", gap(&t.gap), t.most)?;
            flow(out, &t.flow, plan, "background")
        }
    }
}

/// The keys of one flow from `stack` on.
fn flow(out: &mut String, f: &FlowSpec, plan: &Plan, table: &str) -> fmt::Result {
    let Some(stack) = plan.stacks.get(f.stack as usize) else { return Ok(()) };
    let none = Tables::new();
    let tables = plan.outside.get(f.stack as usize).unwrap_or(&none);
    // A stack that `set` gave another name is written as what it was made from; every parameter follows anyway.
    let profile = Stack::named(&stack.name).map_or_else(|| Stack::names().next().unwrap_or(""), |_| &stack.name);
    writeln!(out, "stack = {}\nsegment = \"{} B\"\nwindow = \"{}\"", quoted(profile), f.mss, show_bytes(f.window))?;
    writeln!(out, "handshake = {}", f.handshake)?;
    match f.wire {
        WireSpec::Ipv4 => writeln!(out, "wire = \"ipv4\"")?,
        WireSpec::Ns2 { header } => writeln!(out, "wire = \"ns2\"\nheader = \"{header} B\"")?,
    }
    let start = format!("start = \"{}\", jitter = \"{}\"", f.app.start, f.app.jitter);
    match f.app.bytes {
        _ if table != "flow" => {}
        None => writeln!(out, "app = {{ kind = \"bulk\", {start} }}")?,
        Some(n) => {
            writeln!(out, "app = {{ kind = \"fixed\", {start}, size = \"{}\" }}", show_bytes(n))?;
        }
    }
    let mut receiver = Map::new();
    for (key, value) in object(serde_json::to_value(&f.ack)) {
        receiver.insert(if key == "kind" { "ack".to_owned() } else { key }, value);
    }
    writeln!(out, "receiver = {}\n[{table}.set]", toml(&receiver.into()))?;
    for (slot, value) in object(outside::written(stack, tables)) {
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
