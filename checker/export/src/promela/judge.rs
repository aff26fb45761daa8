//! The rules about states, as alternatives of the process that judges them.

use super::sets;
use crate::arrivals::{Key, arrivals};
use crate::columns::{Barriers, Sort, identifier};
use crate::group::Group;
use barcheck_model::rule::Rule;
use std::fmt::Write as _;

/// The alternatives.
pub(super) fn judge(group: &Group, barriers: &Barriers, out: &mut String) {
    if group.is_error(Rule::ArrivalRace) {
        for (key, standing) in arrivals(group, barriers) {
            let Key { bar, producers, consumers } = key;
            let text = match consumers {
                None => format!("{bar}, {producers}, {}", sets::standing(group, &standing[0])),
                Some(consumers) => format!(
                    "{bar}, {producers}, {consumers}, {}, {}",
                    sets::standing(group, &standing[0]),
                    sets::standing(group, &standing[1])
                ),
            };
            let _ = writeln!(out, "\t:: d_step {{ RACE({text}) -> noted(arrival_race) }}");
        }
    }
    if group.is_error(Rule::DanglingArrival) {
        let landed = if group.slots() > 0 { "!aloft && " } else { "" };
        let generations = barriers.of_sort(Sort::Generations).enumerate();
        let objects = barriers.of_sort(Sort::Object).enumerate();
        let holds = generations
            .map(|(bar, _)| format!("HOLDS_ARRIVALS({bar})"))
            .chain(objects.map(|(object, _)| format!("OBJECT_HOLDS_ARRIVALS({object})")));
        for holds in holds {
            let _ = writeln!(
                out,
                "\t:: d_step {{ !ended && ALL_EXITED && {landed}{holds} -> noted(dangling_arrival) }}"
            );
        }
    }
    if group.slots() > 0 {
        for rule in [Rule::at_exit(false), Rule::at_exit(true)] {
            if group.is_error(rule) {
                let _ = writeln!(
                    out,
                    "\t:: d_step {{ !ended && aloft -> look_for_left({}); if :: any -> noted({}) :: else fi }}",
                    u8::from(rule == Rule::at_exit(true)),
                    identifier(rule)
                );
            }
        }
    }
}
