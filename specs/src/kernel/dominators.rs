//! Immediate dominators (Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, 2001).

/// The nodes that are reached from `root`, each behind those that lead to it but for cycles.
pub(super) fn reverse_postorder(root: usize, after: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; after.len()];
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, edge)) = stack.last_mut() {
        match after[*node].get(*edge).copied() {
            Some(next) => {
                *edge += 1;
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push((next, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// The immediate dominator of every node in the graph with these edges; `None` for the root and for what is
/// not reached.
pub(super) fn immediate(root: usize, after: &[Vec<usize>]) -> Vec<Option<usize>> {
    let order = reverse_postorder(root, after);
    let mut number = vec![usize::MAX; after.len()];
    for (position, node) in order.iter().enumerate() {
        number[*node] = position;
    }
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
    for (position, node) in order.iter().enumerate() {
        after[*node].iter().for_each(|to| before[number[*to]].push(position));
    }
    // Positions in the order instead of nodes.
    let mut dominator = vec![usize::MAX; order.len()];
    dominator[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for position in 1..order.len() {
            let known = before[position].iter().copied().filter(|from| dominator[*from] != usize::MAX);
            let Some(common) = known.reduce(|a, b| meet(&dominator, a, b)) else { continue };
            if dominator[position] != common {
                dominator[position] = common;
                changed = true;
            }
        }
    }
    let mut immediate = vec![None; after.len()];
    for position in 1..order.len() {
        immediate[order[position]] = Some(order[dominator[position]]);
    }
    immediate
}

/// The closest node that dominates both.
fn meet(dominator: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while a > b {
            a = dominator[a];
        }
        while b > a {
            b = dominator[b];
        }
    }
    a
}

/// Whether one node dominates another.
pub(super) fn dominates(immediate: &[Option<usize>], one: usize, other: usize) -> bool {
    let mut node = other;
    loop {
        if node == one {
            return true;
        }
        match immediate[node] {
            Some(next) => node = next,
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diamond_joins_where_its_arms_do() {
        let after = [vec![1, 2], vec![3], vec![3], vec![]];
        assert_eq!(immediate(0, &after), [None, Some(0), Some(0), Some(0)]);
        assert!(dominates(&immediate(0, &after), 0, 3) && !dominates(&immediate(0, &after), 1, 3));
    }

    #[test]
    fn a_loop_with_two_exits_is_dominated_by_its_header() {
        let after = [vec![1], vec![2, 4], vec![1, 3], vec![4], vec![]];
        assert_eq!(immediate(0, &after), [None, Some(0), Some(1), Some(2), Some(1)]);
    }

    #[test]
    fn what_is_not_reached_has_no_dominator() {
        assert_eq!(immediate(0, &[vec![], vec![0]]), [None, None]);
    }
}
