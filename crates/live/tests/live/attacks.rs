//! Attacks on a host behind a device. `tools/dev campaign attacks` measures them with more packets.

use crate::attack::ATTACKS;
use crate::live_victim::run;
use crate::trial;
use libtest_mimic::Trial;

/// The attacks of the known kinds: floods of SYNs and of ACKs, optimistic ACKs, tiny segments, SACK blocks, pieces, closed windows.
const PLAYED: &[&str] = &[
    "syn-flood",
    "ack-flood-outside",
    "ack-flood-unsent",
    "tiny-mss",
    "sack-splits",
    "sack-all-but-one",
    "pieces-anywhere",
    "zero-window",
];
/// Packets of each.
const COUNT: u64 = 2_000;

fn is_within_its_bounds(name: &'static str) {
    let played = |name| ATTACKS.iter().find(|attack| attack.name == name).unwrap();
    let (attack, honest) = (played(name), run(played("honest"), COUNT).unwrap());
    let damage = run(attack, COUNT).unwrap();
    // The tests' profile recounts the scoreboard at each ACK, which is dear with 21,845 segments; `tools/dev campaign attacks` does not.
    if name != "sack-all-but-one" {
        assert!(damage.each() <= 4.0 * honest.each(), "{damage:?}, honest {honest:?}");
    }
    assert!(damage.packets >= COUNT, "{damage:?}");
    assert!(damage.within(attack), "{damage:?}, at most {} answers", damage.most_answers(attack));
}

pub(crate) fn trials() -> Vec<Trial> {
    let name = |attack: &str| format!("a_host_behind_a_device_bears_{}_and_serves_others", attack.replace('-', "_"));
    PLAYED.iter().map(|attack| trial(name(attack), || is_within_its_bounds(attack))).collect()
}
