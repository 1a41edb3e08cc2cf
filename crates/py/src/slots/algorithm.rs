//! One Python object that answers for a slot: how it is made, how it is asked, and what becomes of its errors.

use ackclock_tcp::time::Time;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What all algorithms of one call have in common: the first error, and the simulated time.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    now: AtomicU64,
    failed: AtomicBool,
    first: Mutex<Option<Fault>>,
}

/// The error that ends a run.
#[derive(Debug)]
pub(crate) struct Fault {
    /// When, in simulated time.
    pub(crate) at: Time,
    /// File and class.
    pub(crate) algorithm: String,
    /// Which of its methods was asked.
    pub(crate) method: &'static str,
    /// What it raised.
    pub(crate) error: PyErr,
}

impl Watch {
    /// A run begins.
    pub(crate) fn begin(&self) {
        self.now.store(0, Ordering::Relaxed);
    }

    /// The first error, once.
    pub(crate) fn take(&self) -> Option<Fault> {
        if !self.failed.swap(false, Ordering::Relaxed) {
            return None;
        }
        self.first.lock().ok()?.take()
    }

    /// Whether the run is lost: then no Python is called any more.
    fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    fn fail(&self, algorithm: &str, method: &'static str, error: PyErr) {
        let at = Time(self.now.load(Ordering::Relaxed));
        let fault = Fault { at, algorithm: algorithm.to_owned(), method, error };
        if let Ok(mut first) = self.first.lock() {
            first.get_or_insert(fault);
        }
        self.failed.store(true, Ordering::Relaxed);
    }
}

/// Makes the objects of one class with its parameters: one for each flow.
pub(super) struct Maker {
    /// A callable: the maximum segment size in, an object out.
    pub(super) make: Py<PyAny>,
    /// The slot's base class.
    pub(super) base: Py<PyAny>,
    /// File and class, for people.
    pub(super) name: String,
    pub(super) watch: Arc<Watch>,
}

impl Maker {
    /// A new object; one that cannot be made has failed and answers nothing.
    pub(super) fn make(&self, mss: u32) -> Algorithm {
        let (name, watch) = (self.name.clone(), Arc::clone(&self.watch));
        Python::attach(|py| {
            let object = match self.make.call1(py, (mss,)) {
                Ok(object) => Some(object),
                Err(e) => {
                    watch.fail(&name, "__init__", e);
                    None
                }
            };
            Algorithm { object, base: self.base.clone_ref(py), name, watch }
        })
    }
}

/// An object that answers for a slot.
pub(super) struct Algorithm {
    object: Option<Py<PyAny>>,
    base: Py<PyAny>,
    name: String,
    watch: Arc<Watch>,
}

/// A method of it, bound; nothing if the class left it to its base.
pub(super) struct Hook {
    method: &'static str,
    bound: Option<Py<PyAny>>,
}

impl Algorithm {
    /// The method of this name. One that only the base class has is never called: what it does stands in the engine.
    pub(super) fn hook(&self, method: &'static str) -> Hook {
        let find = |py: Python<'_>| {
            let Some(object) = &self.object else { return Ok(None) };
            let bound = object.bind(py).getattr(method)?;
            let inherited = self.base.bind(py).getattr(method)?;
            let left = bound.getattr_opt("__func__")?.is_some_and(|f| f.is(&inherited));
            PyResult::Ok((!left).then(|| bound.unbind()))
        };
        let bound = Python::attach(find).unwrap_or_else(|e| {
            self.watch.fail(&self.name, method, e);
            None
        });
        Hook { method, bound }
    }

    /// The value of an attribute, read with `read`.
    pub(super) fn attribute<R>(
        &self,
        name: &'static str,
        otherwise: R,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> R {
        let Some(object) = self.object.as_ref().filter(|_| !self.watch.failed()) else { return otherwise };
        let value = Python::attach(|py| read(&object.bind(py).getattr(name)?));
        value.unwrap_or_else(|e| {
            self.watch.fail(&self.name, name, e);
            otherwise
        })
    }

    /// Asks a method at `now`; `call` calls it and reads what it answers. An error ends the run: then, and for a method
    /// that the class does not have, the answer is `otherwise`.
    #[inline]
    pub(super) fn ask<R>(
        &self,
        hook: &Hook,
        now: Option<Time>,
        otherwise: R,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> R {
        let Some(bound) = hook.bound.as_ref().filter(|_| !self.watch.failed()) else { return otherwise };
        if let Some(now) = now {
            self.watch.now.store(now.0, Ordering::Relaxed);
        }
        Python::attach(|py| call(bound.bind(py))).unwrap_or_else(|e| {
            self.watch.fail(&self.name, hook.method, e);
            otherwise
        })
    }

    /// Tells a method something; what it answers does not matter.
    #[inline]
    pub(super) fn tell<'a>(
        &self,
        hook: &'a Hook,
        now: Option<Time>,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
    ) {
        self.ask(hook, now, (), call);
    }
}

impl Hook {
    /// Whether the class has the method.
    pub(super) fn is_there(&self) -> bool {
        self.bound.is_some()
    }
}

/// That a method answered something that makes no sense.
pub(super) fn senseless(answer: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let shown = answer.repr().map_or_else(|_| "something without a repr".to_owned(), |r| r.to_string());
    let short: String = shown.chars().take(60).collect();
    PyTypeError::new_err(format!("returned {short}, allowed: {allowed}"))
}

/// A whole number in a range.
pub(super) fn whole(answer: &Bound<'_, PyAny>, least: u64, most: u64) -> PyResult<u64> {
    let number = answer.extract::<u64>().ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| senseless(answer, &format!("a whole number from {least} to {most}")))
}
