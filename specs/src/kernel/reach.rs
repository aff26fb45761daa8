//! Which lanes of a warp may come where.

use super::evaluate::{Evaluation, Way};
use super::lanes::WIDTH;
use super::value::{ValueId, Values};

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
                let holds = holding(values, condition);
                work.push((taken, here & holds.unwrap_or(u32::MAX)));
                work.push((other, here & !holds.unwrap_or(0)));
            }
            None => {}
        }
    }
    lanes
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
