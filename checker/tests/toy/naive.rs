//! A judge of toy protocols, written straight from what the toy's operations mean: every interleaving of
//! every thread and every delivery, one whole state at a time. It shares no code with what it judges.

use super::protocol::{AccessKind, Protocol, Stmt};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Barriers have the numbers below this one.
const BARRIERS: i64 = 4;

/// Every rule of the toy. All are errors but the one about arrivals that are left over.
pub(crate) const RULES: [&str; 9] = [
    "barrier-id-range",
    "count-mismatch",
    "count-range",
    "dangling-arrival",
    "data-race",
    "deadlock",
    "repeated-arrival",
    "stuck-agent",
    "too-many-participants",
];

/// What a protocol comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Every rule that some path violates.
    pub(crate) rules: BTreeSet<&'static str>,
    /// Distinct states.
    pub(crate) states: usize,
}

impl Outcome {
    /// Whether a rule is violated that is more than a warning.
    pub(crate) fn is_violated(&self) -> bool {
        self.rules.iter().any(|rule| *rule != "dangling-arrival")
    }
}

/// Explores a protocol whole; `None` if it has more than so many states.
pub(crate) fn explore(protocol: &Protocol, max_states: usize) -> Option<Outcome> {
    assert!(protocol.well_formed(), "{}", protocol.text());
    let code = Code::new(protocol);
    let mut search = Search::default();
    search.reach(code.initial());
    while let Some(number) = search.work.pop_front() {
        if search.states.len() > max_states {
            return None;
        }
        let state = search.states[number].clone();
        let steps = code.steps(&state);
        search.judge_state(&state, steps.is_empty());
        for step in steps {
            search.rules.extend(step.races.then_some("data-race"));
            match step.result {
                Ok(next) => {
                    let next = search.reach(next);
                    search.edges[number].push(next);
                }
                Err(rule) => {
                    search.rules.insert(rule);
                }
            }
        }
    }
    search.judge_graph(protocol.threads());
    Some(Outcome { rules: search.rules, states: search.states.len() })
}

/// What a thread does next.
#[derive(Clone, Copy, Debug)]
enum Op {
    Arrive {
        barrier: i64,
        count: i64,
        blocks: bool,
    },
    Access(AccessKind, usize),
    /// Goes to one of two places.
    Decide(usize, usize),
    /// Goes there without a step.
    Jump(usize),
    Exit,
}

/// The program of each thread.
struct Code {
    threads: Vec<Vec<Op>>,
}

fn compile(list: &[Stmt], ops: &mut Vec<Op>) {
    for stmt in list {
        let here = ops.len();
        match stmt {
            Stmt::Arrive { barrier, count, blocks } => {
                ops.push(Op::Arrive { barrier: *barrier, count: *count, blocks: *blocks });
            }
            Stmt::Access(kind, location) => ops.push(Op::Access(*kind, *location)),
            Stmt::If(then, other) => {
                ops.push(Op::Decide(here + 1, 0));
                compile(then, ops);
                let end_of_then = ops.len();
                ops.push(Op::Jump(0));
                ops[here] = Op::Decide(here + 1, end_of_then + 1);
                compile(other, ops);
                ops[end_of_then] = Op::Jump(ops.len());
            }
            Stmt::Loop(body) => {
                compile(body, ops);
                ops.push(Op::Jump(here));
            }
            Stmt::For(times, body) => {
                for _ in 0..*times {
                    compile(body, ops);
                }
            }
            Stmt::While(body) => {
                ops.push(Op::Decide(here + 1, 0));
                compile(body, ops);
                ops.push(Op::Jump(here));
                ops[here] = Op::Decide(here + 1, ops.len());
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Thread {
    /// About to execute the operation of this number.
    At(usize),
    /// Until the barrier's generation is complete; then it goes on there.
    Blocked {
        on: usize,
        then: usize,
    },
    Exited,
}

/// A thread's latest access of a kind to a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Access {
    location: usize,
    kind: AccessKind,
    thread: usize,
}

type Facts = BTreeSet<Access>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Barrier {
    Idle,
    /// `brought`: what those who have arrived knew when they did.
    Gathering {
        count: i64,
        arrived: BTreeSet<usize>,
        brought: Facts,
    },
    /// A delivery is pending, left by the thread `by`.
    Full {
        by: usize,
        brought: Facts,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    threads: Vec<Thread>,
    barriers: Vec<Barrier>,
    /// The last write to each location, and the reads and atomics since.
    latest: Facts,
    /// What each thread knows of these.
    known: Vec<Facts>,
}

/// Where a step leads, or the rule that ends the path there.
struct Step {
    races: bool,
    result: Result<State, &'static str>,
}

impl Code {
    fn new(protocol: &Protocol) -> Self {
        let mut threads = Vec::new();
        for role in &protocol.roles {
            let mut ops = Vec::new();
            compile(&role.body, &mut ops);
            ops.push(Op::Exit);
            threads.extend(role.threads.clone().map(|_| ops.clone()));
        }
        Self { threads }
    }

    /// A thread without any statement has exited already.
    fn initial(&self) -> State {
        let start = |thread: usize| match self.threads[thread][..] {
            [Op::Exit] => Thread::Exited,
            _ => Thread::At(self.settle(thread, 0)),
        };
        let count = self.threads.len();
        State {
            threads: (0..count).map(start).collect(),
            barriers: vec![Barrier::Idle; BARRIERS as usize],
            latest: Facts::new(),
            known: vec![Facts::new(); count],
        }
    }

    /// The next operation that is a step.
    fn settle(&self, thread: usize, mut at: usize) -> usize {
        while let Op::Jump(to) = self.threads[thread][at] {
            at = to;
        }
        at
    }

    fn steps(&self, state: &State) -> Vec<Step> {
        let mut steps = Vec::new();
        for thread in 0..state.threads.len() {
            if let Thread::At(at) = state.threads[thread] {
                self.steps_of(state, thread, at, &mut steps);
            }
        }
        for barrier in 0..state.barriers.len() {
            if matches!(state.barriers[barrier], Barrier::Full { .. }) {
                steps.push(Step { races: false, result: Ok(landed(state, barrier)) });
            }
        }
        steps
    }

    fn steps_of(&self, state: &State, thread: usize, at: usize, steps: &mut Vec<Step>) {
        let go_to = |place: usize| {
            let mut next = state.clone();
            next.threads[thread] = Thread::At(self.settle(thread, place));
            next
        };
        let mut step = |races, result| steps.push(Step { races, result });
        match self.threads[thread][at] {
            Op::Arrive { barrier, count, blocks } => {
                let then = self.settle(thread, at + 1);
                step(false, self.arrived(state, thread, (barrier, count, blocks), then));
            }
            Op::Access(kind, location) => {
                let access = Access { location, kind, thread };
                let mut next = go_to(at + 1);
                let races = next.races(&access);
                next.note(access);
                step(races, Ok(next));
            }
            Op::Decide(yes, no) => {
                step(false, Ok(go_to(yes)));
                step(false, Ok(go_to(no)));
            }
            Op::Jump(_) => unreachable!("no thread stands at a jump"),
            Op::Exit => {
                let mut next = state.clone();
                next.threads[thread] = Thread::Exited;
                step(false, Ok(next));
            }
        }
    }

    /// The state after an arrival, which goes on, or waits to go on, at `then`.
    fn arrived(
        &self,
        state: &State,
        thread: usize,
        (barrier, count, blocks): (i64, i64, bool),
        then: usize,
    ) -> Result<State, &'static str> {
        if !(0..BARRIERS).contains(&barrier) {
            return Err("barrier-id-range");
        }
        if !(1..=self.threads.len() as i64).contains(&count) {
            return Err("count-range");
        }
        let on = barrier as usize;
        let mut next = state.clone();
        let (mut arrived, mut brought) = match &state.barriers[on] {
            Barrier::Idle => (BTreeSet::new(), Facts::new()),
            Barrier::Full { .. } => return Err("too-many-participants"),
            Barrier::Gathering { count: announced, .. } if *announced != count => {
                return Err("count-mismatch");
            }
            Barrier::Gathering { arrived, .. } if arrived.contains(&thread) => {
                return Err("repeated-arrival");
            }
            Barrier::Gathering { arrived, brought, .. } => (arrived.clone(), brought.clone()),
        };
        arrived.insert(thread);
        brought.extend(&state.known[thread]);
        next.barriers[on] = if arrived.len() as i64 == count {
            Barrier::Full { by: thread, brought }
        } else {
            Barrier::Gathering { count, arrived, brought }
        };
        next.threads[thread] = if blocks { Thread::Blocked { on, then } } else { Thread::At(then) };
        Ok(next)
    }
}

/// The state after the delivery of a full barrier has landed.
fn landed(state: &State, barrier: usize) -> State {
    let Barrier::Full { brought, .. } = &state.barriers[barrier] else {
        unreachable!("only a full barrier has a delivery");
    };
    let mut next = state.clone();
    next.barriers[barrier] = Barrier::Idle;
    for thread in 0..state.threads.len() {
        match state.threads[thread] {
            Thread::Blocked { on, then } if on == barrier => {
                next.threads[thread] = Thread::At(then);
                next.known[thread].extend(brought);
            }
            _ => {}
        }
    }
    next
}

impl State {
    /// Whether an access conflicts with an earlier one that its thread does not know of.
    fn races(&self, access: &Access) -> bool {
        self.latest.iter().any(|earlier| {
            earlier.location == access.location
                && earlier.thread != access.thread
                && conflicts(earlier.kind, access.kind)
                && !self.known[access.thread].contains(earlier)
        })
    }

    /// An access takes the place of those that it hides from later ones, wherever these are known.
    fn note(&mut self, access: Access) {
        let is_hidden = |old: &Access| {
            old.location == access.location
                && (access.kind == AccessKind::Write
                    || (old.thread == access.thread && old.kind == access.kind))
        };
        let in_barriers = self.barriers.iter_mut().filter_map(|barrier| match barrier {
            Barrier::Idle => None,
            Barrier::Gathering { brought, .. } | Barrier::Full { brought, .. } => Some(brought),
        });
        for facts in in_barriers.chain(&mut self.known).chain([&mut self.latest]) {
            facts.retain(|old| !is_hidden(old));
        }
        self.latest.insert(access);
        self.known[access.thread].insert(access);
    }

    fn everyone_exited(&self) -> bool {
        self.threads.iter().all(|thread| *thread == Thread::Exited)
    }
}

fn conflicts(a: AccessKind, b: AccessKind) -> bool {
    use AccessKind::{Atomic, Read, Write};
    match (a, b) {
        (Write, _) | (_, Write) | (Atomic, Read) | (Read, Atomic) => true,
        (Atomic, Atomic) | (Read, Read) => false,
    }
}

/// What has been reached, by number.
#[derive(Default)]
struct Search {
    known: HashMap<State, usize>,
    states: Vec<State>,
    edges: Vec<Vec<usize>>,
    work: VecDeque<usize>,
    rules: BTreeSet<&'static str>,
}

impl Search {
    fn reach(&mut self, state: State) -> usize {
        if let Some(&number) = self.known.get(&state) {
            return number;
        }
        let number = self.states.len();
        self.known.insert(state.clone(), number);
        self.states.push(state);
        self.edges.push(Vec::new());
        self.work.push_back(number);
        number
    }

    /// Deliveries are steps: where there is none, nothing is pending.
    fn judge_state(&mut self, state: &State, is_final: bool) {
        if is_final && !state.everyone_exited() {
            self.rules.insert("deadlock");
        }
        let gathers = state.barriers.iter().any(|barrier| matches!(barrier, Barrier::Gathering { .. }));
        if is_final && state.everyone_exited() && gathers {
            self.rules.insert("dangling-arrival");
        }
    }

    fn judge_graph(&mut self, threads: usize) {
        let back = self.reversed();
        let endless = can_run_for_ever(&self.edges, &back);
        for thread in 0..threads {
            let is_free = |state: &State| !matches!(state.threads[thread], Thread::Blocked { .. });
            let freed = can_reach(&back, self.states.iter().map(is_free).collect());
            if (0..self.states.len()).any(|number| !freed[number] && endless[number]) {
                self.rules.insert("stuck-agent");
            }
        }
    }

    fn reversed(&self) -> Vec<Vec<usize>> {
        let mut back = vec![Vec::new(); self.edges.len()];
        for (from, targets) in self.edges.iter().enumerate() {
            for &to in targets {
                back[to].push(from);
            }
        }
        back
    }
}

/// The states from which a marked one can be reached, the marked ones included.
fn can_reach(back: &[Vec<usize>], marked: Vec<bool>) -> Vec<bool> {
    let mut reached = marked;
    let mut work: Vec<usize> = (0..reached.len()).filter(|&number| reached[number]).collect();
    while let Some(number) = work.pop() {
        for &from in &back[number] {
            if !reached[from] {
                reached[from] = true;
                work.push(from);
            }
        }
    }
    reached
}

/// The states from which some path never ends: what is left when those without a successor are taken away
/// again and again.
fn can_run_for_ever(edges: &[Vec<usize>], back: &[Vec<usize>]) -> Vec<bool> {
    let mut left: Vec<usize> = edges.iter().map(Vec::len).collect();
    let mut work: Vec<usize> = (0..left.len()).filter(|&number| left[number] == 0).collect();
    while let Some(number) = work.pop() {
        for &from in &back[number] {
            left[from] -= 1;
            if left[from] == 0 {
                work.push(from);
            }
        }
    }
    left.iter().map(|&n| n > 0).collect()
}
