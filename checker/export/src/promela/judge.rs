//! The rules about states, as alternatives of the process that judges them.

use super::sets;
use crate::arrivals::{Key, arrivals};
use crate::columns::Barriers;
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
        for bar in 0..barriers.ids().len() {
            let _ = writeln!(
                out,
                "\t:: d_step {{ !ended && ALL_EXITED && HOLDS_ARRIVALS({bar}) -> noted(dangling_arrival) }}"
            );
        }
    }
}
