//! Questions about the graph of all reachable states.

/// The states from which one of the marked states can be reached, the marked ones included.
pub fn can_reach(edges: &[Vec<usize>], marked: &[bool]) -> Vec<bool> {
    let mut back = vec![Vec::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        for &to in targets {
            back[to].push(from);
        }
    }
    let mut reached = marked.to_vec();
    let mut work: Vec<usize> = (0..edges.len()).filter(|&s| marked[s]).collect();
    while let Some(state) = work.pop() {
        for &from in &back[state] {
            if !reached[from] {
                reached[from] = true;
                work.push(from);
            }
        }
    }
    reached
}

/// The states from which some path never ends: what is left when states without a successor are
/// taken away again and again.
pub fn can_run_for_ever(edges: &[Vec<usize>]) -> Vec<bool> {
    let mut back = vec![Vec::new(); edges.len()];
    let mut left: Vec<usize> = edges.iter().map(Vec::len).collect();
    for (from, targets) in edges.iter().enumerate() {
        for &to in targets {
            back[to].push(from);
        }
    }
    let mut work: Vec<usize> = (0..edges.len()).filter(|&s| left[s] == 0).collect();
    while let Some(state) = work.pop() {
        for &from in &back[state] {
            left[from] -= 1;
            if left[from] == 0 {
                work.push(from);
            }
        }
    }
    left.iter().map(|&n| n > 0).collect()
}

/// The states that a state can reach, itself included.
pub fn reachable(edges: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut reached = vec![false; edges.len()];
    let mut work = vec![from];
    reached[from] = true;
    while let Some(state) = work.pop() {
        for &to in &edges[state] {
            if !reached[to] {
                reached[to] = true;
                work.push(to);
            }
        }
    }
    reached
}
