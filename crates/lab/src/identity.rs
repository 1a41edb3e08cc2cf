//! The identity of a run: the hash of its inputs. The results have the trace hash.

use crate::scenario::Plan;
use crate::RESULTS_REVISION;
use xxhash_rust::xxh3::Xxh3Default;

/// The identity of the run of `plan` with `seed`: XXH3-128 over the scenario without its name, the stacks, the seed and
/// the results revision, as `xxh3-128:` and 32 hexadecimal digits.
pub fn identity(plan: &Plan, seed: u64) -> String {
    Identities::of(plan).with(seed)
}

/// The identities of the runs of one plan with any seed: what they have in common is written once.
#[derive(Debug)]
pub struct Identities {
    inputs: String,
}

impl Identities {
    /// Writes the inputs of `plan`, apart from the seed.
    pub fn of(plan: &Plan) -> Self {
        let mut scenario = plan.scenario.clone();
        scenario.name.clear();
        Identities { inputs: format!("\n{scenario:?}\n{:?}", plan.stacks) }
    }

    /// See [`identity`].
    pub fn with(&self, seed: u64) -> String {
        let mut all = Xxh3Default::new();
        all.update(format!("{RESULTS_REVISION}\n{seed}").as_bytes());
        all.update(self.inputs.as_bytes());
        format!("xxh3-128:{:032x}", all.digest128())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Overrides;

    const TEXT: &str = "[run]\nduration = \"1 s\"\n[[link]]\nfrom = \"A\"\nto = \"B\"\nrate = \"5 Mbps\"\ndelay = \"1 ms\"\n[[flow]]\nfrom = \"A\"\nto = \"B\"\nstack = \"reno\"\n";

    fn of(text: &str, seed: u64) -> String {
        identity(&Plan::parse("x", text, &Overrides::default()).unwrap(), seed)
    }

    #[test]
    fn scenario_stack_and_seed_make_the_identity_and_the_name_does_not() {
        let same = of(TEXT, 1);
        assert_eq!(same.len(), 41);
        let plan = Plan::parse("x", TEXT, &Overrides::default()).unwrap();
        let mut scenario = plan.scenario.clone();
        scenario.name.clear();
        let all = format!("{RESULTS_REVISION}\n1\n{scenario:?}\n{:?}", plan.stacks);
        assert_eq!(same, format!("xxh3-128:{:032x}", xxhash_rust::xxh3::xxh3_128(all.as_bytes())));
        assert_eq!(of(&format!("name = \"other\"\n{TEXT}"), 1), same);
        assert_eq!(of(&TEXT.replace("1 ms", "1000 us"), 1), same);
        for other in [of(TEXT, 2), of(&TEXT.replace("1 ms", "2 ms"), 1), of(&TEXT.replace("reno", "tahoe"), 1)] {
            assert_ne!(other, same);
        }
    }
}
