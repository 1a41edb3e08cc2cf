//! How a slot's enum forwards a call to its algorithm.

/// `dispatch!(self, AnyRecovery: Tahoe | Reno | Custom, x => x.next(w))`: one match, no vtable on the hot path.
macro_rules! dispatch {
    ($self:expr, $any:ident: $($variant:ident)|+, $x:ident => $call:expr) => {
        match $self { $($any::$variant($x) => $call),+ }
    };
}
pub(crate) use dispatch;

use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::sync::Arc;

/// Reads a kind that has no parameters: any other key is refused. (By default, serde accepts any keys beside a variant
/// without fields.)
pub(crate) fn no_parameters<'de, D: Deserializer<'de>>(d: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Empty {}
    Empty::deserialize(d).map(|Empty {}| ())
}

/// Builds a custom algorithm for one flow; the argument is the maximum segment size.
pub type Make<T> = dyn Fn(u32) -> Box<T> + Send + Sync;

/// An algorithm from outside the crate: a factory, so that one stack serves many flows. It is written as its
/// name and the identity of its code.
#[derive(Serialize)]
pub struct Factory<T: ?Sized> {
    /// Name for people.
    pub name: String,
    /// Hash of the algorithm's source: part of a run's identity.
    pub identity: u64,
    /// Builds an instance for one flow.
    #[serde(skip)]
    pub make: Arc<Make<T>>,
}

impl<T: ?Sized> Clone for Factory<T> {
    fn clone(&self) -> Self {
        Factory { name: self.name.clone(), identity: self.identity, make: Arc::clone(&self.make) }
    }
}

impl<T: ?Sized> fmt::Debug for Factory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "custom \"{}\" ({:016x})", self.name, self.identity)
    }
}

impl<T: ?Sized> PartialEq for Factory<T> {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity && self.name == other.name
    }
}
