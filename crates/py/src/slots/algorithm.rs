//! A Python object that implements a slot: how it is created, how it is called, and how its errors are handled.

use crate::views::{self, Board, Context, Xmit};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::answer;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::scoreboard::Scoreboard;
use ackclock_tcp::time::Time;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use pyo3::PyClass;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// An algorithm that is called more often than this at one instant keeps the simulation from advancing.
const AT_ONE_MOMENT: u64 = 1_000_000;

/// The state shared by all algorithms of one call: the first error, and the simulated time.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    now: AtomicU64,
    /// The number of calls since time advanced.
    asked: AtomicU64,
    failed: AtomicBool,
    first: Mutex<Option<Fault>>,
}

/// The error that ends a run.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The simulated time.
    pub(crate) at: Time,
    /// File and class.
    pub(crate) algorithm: String,
    /// The method that was called.
    pub(crate) method: &'static str,
    /// The exception that it raised.
    pub(crate) error: PyErr,
}

impl Watch {
    /// A run begins.
    pub(crate) fn begin(&self) {
        self.now.store(0, Ordering::Relaxed);
        self.asked.store(0, Ordering::Relaxed);
    }

    /// The first error, once.
    pub(crate) fn take(&self) -> Option<Fault> {
        if !self.failed.swap(false, Ordering::Relaxed) {
            return None;
        }
        self.first.lock().ok()?.take()
    }

    /// Records a call; returns whether simulated time still advances.
    fn goes_on(&self, now: Option<Time>) -> bool {
        match now {
            Some(now) if now.0 != self.now.load(Ordering::Relaxed) => {
                self.now.store(now.0, Ordering::Relaxed);
                self.asked.store(0, Ordering::Relaxed);
                true
            }
            _ => self.asked.fetch_add(1, Ordering::Relaxed) < AT_ONE_MOMENT,
        }
    }

    /// Whether the run has failed: no Python is called any more.
    fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Keeps an error, if it is the first.
    pub(super) fn fail(&self, algorithm: &str, method: &'static str, error: PyErr) {
        let at = Time(self.now.load(Ordering::Relaxed));
        let fault = Fault { at, algorithm: algorithm.to_owned(), method, error };
        if let Ok(mut first) = self.first.lock() {
            first.get_or_insert(fault);
        }
        self.failed.store(true, Ordering::Relaxed);
    }
}

/// Creates the objects of one class with its parameters: one for each flow, or for each direction of a link.
pub(super) struct Maker {
    /// A callable: takes the maximum segment size, or the seed of a path element, and returns an object.
    pub(super) make: Py<PyAny>,
    /// The class itself.
    pub(super) class: Py<PyAny>,
    /// The slot's base class.
    pub(super) base: Py<PyAny>,
    /// File and class, for messages.
    pub(super) name: String,
    pub(super) watch: Arc<Watch>,
}

impl Maker {
    /// A new object. If it cannot be created, it counts as failed and returns nothing.
    pub(super) fn make(&self, given: u64) -> Algorithm {
        let (name, watch) = (self.name.clone(), Arc::clone(&self.watch));
        Python::attach(|py| {
            let object = match self.make.call1(py, (given,)) {
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

/// An object that implements a slot.
pub(super) struct Algorithm {
    object: Option<Py<PyAny>>,
    base: Py<PyAny>,
    name: String,
    watch: Arc<Watch>,
}

/// A bound method of the object; empty if the class does not override its base.
pub(super) struct Hook {
    method: &'static str,
    bound: Option<Py<PyAny>>,
}

impl Algorithm {
    /// The method with this name. A method that only the base class has is never called: the engine implements it.
    pub(super) fn hook(&self, method: &'static str) -> Hook {
        self.bind(method, true)
    }

    /// The method with this name, even if only the base class has it.
    pub(super) fn method(&self, method: &'static str) -> Hook {
        self.bind(method, false)
    }

    fn bind(&self, method: &'static str, own: bool) -> Hook {
        let find = |py: Python<'_>| {
            let Some(object) = &self.object else { return Ok(None) };
            let bound = object.bind(py).getattr(method)?;
            let inherited = self.base.bind(py).getattr(method)?;
            let left = own && bound.getattr_opt("__func__")?.is_some_and(|f| f.is(&inherited));
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

    /// Calls a method at `now`; `call` calls it and reads its result. An error ends the run: in that case, and if the
    /// class lacks the method, the result is `otherwise`.
    pub(super) fn ask<R>(
        &self,
        hook: &Hook,
        now: Option<Time>,
        otherwise: R,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> R {
        let Some(bound) = hook.bound.as_ref().filter(|_| !self.watch.failed()) else { return otherwise };
        let answer = match self.watch.goes_on(now) {
            true => Python::attach(|py| call(bound.bind(py))),
            false => Err(PyRuntimeError::new_err(format!(
                "was called {AT_ONE_MOMENT} times without simulated time advancing; it must let time advance"
            ))),
        };
        answer.unwrap_or_else(|e| {
            self.watch.fail(&self.name, hook.method, e);
            otherwise
        })
    }

    /// Asks the owner of a phase for the next transmission.
    pub(super) fn next(&self, hook: &Hook, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<answer::Xmit> {
        self.ask(hook, Some(cx.now), None, |f| {
            let w = views::Window::read(w);
            let answer = Board::lend(f.py(), board, |lent| f.call1((w, lent, Context(*cx))))?;
            sendable(&answer, board, cx)
        })
    }

    /// Calls a method for information; its result is ignored.
    pub(super) fn tell<A>(&self, hook: &Hook, now: Option<Time>, what: impl FnOnce() -> A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        self.ask(hook, now, (), |f| f.call1(what()).map(drop));
    }
}

impl Hook {
    /// Whether the class has the method.
    pub(super) fn is_there(&self) -> bool {
        self.bound.is_some()
    }
}

/// The error for an invalid result of a method.
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

/// A whole number in a range, or None.
pub(super) fn whole_or_none(answer: &Bound<'_, PyAny>, least: u64, most: u64) -> PyResult<Option<u64>> {
    if answer.is_none() {
        return Ok(None);
    }
    let number = answer.extract::<u64>().ok().filter(|n| (least..=most).contains(n));
    number.map(Some).ok_or_else(|| senseless(answer, &format!("None, or a whole number from {least} to {most}")))
}

/// A moment, or None.
pub(super) fn moment(answer: &Bound<'_, PyAny>) -> PyResult<Option<Time>> {
    Ok(whole_or_none(answer, 0, LATEST)?.map(Time))
}

/// The latest time that an algorithm may return, ns.
pub(super) const LATEST: u64 = 1 << 60;
/// The longest duration that a method may return, ns: thirteen days.
pub(super) const LONGEST: u64 = 1 << 50;

/// An object of a result class.
pub(super) fn answered<'a, 'py, T: PyClass<Frozen = True> + Sync>(
    answer: &'a Bound<'py, PyAny>,
    allowed: &str,
) -> PyResult<&'a T> {
    answer.cast::<T>().map(|b| b.get()).map_err(|_| senseless(answer, allowed))
}

/// A transmission that is possible now.
fn sendable(answer: &Bound<'_, PyAny>, board: &Scoreboard, cx: &Ctx) -> PyResult<Option<answer::Xmit>> {
    if answer.is_none() {
        return Ok(None);
    }
    let x = answered::<Xmit>(answer, "None, Xmit.NEW or Xmit.again(offset)")?.0;
    match x {
        answer::Xmit::New if cx.next_len == 0 => Err(senseless(answer, "Xmit.NEW only where cx.next_len is above 0")),
        answer::Xmit::Again(at) if board.get(at).is_none() => {
            Err(senseless(answer, "Xmit.again only with an offset that is outstanding"))
        }
        x => Ok(Some(x)),
    }
}
