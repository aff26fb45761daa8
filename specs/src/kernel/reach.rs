//! Which lanes of a warp may come where.

use super::evaluate::Way;
use super::lanes::WIDTH;
use super::value::Values;

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
                let holds = values.as_known(condition).map(|known| {
                    (0..WIDTH).fold(0, |mask, lane| mask | u32::from(known.get(lane) != 0) << lane)
                });
                work.push((taken, here & holds.unwrap_or(u32::MAX)));
                work.push((other, here & !holds.unwrap_or(0)));
            }
            None => {}
        }
    }
    lanes
}
