//! The sixteen barriers of a group, as PTX describes them: whole warps arrive.

use super::opcode::Arrival;

/// What a warp brings to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands {
    pub what: Arrival,
    pub id: u64,
    pub count: Option<u64>,
}

#[derive(Clone, Default, Debug)]
struct Barrier {
    /// Who has arrived, a bit for each warp; who of them waits.
    arrived: u64,
    waiting: u64,
    expected: u64,
    /// Nobody has given a count.
    is_for_all: bool,
    /// The operation of a reduction.
    class: Option<Arrival>,
    /// Predicates that were true, and their lanes.
    true_ones: u64,
    lanes: u64,
}

/// A barrier that is complete: who goes on, and what a reduction comes to.
pub struct Completed {
    pub id: usize,
    pub waiting: u64,
    pub result: u64,
}

pub struct Barriers {
    all: [Barrier; 16],
    threads: u64,
    exited: u64,
}

impl Barriers {
    pub fn new(threads: u64) -> Self {
        Self { all: Default::default(), threads: threads.next_multiple_of(32), exited: 0 }
    }

    /// A warp arrives. What it does wrong, if it does.
    pub fn arrive(&mut self, warp: usize, with: Operands, true_ones: u64, lanes: u64) -> Result<(), String> {
        let is_red = !matches!(with.what, Arrival::Sync | Arrival::Arrive);
        let Some(barrier) = usize::try_from(with.id).ok().and_then(|id| self.all.get_mut(id)) else {
            return Err("barrier-id-range".to_owned());
        };
        if with.what == Arrival::Arrive && with.count.is_none_or(|count| count == 0) {
            return Err("arrive-needs-count".to_owned());
        }
        let count = with.count.unwrap_or(self.threads);
        if count == 0 || !count.is_multiple_of(32) || count > self.threads {
            return Err("count-range".to_owned());
        }
        let class = is_red.then_some(with.what);
        if barrier.arrived == 0 {
            *barrier = Barrier { expected: count, is_for_all: true, class, ..Barrier::default() };
        }
        if barrier.class.is_some() != class.is_some() {
            return Err("mixed-red".to_owned());
        }
        if barrier.class != class {
            return Err("mixed-red-op".to_owned());
        }
        if barrier.expected != count {
            return Err("count-mismatch".to_owned());
        }
        if barrier.arrived >> warp & 1 == 1 {
            return Err("repeated-arrival".to_owned());
        }
        barrier.is_for_all &= with.count.is_none();
        barrier.arrived |= 1 << warp;
        barrier.true_ones += true_ones;
        barrier.lanes += lanes;
        if with.what != Arrival::Arrive {
            barrier.waiting |= 1 << warp;
        }
        Ok(())
    }

    pub fn exit(&mut self, warp: usize) {
        self.exited |= 1 << warp;
    }

    /// A barrier that is complete, taken back.
    pub fn completed(&mut self) -> Option<Completed> {
        let all = self.threads / 32;
        let exited = self.exited;
        let is_complete = |barrier: &&mut Barrier| {
            let here = u64::from(barrier.arrived.count_ones());
            let gone = u64::from((exited | barrier.arrived).count_ones());
            barrier.arrived != 0 && (here * 32 == barrier.expected || barrier.is_for_all && gone == all)
        };
        let id = self.all.iter_mut().position(|mut barrier| is_complete(&mut barrier))?;
        let barrier = &mut self.all[id];
        let result = match barrier.class {
            Some(Arrival::And) => u64::from(barrier.true_ones == barrier.lanes),
            Some(Arrival::Or) => u64::from(barrier.true_ones > 0),
            _ => barrier.true_ones,
        };
        let completed = Completed { id, waiting: barrier.waiting, result };
        *barrier = Barrier::default();
        Some(completed)
    }
}
