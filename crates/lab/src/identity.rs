//! The identity of a run: the hash of its inputs. The results have the trace hash.

use crate::scenario::Plan;
use crate::RESULTS_REVISION;
use xxhash_rust::xxh3::xxh3_128;

/// The identity of the run of `plan` with `seed`: XXH3-128 over the scenario without its name, the stacks, the seed and
/// the results revision, as `xxh3-128:` and 32 hexadecimal digits.
pub fn identity(plan: &Plan, seed: u64) -> String {
    let mut scenario = plan.scenario.clone();
    scenario.name.clear();
    let what = format!("{RESULTS_REVISION}\n{seed}\n{scenario:?}\n{:?}", plan.stacks);
    format!("xxh3-128:{:032x}", xxh3_128(what.as_bytes()))
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
        assert_eq!(of(&format!("name = \"other\"\n{TEXT}"), 1), same);
        assert_eq!(of(&TEXT.replace("1 ms", "1000 us"), 1), same);
        for other in [of(TEXT, 2), of(&TEXT.replace("1 ms", "2 ms"), 1), of(&TEXT.replace("reno", "tahoe"), 1)] {
            assert_ne!(other, same);
        }
    }
}
