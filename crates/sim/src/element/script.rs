//! Scripted losses, delays and duplicates: the fate of the n-th packet that arrives.

use super::direction::DirectionSpec;
use super::packet::{Fate, Only, Place};
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, GateKind, Site};
use crate::error::Fault;
use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Drops, duplicates or delays chosen arrivals, numbered from 0, retransmissions included. At least one must be chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(title = "Chosen packets (script)", extend("examples" = [{ "drop": [20] }]))]
pub struct ScriptSpec {
    /// Where on the link (a packet dropped at the exit has used up its transmission slot).
    pub at: Place,
    /// The packets that are counted and treated.
    pub only: Only,
    /// The flow whose packets are counted and treated, in the order of the scenario; `None`: all traffic.
    pub flow: Option<u32>,
    /// The actions and the arrivals that they concern; at most one rule for each arrival.
    pub rules: Vec<ScriptRule>,
}

/// One line of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptRule {
    /// The number of the arrival, from 0, retransmissions included.
    pub nth: u64,
    /// The action on it.
    pub action: ScriptAction,
}

/// A script's action on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptAction {
    /// It disappears.
    Drop,
    /// It passes after this delay; others overtake it.
    Delay(Nanos),
    /// It passes twice.
    Duplicate,
}

/// As it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = [{ "required": ["drop"] }, { "required": ["duplicate"] }, { "required": ["delay"] }]))]
struct Written {
    /// Arrivals to drop, as in `[14, 26]`.
    #[serde(default)]
    drop: Vec<u64>,
    /// Arrivals to duplicate.
    #[serde(default)]
    duplicate: Vec<u64>,
    /// Arrivals to delay; later packets overtake them.
    #[serde(default)]
    delay: Vec<Late>,
    /// Where on the link.
    #[serde(default)]
    at: Place,
    /// The packets that are counted. Default: all packets.
    #[serde(default, skip_serializing_if = "Only::is_all")]
    only: Only,
    /// The flow whose packets are counted, by its number from 0 as traces have it. Default: all traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flow: Option<u32>,
}

/// One arrival to delay.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "delay")]
struct Late {
    /// Number of the arrival, from 0.
    nth: u64,
    /// Length of the delay.
    by: Nanos,
}

impl TryFrom<Written> for ScriptSpec {
    type Error = Fault;

    fn try_from(w: Written) -> Result<Self, Fault> {
        let Written { drop, duplicate, delay, at, only, flow } = w;
        let drop = drop.into_iter().map(|nth| ScriptRule { nth, action: ScriptAction::Drop });
        let duplicate = duplicate.into_iter().map(|nth| ScriptRule { nth, action: ScriptAction::Duplicate });
        let delay = delay.into_iter().map(|Late { nth, by }| ScriptRule { nth, action: ScriptAction::Delay(by) });
        let mut rules: Vec<ScriptRule> = Vec::new();
        for (key, list) in
            [("drop", drop.collect::<Vec<_>>()), ("duplicate", duplicate.collect()), ("delay", delay.collect())]
        {
            for (i, rule) in list.into_iter().enumerate() {
                if rules.iter().any(|r| r.nth == rule.nth) {
                    let found = format!("arrival {} a second time", rule.nth);
                    return Err(Fault::of(format!("{key}[{i}]"), found, "one rule for each arrival"));
                }
                rules.push(rule);
            }
        }
        if rules.is_empty() {
            return Err(Fault::of("", "a script without a rule", "at least one of the keys drop, delay, duplicate"));
        }
        rules.sort_by_key(|r| r.nth);
        Ok(ScriptSpec { at, only, flow, rules })
    }
}

impl From<ScriptSpec> for Written {
    fn from(s: ScriptSpec) -> Self {
        let ScriptSpec { at, only, flow, rules } = s;
        let (mut drop, mut duplicate, mut delay) = (Vec::new(), Vec::new(), Vec::new());
        for ScriptRule { nth, action } in rules {
            match action {
                ScriptAction::Drop => drop.push(nth),
                ScriptAction::Duplicate => duplicate.push(nth),
                ScriptAction::Delay(by) => delay.push(Late { nth, by }),
            }
        }
        Written { drop, duplicate, delay, at, only, flow }
    }
}

impl Element for ScriptSpec {
    fn properties(&self) -> Properties {
        let does = |what: fn(&ScriptAction) -> bool| self.rules.iter().any(|r| what(&r.action));
        let delays = does(|a| matches!(a, ScriptAction::Delay(_)));
        let duplicates = does(|a| *a == ScriptAction::Duplicate);
        let exit = self.at == Place::Exit;
        Properties {
            acts: Acts::of(exit, delays),
            bunches: exit && (delays || duplicates),
            rate: RateUse::None,
            beside_split: !exit,
            only_one: None,
            reorders: delays,
            loses: does(|a| *a == ScriptAction::Drop),
            duplicates,
            only: self.only,
            flow: self.flow,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        let mut nths: Vec<u64> = self.rules.iter().map(|r| r.nth).collect();
        nths.sort_unstable();
        if let Some(w) = nths.windows(2).find(|w| w[0] == w[1]) {
            return Some(Fault::of("", format!("two rules for arrival {}", w[0]), "one rule for each arrival"));
        }
        let delays = self.rules.iter().filter_map(|r| match r.action {
            ScriptAction::Delay(by) => Some(by),
            ScriptAction::Drop | ScriptAction::Duplicate => None,
        });
        delays.enumerate().find_map(|(i, by)| Fault::above_zero(format!("delay[{i}].by"), by))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        site.gate(self.at, self.only, GateKind::Script(Script::new(&self.rules, self.flow)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let of = |flow, at, only, actions: &[ScriptAction]| {
            let rules = actions.iter().zip(0..).map(|(action, i)| ScriptRule { nth: 20 + 7 * i, action: *action });
            ElementSpec::Script(ScriptSpec { at, only, flow, rules: rules.collect() })
        };
        let script = |at, only, actions: &[ScriptAction]| of(None, at, only, actions);
        let delay = ScriptAction::Delay(Nanos::from_millis(30));
        vec![
            script(Place::Entry, Only::All, &[ScriptAction::Drop; 3]),
            script(Place::Exit, Only::Data, &[ScriptAction::Drop; 3]),
            script(Place::Entry, Only::All, &[ScriptAction::Duplicate; 3]),
            script(Place::Exit, Only::All, &[ScriptAction::Duplicate; 3]),
            script(Place::Entry, Only::Data, &[delay; 3]),
            script(Place::Exit, Only::All, &[delay, ScriptAction::Drop, ScriptAction::Duplicate]),
            of(Some(0), Place::Entry, Only::Data, &[ScriptAction::Drop; 3]),
        ]
    }
}

pub(crate) struct Script {
    /// In the order of arrivals, at most one for each.
    rules: Vec<ScriptRule>,
    next: usize,
    flow: Option<u32>,
}

impl Script {
    pub(crate) fn new(rules: &[ScriptRule], flow: Option<u32>) -> Self {
        let mut rules = rules.to_vec();
        rules.sort_by_key(|r| r.nth);
        Script { rules, next: 0, flow }
    }

    /// Whether packets of this flow are counted.
    #[inline]
    pub(crate) fn covers(&self, flow: u32) -> bool {
        self.flow.is_none_or(|only| only == flow)
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

    #[test]
    fn a_rule_applies_to_the_arrival_that_it_names_in_whatever_order_the_rules_are() {
        let rule = |nth, action| ScriptRule { nth, action };
        let mut s = Script::new(
            &[rule(4, ScriptAction::Duplicate), rule(1, ScriptAction::Drop), rule(2, ScriptAction::Delay(Nanos(9)))],
            None,
        );
        let fates: Vec<Fate> = (0..6).map(|n| s.judge(n)).collect();
        let drop = Fate::Drop(DropWhy::Script);
        assert_eq!(fates, [Fate::Pass, drop, Fate::Delay(Nanos(9)), Fate::Pass, Fate::Duplicate, Fate::Pass]);
    }
}
