//! RING and INDEP as models for Stateright, written by hand as one would for speed: a state is a few bytes
//! without indirection.
//!
//! Usage: `compare (ring P C S I WORK | indep W K) (bfs | dfs) THREADS`. Prints states, transitions, seconds
//! and the peak of memory in bytes.

use stateright::{Checker, Model, Property};
use std::time::Instant;

/// Most warps, and most barriers.
const MOST: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Sync(u8),
    Arrive(u8),
    Work,
}

/// What each warp does, and how many warps each barrier waits for.
struct Group {
    programs: Vec<Vec<Op>>,
    expected: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    /// Each warp's next operation; behind the last one its exit, behind that nothing.
    at: [u8; MOST],
    /// Arrivals at each barrier.
    arrived: [u8; MOST],
    /// Warps that are blocked.
    blocked: u16,
}

impl Group {
    /// `specs/protocols/ptx/ring_bare.bar`.
    fn ring(p: u8, c: u8, stages: u8, rounds: u8, work: u8) -> Self {
        let (full, empty) = (|i: u8| 2 * (i % stages), |i: u8| 2 * (i % stages) + 1);
        let producer = || {
            let round = |i| {
                let first = (i >= stages).then(|| Op::Sync(empty(i)));
                first.into_iter().chain((0..work).map(|_| Op::Work)).chain([Op::Arrive(full(i))])
            };
            (0..rounds).flat_map(round).collect()
        };
        let consumer = || {
            let round = |i| {
                let last = (i + stages < rounds).then(|| Op::Arrive(empty(i)));
                [Op::Sync(full(i))].into_iter().chain((0..work).map(|_| Op::Work)).chain(last)
            };
            (0..rounds).flat_map(round).collect()
        };
        let producers = (0..p).map(|_| producer());
        Self { programs: producers.chain((0..c).map(|_| consumer())).collect(), expected: p + c }
    }

    /// `specs/protocols/ptx/independent_pairs.bar`.
    fn indep(warps: u8, rounds: u8) -> Self {
        let program = |warp| (0..rounds).map(|_| Op::Sync(warp / 2)).collect();
        Self { programs: (0..warps).map(program).collect(), expected: 2 }
    }

    fn op(&self, state: &State, warp: usize) -> Option<Op> {
        self.programs[warp].get(usize::from(state.at[warp])).copied()
    }
}

impl Model for Group {
    type State = State;
    type Action = u8;

    fn init_states(&self) -> Vec<State> {
        vec![State { at: [0; MOST], arrived: [0; MOST], blocked: 0 }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<u8>) {
        for (warp, program) in self.programs.iter().enumerate() {
            if state.blocked >> warp & 1 == 0 && usize::from(state.at[warp]) <= program.len() {
                actions.push(u8::try_from(warp).expect("few warps"));
            }
        }
    }

    fn next_state(&self, last: &State, action: u8) -> Option<State> {
        let (mut next, warp) = (*last, usize::from(action));
        let (barrier, waits) = match self.op(last, warp) {
            None | Some(Op::Work) => {
                next.at[warp] += 1;
                return Some(next);
            }
            Some(Op::Sync(barrier)) => (barrier, true),
            Some(Op::Arrive(barrier)) => (barrier, false),
        };
        let arrived = &mut next.arrived[usize::from(barrier)];
        *arrived += 1;
        if *arrived == self.expected {
            *arrived = 0;
            for other in 0..self.programs.len() {
                if last.blocked >> other & 1 == 1 && self.op(last, other) == Some(Op::Sync(barrier)) {
                    next.blocked &= !(1 << other);
                    next.at[other] += 1;
                }
            }
            next.at[warp] += 1;
        } else if waits {
            next.blocked |= 1 << warp;
        } else {
            next.at[warp] += 1;
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("no deadlock", |group: &Group, state: &State| {
            let exited = |warp: usize| usize::from(state.at[warp]) > group.programs[warp].len();
            let blocked = |warp: usize| state.blocked >> warp & 1 == 1;
            let warps = 0..group.programs.len();
            warps.clone().all(exited) || warps.clone().any(|warp| !exited(warp) && !blocked(warp))
        })]
    }
}

/// The most memory that this process has used, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse::<u8>().expect("a number below 256");
    let (group, rest) = match words.as_slice() {
        ["ring", p, c, s, i, work, rest @ ..] => {
            (Group::ring(number(p), number(c), number(s), number(i), number(work)), rest)
        }
        ["indep", w, k, rest @ ..] => (Group::indep(number(w), number(k)), rest),
        _ => panic!("usage: compare (ring P C S I WORK | indep W K) (bfs | dfs) THREADS"),
    };
    let [search, threads] = rest else { panic!("say bfs or dfs, and how many threads") };
    assert!(group.programs.len() <= MOST, "at most {MOST} warps");
    let started = Instant::now();
    let builder = group.checker().threads(usize::from(number(threads)));
    let (unique, generated) = if *search == "dfs" {
        let checker = builder.spawn_dfs().join();
        checker.assert_properties();
        (checker.unique_state_count(), checker.state_count())
    } else {
        let checker = builder.spawn_bfs().join();
        checker.assert_properties();
        (checker.unique_state_count(), checker.state_count())
    };
    let seconds = started.elapsed().as_secs_f64();
    println!("{unique} {} {seconds:.3} {}", generated - 1, peak());
}
