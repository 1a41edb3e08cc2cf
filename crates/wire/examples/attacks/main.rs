//! Runs an attack with a number of packets, and prints its damage; `tools/dev campaign attacks` counts its instructions. Without arguments it
//! lists the attacks.

mod attack;
#[path = "../../../../tests/fuzz/heap.rs"]
mod heap;
mod victim;

use attack::ATTACKS;
use victim::InMemory;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, count] = &words[..] else {
        ATTACKS.iter().for_each(|attack| println!("{}", attack.name));
        return;
    };
    let (Some(attack), Ok(count)) = (ATTACKS.iter().find(|a| a.name == name), count.parse()) else {
        eprintln!("found {name} {count}, allowed: a listed attack, and a number of packets");
        std::process::exit(2);
    };
    let (mut victim, bytes, _) = heap::measured(|| {
        let mut victim = InMemory::new();
        (attack.run)(&mut victim, count);
        victim
    });
    let damage = victim.damage();
    println!("outcome {}", damage.packets);
    println!("answers {} of at most {}", damage.answers, attack.most_answers(damage.packets));
    println!("kept {bytes} of at most {}", attack.kept);
    println!("in {} connections; others are served: {}", damage.connections, victim.opens());
}
