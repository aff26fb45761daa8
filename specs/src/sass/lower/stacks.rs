//! Where `SYNC`, `BRK` and `CONT` lead on chips before sm_70: `SSY`, `PBK` and `PCNT` push it on a stack.

use std::collections::{HashMap, HashSet};

use crate::sass::syntax::Listing;

use super::routes::{Pushed, Route, follows, route};

/// A stack: its top, and what is below. Stacks are numbers here.
type Stack = usize;

/// Pairs of an instruction and a stack that are looked at.
const PAIRS: usize = 400_000;

#[derive(Default)]
struct Stacks {
    all: Vec<(Pushed, usize, Option<Stack>)>,
    known: HashMap<(Pushed, usize, Option<Stack>), Stack>,
}

impl Stacks {
    fn push(&mut self, pushed: Pushed, to: usize, below: Option<Stack>) -> Stack {
        let next = self.all.len();
        let stack = *self.known.entry((pushed, to, below)).or_insert(next);
        if stack == next {
            self.all.push((pushed, to, below));
        }
        stack
    }

    /// The innermost of a kind, and what is below it.
    fn pop(&self, pushed: Pushed, mut stack: Option<Stack>) -> Option<(usize, Option<Stack>)> {
        while let Some(top) = stack {
            let (kind, to, below) = self.all[top];
            if kind == pushed {
                return Some((to, below));
            }
            stack = below;
        }
        None
    }
}

/// For each instruction that takes from the stack, from one on, where it leads: those that lead to several
/// places, or to none, are left out.
pub(super) fn pops(listing: &Listing<'_>, here: usize, start: usize) -> HashMap<usize, usize> {
    let function = &listing.functions[here];
    if !function.has_stack {
        return HashMap::new();
    }
    let mut stacks = Stacks::default();
    let mut found: HashMap<usize, HashSet<Option<usize>>> = HashMap::new();
    let mut seen: HashSet<(usize, Option<Stack>)> = HashSet::new();
    let mut work: Vec<(usize, Option<Stack>)> = vec![(start, None)];
    while let Some((at, stack)) = work.pop() {
        if at >= function.statements.len() || !seen.insert((at, stack)) {
            continue;
        }
        if seen.len() > PAIRS {
            return HashMap::new();
        }
        let (goes_on, others) = follows(listing, here, at, &HashMap::new());
        let mut behind = stack;
        match route(listing, here, at) {
            Route::Push(pushed, to) => behind = Some(stacks.push(pushed, to, stack)),
            Route::Pop(pushed) => {
                let popped = stacks.pop(pushed, stack);
                found.entry(at).or_default().insert(popped.map(|(to, _)| to));
                work.extend(popped);
            }
            _ => {}
        }
        work.extend(others.into_iter().map(|to| (to, stack)));
        work.extend(goes_on.then_some((at + 1, behind)));
    }
    let single =
        |(at, targets): (usize, HashSet<Option<usize>>)| match targets.into_iter().collect::<Vec<_>>()[..] {
            [Some(to)] => Some((at, to)),
            _ => None,
        };
    found.into_iter().filter_map(single).collect()
}
