//! Which lanes of a warp may come where.

use super::code::Operation;
use super::evaluate::{Evaluation, Way};
use super::lanes::WIDTH;
use super::value::{Term, ValueId, Values};

/// Terms that are looked at for one condition.
const TERMS: u32 = 1_000;

/// For each node the lanes of a warp that may reach it, as far as known numbers decide that.
pub(super) fn reaching(values: &Values, then: &[Option<Way>], live: usize) -> Vec<u32> {
    let all = u32::MAX >> (WIDTH - live.clamp(1, WIDTH));
    let mut lanes = vec![0; then.len()];
    let mut work = vec![(0, all)];
    while let Some((node, more)) = work.pop() {
        let Some(known) = lanes.get_mut(node) else { continue };
        if more & !*known == 0 {
            continue;
        }
        *known |= more;
        let here = *known;
        match then[node] {
            Some(Way::To(to)) => work.push((to, here)),
            Some(Way::Branch(condition, taken, other)) => {
                let (may_hold, may_fail) = outcomes(values, condition, &mut { TERMS });
                work.push((taken, here & may_hold));
                work.push((other, here & may_fail));
            }
            None => {}
        }
    }
    lanes
}

/// The lanes for which a condition may hold, and those for which it may not: of `c && lane < 8` the first
/// are no others than those below 8.
fn outcomes(values: &Values, condition: ValueId, left: &mut u32) -> (u32, u32) {
    const ANY: (u32, u32) = (u32::MAX, u32::MAX);
    *left = left.saturating_sub(1);
    if let Some(holds) = holding(values, condition) {
        return (holds, !holds);
    }
    match values.term(condition) {
        Term::Apply { operation, terms, .. } if *left > 0 && values.width(condition) <= 1 => {
            // Of a wider term another bit may be set.
            let mut all = terms.iter().map(|term| match values.width(*term) {
                0..=1 => outcomes(values, *term, left),
                _ => ANY,
            });
            match operation {
                Operation::And => all.fold((u32::MAX, 0), |a, b| (a.0 & b.0, a.1 | b.1)),
                Operation::Or => all.fold((0, u32::MAX), |a, b| (a.0 | b.0, a.1 & b.1)),
                Operation::LogicalNot => all.next().map_or(ANY, |(a, b)| (b, a)),
                _ => ANY,
            }
        }
        _ => ANY,
    }
}

/// The lanes for which a condition holds, if that is known.
fn holding(values: &Values, condition: ValueId) -> Option<u32> {
    let known = values.as_known(condition)?;
    Some((0..WIDTH).fold(0, |mask, lane| mask | u32::from(known.get(lane) != 0) << lane))
}

/// Branches at which all lanes that may come there go the same way, and where that leads.
pub(super) fn one_way(values: &Values, evaluation: &Evaluation) -> Vec<(usize, usize)> {
    let branches = evaluation.then.iter().enumerate().filter_map(|(node, way)| match way {
        Some(Way::Branch(condition, taken, other)) => {
            let (holds, lanes) = (holding(values, *condition)?, evaluation.lanes[node]);
            match (lanes & holds, lanes & !holds) {
                (_, 0) => Some((node, *taken)),
                (0, _) => Some((node, *other)),
                _ => None,
            }
        }
        _ => None,
    });
    branches.collect()
}
