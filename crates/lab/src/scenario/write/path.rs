//! Elements that make a path reorder or change with time, as inline tables.

use ackclock_sim::scenario::{BelowZero, Draws, RedrawnDelaySpec};

pub(super) fn redrawn_delay(s: &RedrawnDelaySpec) -> String {
    let below_zero = match s.below_zero {
        BelowZero::Again => "again",
        BelowZero::Zero => "zero",
    };
    let draws = match s.draws {
        Draws::Own => "own",
        Draws::Link => "link",
    };
    format!(
        "{{ kind = \"redrawn-delay\", mean = \"{}\", deviation = \"{}\", every = \"{}\", below_zero = \"{below_zero}\", overtaking = {}, draws = \"{draws}\" }}",
        s.mean, s.deviation, s.every, s.overtaking
    )
}
