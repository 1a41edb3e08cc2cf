//! One Python object that answers for a slot: how it is made, how it is asked, and what becomes of its errors.

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

/// Asked more often than this at one moment, an algorithm keeps the simulation from going on.
const AT_ONE_MOMENT: u64 = 1_000_000;

/// What all algorithms of one call have in common: the first error, and the simulated time.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    now: AtomicU64,
    /// How often anything was asked since time went on.
    asked: AtomicU64,
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
        self.asked.store(0, Ordering::Relaxed);
    }

    /// The first error, once.
    pub(crate) fn take(&self) -> Option<Fault> {
        if !self.failed.swap(false, Ordering::Relaxed) {
            return None;
        }
        self.first.lock().ok()?.take()
    }

    /// Notes that something is asked; says whether simulated time still goes on.
    #[inline]
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

    /// Whether the run is lost: then no Python is called any more.
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

/// Makes the objects of one class with its parameters: one for each flow, or for each direction of a link.
pub(super) struct Maker {
    /// A callable: the maximum segment size or the seed of a path element in, an object out.
    pub(super) make: Py<PyAny>,
    /// The class itself.
    pub(super) class: Py<PyAny>,
    /// The slot's base class.
    pub(super) base: Py<PyAny>,
    /// File and class, for people.
    pub(super) name: String,
    pub(super) watch: Arc<Watch>,
}

impl Maker {
    /// A new object; one that cannot be made has failed and answers nothing.
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
        self.bind(method, true)
    }

    /// The method of this name, be it that of the base class.
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
        let answer = match self.watch.goes_on(now) {
            true => Python::attach(|py| call(bound.bind(py))),
            false => Err(PyRuntimeError::new_err(format!(
                "was asked at one moment of simulated time for the {AT_ONE_MOMENT}th time: it must let time go on"
            ))),
        };
        answer.unwrap_or_else(|e| {
            self.watch.fail(&self.name, hook.method, e);
            otherwise
        })
    }

    /// Asks the owner of a phase what to send now.
    pub(super) fn next(&self, hook: &Hook, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<answer::Xmit> {
        self.ask(hook, Some(cx.now), None, |f| {
            let w = views::Window::read(w);
            let answer = Board::lend(f.py(), board, |lent| f.call1((w, lent, Context(*cx))))?;
            sendable(&answer, board, cx)
        })
    }

    /// Tells a method something; what it answers does not matter.
    #[inline]
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

/// The latest moment that an algorithm may speak of, ns.
pub(super) const LATEST: u64 = 1 << 60;
/// The longest time that one may speak of, ns: thirteen days.
pub(super) const LONGEST: u64 = 1 << 50;

/// An object of a class of answers.
pub(super) fn answered<'a, 'py, T: PyClass<Frozen = True> + Sync>(
    answer: &'a Bound<'py, PyAny>,
    allowed: &str,
) -> PyResult<&'a T> {
    answer.cast::<T>().map(|b| b.get()).map_err(|_| senseless(answer, allowed))
}

/// What is to be sent: something that can be sent now.
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
