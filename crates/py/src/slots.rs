//! Algorithms written in Python inside the engine: this module has one file for each slot, which implements the engine's
//! trait with a Python object.

mod algorithm;
mod congestion;
mod detect;
mod disorder;
mod element;
mod recovery;
mod rto;
mod spurious;
mod startup;
mod threshold;
mod timeout;
mod undo;

pub(crate) use algorithm::{Fault, Watch};

use ackclock_lab::scenario::outside::{Custom, Refused, Workshop, ELEMENT};
use ackclock_sim::scenario::custom::{self, CustomSpec};
use ackclock_sim::scenario::{Only, Place};
use ackclock_tcp::Factory;
use algorithm::{Algorithm, Maker};
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// Finds the classes that scenarios name, using `ackclock.slots.registry`.
#[derive(Debug)]
pub(crate) struct Finder {
    /// The base of relative sources.
    pub(crate) folder: PathBuf,
    /// The state shared by the algorithms of its plans.
    pub(crate) watch: Arc<Watch>,
}

impl Workshop for Finder {
    fn make(&self, slot: &str, table: &Map<String, Value>) -> Result<Custom, Refused> {
        Python::attach(|py| {
            let found = self.find(py, slot, table)?;
            Ok(match slot {
                "congestion" => Custom::Congestion(found.factory(|a| Box::new(congestion::Growth::new(a)))),
                "detect" => Custom::Detect(found.factory(|a| Box::new(detect::Judge::new(a)))),
                "detect.threshold" => Custom::Threshold(found.factory(|a| Box::new(threshold::Threshold::new(a)))),
                ELEMENT => Custom::Element(found.element(py)?),
                "disorder" => Custom::Disorder(found.factory(|a| Box::new(disorder::Doubt::new(a)))),
                "recovery" => Custom::Recovery(found.factory(|a| Box::new(recovery::Repairer::new(a)))),
                "rto" => Custom::Rto(found.factory(|a| Box::new(rto::Timer::new(a)))),
                "spurious" => Custom::Spurious(found.factory(|a| Box::new(spurious::Judge::new(a)))),
                "startup" => Custom::Startup(found.factory(|a| Box::new(startup::Start::new(a)))),
                "timeout" => Custom::Timeout(found.factory(|a| Box::new(timeout::AfterTimeout::new(a)))),
                "undo" => Custom::Undo(found.factory(|a| Box::new(undo::Giver::new(a)))),
                other => return Err(PyRuntimeError::new_err(format!("no slot `{other}`"))),
            })
        })
        .map_err(|e: PyErr| {
            Python::attach(|py| {
                let refused = refused(py, &e);
                if !e.is_instance_of::<PyException>(py) {
                    self.watch.fail("", "", e); // an interruption while a file was loaded is not an error in the scenario
                }
                refused
            })
        })
    }
}

/// A class that was found, and its parameters.
struct Found {
    name: String,
    identity: u64,
    maker: Maker,
}

impl Found {
    fn factory<T: ?Sized + 'static>(self, adapt: fn(Algorithm) -> Box<T>) -> Factory<T> {
        let Found { name, identity, maker } = self;
        Factory { name, identity, make: Arc::new(move |mss| adapt(maker.make(mss.into()))) }
    }

    /// A path element; its table gives its place and the packets that it sees.
    fn element(self, py: Python<'_>) -> PyResult<CustomSpec> {
        let Found { name, identity, maker } = self;
        let declared = element::Declared::read(maker.class.bind(py))?;
        let element::Declared { delays, reorders, loses, duplicates } = declared;
        let make: Arc<custom::Make> = Arc::new(move |seed| Box::new(element::Element::new(maker.make(seed), declared)));
        let factory = custom::Factory { name, identity, make };
        let (at, only, table) = (Place::default(), Only::default(), Map::new());
        Ok(CustomSpec { factory, at, only, delays, reorders, loses, duplicates, table })
    }
}

impl Finder {
    fn find(&self, py: Python<'_>, slot: &str, table: &Map<String, Value>) -> PyResult<Found> {
        let json = Value::Object(table.clone()).to_string();
        let found = py.import("ackclock.slots.registry")?.call_method1("resolve", (slot, json, &self.folder))?;
        let maker = Maker {
            make: found.getattr("make")?.unbind(),
            class: found.getattr("cls")?.unbind(),
            base: found.getattr("base")?.unbind(),
            name: found.getattr("shown")?.extract()?,
            watch: Arc::clone(&self.watch),
        };
        Ok(Found { name: found.getattr("name")?.extract()?, identity: found.getattr("identity")?.extract()?, maker })
    }
}

/// The refusal in `ackclock.slots.registry.RefusedError`; any other error is reported unchanged.
fn refused(py: Python<'_>, e: &PyErr) -> Refused {
    let value = e.value(py);
    let part = |name: &str| value.getattr(name).ok().and_then(|v| v.extract::<String>().ok());
    match (part("found"), part("allowed")) {
        (Some(found), Some(allowed)) => Refused { key: part("key"), found, allowed, hint: part("hint") },
        _ => Refused { key: None, found: e.to_string(), allowed: "an algorithm in Python".to_owned(), hint: None },
    }
}
