//! smoltcp as the subject of scripts that run in one process.

use crate::stack::Stack;
use ackclock_conform::engine::System;
use ackclock_conform::run::Config;
use ackclock_conform::suite::Subject;
use ackclock_conform::tcp::Tcp;

/// smoltcp, new for each script.
pub(crate) struct Smoltcp {
    /// The system that the scripts expect.
    pub(crate) system: System,
}

impl Subject for Smoltcp {
    fn system(&self) -> System {
        self.system
    }

    fn fresh(&self, config: &Config) -> Result<Box<dyn Tcp + '_>, String> {
        Ok(Box::new(Stack::new(config.local.ip(), config.mtu)?))
    }
}
