//! The identity of a run: the hash of its inputs. The results have the trace hash.

use crate::scenario::Plan;
use crate::RESULTS_REVISION;
use xxhash_rust::xxh3::xxh3_128;

/// The identity of the run of `plan` with `seed`, as `xxh3-128:` and 32 hexadecimal digits: XXH3-128 over canonical JSON, with the
/// keys `revision` (of results), `scenario` (as [`Plan::to_toml`] writes it, without names for display and what is measured), `seed` and
/// `stacks`. Canonical: UTF-8, keys sorted, no spaces, and of each number the shortest form that reads the same.
pub fn identity(plan: &Plan, seed: u64) -> String {
    Identities::of(plan).with(seed)
}

/// The identities of the runs of one plan with any seed: what they have in common is written once.
#[derive(Debug)]
pub struct Identities {
    before_seed: String,
    after_seed: String,
}

impl Identities {
    /// Writes the inputs of `plan`, apart from the seed.
    pub fn of(plan: &Plan) -> Self {
        let (mut scenario, mut stacks) = plan.inputs();
        scenario.sort_all_objects();
        stacks.sort_all_objects();
        Identities {
            before_seed: format!("{{\"revision\":{RESULTS_REVISION},\"scenario\":{scenario},\"seed\":"),
            after_seed: format!(",\"stacks\":{stacks}}}"),
        }
    }

    /// The canonical JSON of the run with this seed.
    pub fn json(&self, seed: u64) -> String {
        format!("{}{seed}{}", self.before_seed, self.after_seed)
    }

    /// See [`identity`].
    pub fn with(&self, seed: u64) -> String {
        format!("xxh3-128:{:032x}", xxh3_128(self.json(seed).as_bytes()))
    }
}
