//! Losses, delays and duplicates by hand: what happens to the n-th packet that comes.

use super::Fate;
use crate::scenario::{ScriptAction, ScriptRule};
use crate::watch::DropWhy;

pub(crate) struct Script {
    /// In the order of arrivals, at most one for each.
    rules: Vec<ScriptRule>,
    next: usize,
}

impl Script {
    pub(crate) fn new(rules: &[ScriptRule]) -> Self {
        let mut rules = rules.to_vec();
        rules.sort_by_key(|r| r.nth);
        Script { rules, next: 0 }
    }

    #[inline]
    pub(crate) fn judge(&mut self, nth: u64) -> Fate {
        match self.rules.get(self.next) {
            Some(rule) if rule.nth == nth => {
                self.next += 1;
                match rule.action {
                    ScriptAction::Drop => Fate::Drop(DropWhy::Script),
                    ScriptAction::Delay(d) => Fate::Delay(d),
                    ScriptAction::Duplicate => Fate::Duplicate,
                }
            }
            _ => Fate::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_tcp::time::Nanos;

    #[test]
    fn a_rule_meets_the_arrival_that_it_names_in_whatever_order_the_rules_stand() {
        let rule = |nth, action| ScriptRule { nth, action };
        let mut s = Script::new(&[
            rule(4, ScriptAction::Duplicate),
            rule(1, ScriptAction::Drop),
            rule(2, ScriptAction::Delay(Nanos(9))),
        ]);
        let fates: Vec<Fate> = (0..6).map(|n| s.judge(n)).collect();
        let drop = Fate::Drop(DropWhy::Script);
        assert_eq!(fates, [Fate::Pass, drop, Fate::Delay(Nanos(9)), Fate::Pass, Fate::Duplicate, Fate::Pass]);
    }
}
