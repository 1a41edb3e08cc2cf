//! The schema and the page of scenario files, and the reader, which follows the schema.

use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_lab::schema;
use ackclock_tcp::stack::Stack;
use serde_json::Value;
use std::collections::BTreeSet;

const RUN: &str = "[run]\nduration = \"1 s\"\n";
const LINK: &str = "[[link]]\nfrom = \"A\"\nto = \"B\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n";
const FLOW: &str = "[[flow]]\nfrom = \"A\"\nto = \"B\"\nstack = \"reno\"\n";

/// For each table, a file with an unknown key in it: the definition, and the text.
fn unknown_keys(schema: &Value) -> Vec<(String, String)> {
    let link = |more: &str| format!("{RUN}{LINK}{more}");
    let flow = |more: &str| format!("{RUN}{LINK}{FLOW}{more}");
    let background = |more: &str| format!("{RUN}{LINK}{FLOW}[[background]]\n{more}");
    let dumbbell = |more: &str| format!("{RUN}[dumbbell]\n{more}");
    let kinds = schema["$defs"]["Element"]["anyOf"][0]["oneOf"].as_array().expect("a schema of this form").iter();
    let kinds = kinds.map(|k| k["properties"]["kind"]["const"].as_str().expect("a schema of this form"));
    let elements =
        kinds.map(|kind| (format!("Element.{kind}"), link(&format!("elements = [{{ kind = \"{kind}\", x = 1 }}]\n"))));
    let tables = [
        ("Scenario", "x = 1\n".to_owned()),
        ("Run", "[run]\nx = 1\n".to_owned()),
        ("SeedRange", format!("{RUN}seeds = {{ x = 1 }}\n")),
        ("Bins", format!("{RUN}measures = {{ x = 1 }}\n")),
        ("Link", link("x = 1\n")),
        ("Link.back", link("back = { x = 1 }\n")),
        ("Queue", link("queue = { x = 1 }\n")),
        ("SplitPath", link("elements = [{ kind = \"split\", paths = [{ x = 1 }] }]\n")),
        ("Gap", link("elements = [{ kind = \"swap\", mode = \"slots\", gap = { x = 1 } }]\n")),
        ("Late", link("elements = [{ kind = \"script\", delay = [{ x = 1 }] }]\n")),
        ("Flow", flow("x = 1\n")),
        ("App.bulk", flow("app = { kind = \"bulk\", x = 1 }\n")),
        ("App.fixed", flow("app = { kind = \"fixed\", x = 1 }\n")),
        ("App.transfers", flow("app = { kind = \"transfers\", x = 1 }\n")),
        ("App.writes", flow("app = { kind = \"writes\", x = 1 }\n")),
        ("Receiver.stack", flow("receiver = { ack = \"stack\", x = 1 }\n")),
        ("Receiver.every", flow("receiver = { ack = \"every\", x = 1 }\n")),
        ("Receiver.delayed", flow("receiver = { ack = \"delayed\", x = 1 }\n")),
        ("Receiver.delayed-reordered", flow("receiver = { ack = \"delayed-reordered\", x = 1 }\n")),
        ("Receiver.heartbeat", flow("receiver = { ack = \"heartbeat\", x = 1 }\n")),
        ("Receiver.window-update", flow("receiver = { ack = \"window-update\", x = 1 }\n")),
        ("Background.transfers", background("kind = \"transfers\"\nx = 1\n")),
        ("Background.source", background("kind = \"source\"\nx = 1\n")),
        (
            "Size",
            background("kind = \"transfers\"\nfrom = \"A\"\nto = \"B\"\nstack = \"reno\"\ngap = { constant = \"1 s\" }\nsize = { x = 1 }\n"),
        ),
        ("Dumbbell", dumbbell("x = 1\n")),
        ("Both", dumbbell("bottleneck = { x = 1 }\n")),
        ("FlowKeys", {
            let ends = "bottleneck = { rate = \"1 Mbps\", delay = \"1 ms\" }\naccess = { rate = \"1 Mbps\", delay = \"1 ms\" }\n";
            dumbbell(&format!("{ends}[[dumbbell.flow]]\nx = 1\n"))
        }),
    ];
    tables.into_iter().map(|(name, text)| (name.to_owned(), text)).chain(elements).collect()
}

fn parsed() -> Value {
    serde_json::from_str(&schema::json()).expect("JSON")
}

/// The keys of a definition, or of all of its choices.
fn keys(schema: &Value, name: &str) -> BTreeSet<String> {
    let (name, part) = name.split_once('.').unwrap_or((name, ""));
    let of = |table: &Value| table["properties"].as_object().into_iter().flatten().map(|p| p.0.clone()).collect();
    let table = if name == "Scenario" { schema } else { &schema["$defs"][name] };
    if table["properties"].is_object() {
        return of(if part.is_empty() { table } else { &table["properties"][part] });
    }
    // A class in Python may be an alternative to the kinds of elements.
    let choices = table["oneOf"].as_array().or(table["anyOf"][0]["oneOf"].as_array()).expect("choices").iter();
    let tag = |c: &&Value| ["kind", "ack"].iter().any(|tag| c["properties"][*tag]["const"] == part);
    let chosen = choices.filter(|c| part.is_empty() || tag(c));
    chosen.flat_map(of).collect::<BTreeSet<String>>()
}

#[test]
fn the_schema_has_the_keys_that_the_reader_knows_in_every_table() {
    let schema = parsed();
    let cases = unknown_keys(&schema);
    for (name, text) in &cases {
        let refusal = Plan::parse("x.toml", text, &Overrides::default()).unwrap_err();
        assert_eq!(refusal.found, "an unknown key", "{name}: {refusal}");
        let read: BTreeSet<String> = refusal.allowed.split(", ").map(str::to_owned).collect();
        assert_eq!(keys(&schema, name), read, "{name}");
    }
    let tables = schema["$defs"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, d)| d["properties"].is_object() || d["oneOf"][0]["properties"].is_object());
    for (name, _) in tables.filter(|(name, _)| *name != "Set") {
        assert!(cases.iter().any(|c| c.0.split('.').next() == Some(name.as_str())), "{name} is compared with nothing");
    }
}

/// The keywords of JSON Schema that the reader uses, and the keywords that do not restrict values.
const KEYWORDS: [&str; 26] = [
    "$defs",
    "$ref",
    "$schema",
    "additionalProperties",
    "anyOf",
    "const",
    "default",
    "dependentRequired",
    "description",
    "examples",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "not",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
];

fn keywords(schema: &Value, all: &mut BTreeSet<String>) {
    for (key, part) in schema.as_object().into_iter().flatten() {
        all.insert(key.clone());
        match key.as_str() {
            "properties" | "$defs" => {
                part.as_object().expect("a schema of this form").values().for_each(|p| keywords(p, all))
            }
            "oneOf" | "anyOf" => part.as_array().expect("a schema of this form").iter().for_each(|p| keywords(p, all)),
            "items" | "not" => keywords(part, all),
            _ => {}
        }
    }
}

#[test]
fn the_reader_knows_every_keyword_of_the_schema() {
    let (mut schema, mut all) = (parsed(), BTreeSet::new());
    schema["$defs"].as_object_mut().unwrap().remove("Set");
    keywords(&schema, &mut all);
    let unknown: Vec<_> = all.iter().filter(|key| !KEYWORDS.contains(&key.as_str())).collect();
    assert!(unknown.is_empty(), "crates/lab/src/form.rs looks at none of {unknown:?}");
}

/// Every parameter in a stack's description, by path.
fn paths(value: &Value, prefix: &str, all: &mut BTreeSet<String>) {
    for (key, part) in value.as_object().into_iter().flatten().filter(|(key, _)| *key != "kind") {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        paths(part, &path, all);
        all.insert(path);
    }
}

#[test]
fn every_parameter_of_every_stack_is_on_the_page_and_in_the_schema_as_set_takes_it() {
    let (page, schema, mut all) = (schema::page(), parsed(), BTreeSet::new());
    let set = schema["$defs"]["Set"]["properties"].as_object().unwrap();
    for name in Stack::names() {
        paths(&serde_json::to_value(Stack::named(name)).unwrap(), "", &mut all);
    }
    assert!(all.contains("detect.threshold.alpha") && all.len() > 30, "{all:?}");
    for path in &all {
        assert!(set.contains_key(path), "{path} is not in the schema of `set`");
    }
    for path in set.keys().filter(|path| !path.ends_with("kind")) {
        assert!(page.contains(&format!("`{path}`")), "{path} is not on the page");
    }
}

#[test]
fn a_parameter_beyond_the_range_in_the_schema_is_refused_by_the_reader_too() {
    let text = format!("{RUN}{LINK}{FLOW}");
    let reads = |stack: &str, path: &str, value: String| {
        let set = vec![(path.to_owned(), value)];
        let overrides = Overrides { stack: Some(stack.to_owned()), set, ..Overrides::default() };
        Plan::parse("x.toml", &text, &overrides).is_ok()
    };
    let schema = parsed();
    let mut tried = 0;
    for (path, part) in schema["$defs"]["Set"]["properties"].as_object().unwrap() {
        let limit = |key: &str| part[key].as_f64();
        let below = limit("minimum").filter(|min| *min > 0.0 || part["type"] == "number").map(|min| min - 1.0);
        let above = limit("maximum").filter(|max| *max < 65_535.0 || part["type"] == "number").map(|max| max + 1.0);
        for beyond in [below, above].into_iter().flatten() {
            for stack in Stack::names() {
                if reads(stack, path, limit("minimum").unwrap().to_string()) {
                    tried += 1;
                    assert!(!reads(stack, path, beyond.to_string()), "{stack}: {path} = {beyond}");
                }
            }
        }
    }
    assert!(tried > 100, "only {tried} tried");
}

#[test]
fn the_examples_of_the_page_are_good() {
    let page = schema::page();
    let examples: Vec<&str> = page.split("```toml\n").skip(1).map(|e| e.split("```").next().unwrap()).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        Plan::parse("x.toml", example, &Overrides::default()).unwrap();
    }
}
