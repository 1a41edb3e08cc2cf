//! Every description as TOML, read again: random elements, applications, receivers and background traffic from the schema.

use ackclock_lab::identity::identity;
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_lab::schema;
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Generates random values that a schema allows.
struct Drawer<'s> {
    root: &'s Value,
    rng: u64,
}

impl Drawer<'_> {
    /// A whole number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        // Knuth's MMIX generator; its high bits are more random than its low bits.
        self.rng = self.rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.rng >> 33) % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    fn value(&mut self, schema: &Value) -> Value {
        if let Some(name) = schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
            return self.value(&self.root["$defs"][name]);
        }
        if let Some(word) = schema.get("const") {
            return word.clone();
        }
        if schema["properties"].is_object() {
            return self.table(schema);
        }
        if schema["anyOf"][0]["oneOf"].is_array() {
            return self.value(&schema["anyOf"][0]);
        }
        if let Some(choices) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            let chosen = self.below(choices.len() as u64) as usize;
            return self.value(&choices[chosen]);
        }
        match (schema["type"].as_str(), schema["title"].as_str()) {
            (_, Some("time")) => self.one(&["3 ms", "1.5 s", "200 ms", "123456789 ns", "2 s"]).into(),
            (_, Some("rate")) => self.one(&["5 Mbps", "204800 B/s", "777 kbps"]).into(),
            (_, Some("packets")) => self.one(&["5 packets", "65 packets", "1 packet"]).into(),
            (_, Some("size")) => self.one(&["1460 B", "64 KiB", "10 kB"]).into(),
            (Some("integer"), _) => {
                let (least, most) = (schema["minimum"].as_u64().unwrap_or(0), schema["maximum"].as_u64());
                (least + self.below(most.unwrap_or(50).min(least + 50) - least + 1)).into()
            }
            (Some("number"), _) => {
                let most = schema["maximum"].as_f64().unwrap_or(3.0);
                let least = schema["minimum"].as_f64().or(schema["exclusiveMinimum"].as_f64()).unwrap_or(0.0);
                (least + (most - least) * (1 + self.below(1000)) as f64 / 1000.0).into()
            }
            (Some("boolean"), _) => (self.below(2) == 0).into(),
            (Some("array"), _) => (0..=self.below(3)).map(|_| self.value(&schema["items"])).collect(),
            other => panic!("{other:?}: {schema}"),
        }
    }

    /// A table, with each optional key half of the time. If one of several groups of keys is required, the table has one.
    fn table(&mut self, schema: &Value) -> Value {
        let strings = |list: &Value| -> Vec<String> {
            list.as_array().into_iter().flatten().filter_map(|k| Some(k.as_str()?.to_owned())).collect()
        };
        let groups: Vec<Vec<String>> = ["oneOf", "anyOf"]
            .iter()
            .flat_map(|key| schema[*key].as_array().into_iter().flatten())
            .map(|g| strings(&g["required"]))
            .filter(|g| g != &["file"])
            .collect();
        let chosen =
            if groups.is_empty() { Vec::new() } else { groups[self.below(groups.len() as u64) as usize].clone() };
        let (required, grouped) = (strings(&schema["required"]), groups.concat());
        let mut table = Map::new();
        for (key, part) in schema["properties"].as_object().expect("keys") {
            // Free names and texts belong to the scenario around the table, or to the example.
            let free =
                !grouped.contains(key) && !["file", "data", "from", "to", "set", "stack"].contains(&key.as_str());
            if required.contains(key) || chosen.contains(key) || free && self.below(2) == 0 {
                let value = match key.as_str() {
                    "data" => schema["examples"][0]["data"].clone(),
                    "from" => "A".into(),
                    "to" => "B".into(),
                    "stack" => "reno".into(),
                    _ => self.value(part),
                };
                table.insert(key.clone(), value);
            }
        }
        table.into()
    }
}

/// As TOML on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let members: Vec<String> = map.iter().map(|(k, v)| format!("{k} = {}", inline(v))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn scenario(link: &str, flow: &str) -> String {
    format!(
        "[run]\nduration = \"100 s\"\n[[link]]\nfrom = \"A\"\nto = \"B\"\nrate = \"5 Mbps\"\ndelay = \"1 ms\"\nqueue = \"65 packets\"\n{link}\n[[flow]]\nfrom = \"A\"\nto = \"B\"\nstack = \"reno\"\n{flow}\n"
    )
}

/// The scenario with one table of a definition in it.
fn text(definition: &str, table: &Value) -> String {
    match definition {
        "Element" => scenario(&format!("elements = [{}]\nback = {{ elements = [] }}", inline(table)), ""),
        "App" => scenario("", &format!("app = {}", inline(table))),
        "Receiver" => scenario("", &format!("receiver = {}", inline(table))),
        // A list at the top of a file must come before its tables.
        "Background" => format!("background = [{}]\n{}", inline(table), scenario("", "")),
        other => panic!("{other}"),
    }
}

/// Reads the text; writing and reading the result again must give the same.
fn round(text: &str) -> Result<(), String> {
    let read = |text: &str| Plan::parse("x.toml", text, &Overrides::default()).map_err(|e| e.to_string());
    let plan = read(text)?;
    let written = plan.to_toml();
    let again = read(&written).unwrap_or_else(|e| panic!("{e}\n{text}\n{written}"));
    assert_eq!(again, plan, "{written}");
    assert_eq!(identity(&again, 1), identity(&plan, 1));
    assert_eq!(again.to_toml(), written);
    Ok(())
}

fn parsed() -> Value {
    serde_json::from_str(&schema::json()).expect("JSON")
}

/// Each kind of each definition that is a choice: the definition, the kind's name and its schema.
fn kinds(root: &Value) -> Vec<(&'static str, String, Value)> {
    let of = |definition: &'static str| {
        let table = &root["$defs"][definition];
        // A class in Python may be an alternative to the kinds of elements.
        let choices = table["oneOf"].as_array().or(table["anyOf"][0]["oneOf"].as_array()).expect("choices").iter();
        choices.map(move |choice| {
            let tag = choice["properties"].as_object().expect("keys").values().find_map(|part| part["const"].as_str());
            (definition, tag.expect("a tag").to_owned(), choice.clone())
        })
    };
    ["Element", "App", "Receiver", "Background"].into_iter().flat_map(of).collect()
}

#[test]
fn each_kind_has_a_name_and_an_example_with_which_a_scenario_runs() {
    let root = parsed();
    for (definition, kind, schema) in kinds(&root).into_iter().filter(|k| k.0 != "Receiver") {
        assert!(schema["title"].is_string() && schema["description"].is_string(), "{kind} has no title or no sentence");
        let mut example = schema["examples"][0].clone();
        assert!(example["kind"] == kind.as_str(), "{kind} has no example");
        if definition == "Background" {
            (example["from"], example["to"]) = ("A".into(), "B".into());
        }
        let text = text(definition, &example);
        round(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let plan = Plan::parse("x.toml", &text.replace("100 s", "1 s"), &Overrides::default()).unwrap();
        ackclock_lab::run::run(&plan, 1, None, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    }
}

#[test]
fn what_the_schema_allows_is_read_for_each_kind() {
    let root = parsed();
    for (definition, kind, schema) in kinds(&root) {
        let mut refusals = Vec::new();
        let mut rng = Drawer { root: &root, rng: 7 };
        let good = (0..200).filter(|_| {
            let table = rng.value(&schema);
            round(&text(definition, &table)).map_err(|e| refusals.push(e)).is_ok()
        });
        // Constraints that only the reader checks (an order, a sum, a whole link) may lead to a refusal.
        let good = good.count();
        assert!(good >= 10, "{kind}: {good} of 200 are read; {refusals:?}");
        let unexplained = refusals.iter().find(|r| r.contains("fits its description") || !r.contains("key `"));
        assert_eq!(unexplained, None, "{kind}: a refusal without a place");
    }
}

proptest! {
    #[test]
    fn a_description_is_the_same_written_and_read_again(rng in any::<u64>(), kind in any::<prop::sample::Index>()) {
        let root = parsed();
        let (definition, _, schema) = kind.get(&kinds(&root)).clone();
        let table = Drawer { root: &root, rng }.value(&schema);
        let _ = round(&text(definition, &table));
    }
}
