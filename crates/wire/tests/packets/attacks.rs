//! Attackers of a host: its answers and its memory stay within the bounds of each attack, whatever the number of packets. Their
//! work is counted by `tools/dev campaign attacks`.

use crate::attack::{ATTACKS, BACKLOG};
use crate::fuzz::heap::measured;
use crate::victim::InMemory;

#[test]
fn no_attack_makes_a_host_answer_or_keep_more_than_its_bound() {
    for attack in ATTACKS {
        for count in [500, 20_000] {
            let (damage, kept, _) = measured(|| {
                let mut victim = InMemory::new();
                (attack.run)(&mut victim, count);
                victim.damage()
            });
            let name = attack.name;
            assert!(damage.packets >= count, "{name}: {damage:?}");
            assert!(damage.answers <= attack.most_answers(damage.packets), "{name}: {damage:?}");
            assert!(kept <= attack.kept, "{name}: {kept} bytes, the bound is {}", attack.kept);
            assert!(damage.connections <= BACKLOG, "{name}: {damage:?}");
            // An answer to a SYN is hardly longer than the SYN.
            assert!(name != "syn-flood" || damage.answer_bytes <= 60 * damage.packets, "{name}: {damage:?}");
        }
    }
}

#[test]
fn a_host_under_a_flood_of_syns_still_serves_others() {
    let mut victim = InMemory::new();
    let flood = ATTACKS.iter().find(|attack| attack.name == "syn-flood").unwrap();
    (flood.run)(&mut victim, 10_000);
    assert!(victim.opens(), "{:?}", victim.damage());
}

#[test]
fn the_smallest_segments_that_a_peer_can_ask_for_carry_48_bytes() {
    let mut victim = InMemory::new();
    let tiny = ATTACKS.iter().find(|attack| attack.name == "tiny-mss").unwrap();
    (tiny.run)(&mut victim, 1000);
    let damage = victim.damage();
    assert!(damage.data_bytes >= 47 * damage.answers && damage.answers > 1000, "{damage:?}");
}
