//! Stand-in until `ackclock_tcp::stack` lands; removed then.
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::time::Nanos;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RtoSpec {
    Rfc6298 {
        #[serde(default = "tick")]
        tick: Nanos,
        #[serde(default)]
        max: Option<Nanos>,
    },
}
fn tick() -> Nanos {
    Nanos::from_millis(10)
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RecoverySpec {
    Tahoe,
    Reno {
        #[serde(default)]
        inflate_segs: u32,
    },
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    pub name: String,
    pub rto: RtoSpec,
    pub recovery: RecoverySpec,
    pub ack: AckSpec,
}
impl Stack {
    pub fn names() -> impl Iterator<Item = &'static str> {
        profiles::PROFILES.iter().map(|p| p.name)
    }
    pub fn named(name: &str) -> Option<Stack> {
        let recovery = match name {
            "tahoe" => RecoverySpec::Tahoe,
            "reno" => RecoverySpec::Reno { inflate_segs: 3 },
            _ => return None,
        };
        let rto = RtoSpec::Rfc6298 { tick: tick(), max: None };
        Some(Stack { name: name.into(), rto, recovery, ack: AckSpec::Every })
    }
    pub fn validate(&self) -> Result<(), StackError> {
        match self.recovery {
            RecoverySpec::Reno { inflate_segs: 99 } => Err(StackError {
                key: "recovery.inflate_segs",
                found: "99".into(),
                allowed: "at most 3 segments".into(),
            }),
            _ => Ok(()),
        }
    }
}
#[derive(Debug)]
pub struct StackError {
    pub key: &'static str,
    pub found: String,
    pub allowed: String,
}
pub mod profiles {
    pub struct Profile {
        pub name: &'static str,
        pub summary: &'static str,
    }
    pub const PROFILES: &[Profile] = &[Profile { name: "tahoe", summary: "t" }, Profile { name: "reno", summary: "r" }];
}
