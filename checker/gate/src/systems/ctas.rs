//! The CTAs of a `ptx` protocol: the barriers of each, mbarrier objects, the barrier of the cluster, and what
//! is in flight.

use super::done::{Done, Stopped, evaluated, other_target};
use super::flights::{Flights, InFlight};
use crate::barriers::mbarrier::{Arrival, Flight, Object, Phase, Token};
use crate::barriers::{Observer, Runtime, cluster, mbarrier, ptx, registers};
use crate::memory::Memory;
use crate::operands::Reader;
use crate::record::Record;
use barcheck_model::agent::Action;
use barcheck_model::barrier::Blocking;
use barcheck_model::program::{
    AgentId, ArrayId, Awaited, BarrierInstruction, ClusterKind, ClusterOp, Expr, LocalId, LocationId,
    MbarrierKind, MbarrierOp, Means, Op, Program, PtxKind, PtxOp, ReductionOp, WarpOp,
};
use barcheck_model::rule::Rule;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The CTAs of a cluster, or a single one.
pub(super) struct Ctas<R: Runtime> {
    program: Arc<Program>,
    record: Arc<Record>,
    memory: Arc<Memory<R>>,
    named: Vec<ptx::Cta<R>>,
    pools: Vec<registers::Cta<R>>,
    objects: mbarrier::Cluster<R>,
    meeting: cluster::Cluster<R>,
    flights: Flights<R>,
    /// Some warp comes to the barrier of the cluster.
    meets: bool,
    /// Something is left in flight.
    leaves: bool,
    exits: AtomicUsize,
}

/// The hand of one warp on all of that.
pub(super) struct Warp<R: Runtime> {
    of: Arc<Ctas<R>>,
    agent: AgentId,
    cta: usize,
    named: ptx::Warp<R>,
    pool: registers::Warp<R>,
    objects: mbarrier::Warp<R>,
    meeting: cluster::Warp<R>,
    tokens: HashMap<LocalId, Token>,
}

impl<R: Runtime> Ctas<R> {
    /// The CTAs of a protocol. Observers are made for the agents from a number on.
    pub(super) fn new<O: Observer + 'static>(
        program: &Arc<Program>,
        exited_threads: ptx::ExitedThreads,
        (record, memory): (&Arc<Record>, &Arc<Memory<R>>),
        observer: impl Fn(usize) -> O,
    ) -> Self {
        let (ctas, warps) = (program.ctas as usize, program.agents_per_cta() as usize);
        let readings = ptx::Readings { exited_threads, repeats_count: program.repeats_count };
        let of_cta = |cta| ptx::Cta::observed(program.threads, readings, observer(cta * warps));
        let pool = |cta| registers::Cta::observed(warps, program.registers, observer(cta * warps));
        let objects =
            mbarrier::Cluster::observed(ctas, warps, program.objects_per_cta() as usize, observer(0));
        for array in &program.objects {
            let numbers = array.first..array.first + array.length.unwrap_or(1);
            for (cta, number) in (0..ctas).flat_map(|cta| numbers.clone().map(move |number| (cta, number))) {
                if let Some(count) = array.count {
                    objects.begin_with(objects.object(cta, number as usize), count);
                }
            }
        }
        let mut ops = program.roles.iter().flat_map(|role| &role.code.ops);
        Self {
            named: (0..ctas).map(of_cta).collect(),
            pools: (0..ctas).map(pool).collect(),
            objects,
            meeting: cluster::Cluster::observed(ctas * warps, observer(0)),
            flights: Flights::new(ctas, warps),
            meets: ops.any(|op| matches!(op, Op::Barrier(BarrierInstruction::Cluster(_)))),
            leaves: program.leaves_pending(),
            exits: AtomicUsize::new(0),
            program: Arc::clone(program),
            record: Arc::clone(record),
            memory: Arc::clone(memory),
        }
    }

    /// The hand of a warp, to be taken once.
    pub(super) fn warp(self: &Arc<Self>, number: usize) -> Warp<R> {
        let agent = AgentId::from_index(number);
        let cta = self.program.cta_of(agent) as usize;
        Warp {
            of: Arc::clone(self),
            agent,
            cta,
            named: self.named[cta].warp(self.program.index_in_cta(agent) as usize),
            pool: self.pools[cta].warp(self.program.index_in_cta(agent) as usize),
            objects: self.objects.warp(number),
            meeting: self.meeting.warp(number),
            tokens: HashMap::new(),
        }
    }

    pub(super) fn abort(&self) {
        self.named.iter().for_each(ptx::Cta::abort);
        self.pools.iter().for_each(registers::Cta::abort);
        self.objects.abort();
        self.meeting.abort();
    }

    /// Lands what is in flight, until nothing is left and nobody can leave more. Of several that differ,
    /// `pick` says which, given the number of landings before; `after` is called after each.
    pub(super) fn land_all(&self, pick: impl Fn(u32, usize) -> usize, after: impl Fn()) {
        if !self.leaves {
            return;
        }
        for landings in 0.. {
            let Some(InFlight { flight, location }) = self.flights.next(|n| pick(landings, n)) else {
                return;
            };
            if let Some(location) = location {
                self.memory.copy_lands(location);
            }
            // The record knows what became of it.
            let _ = flight.land();
            after();
        }
    }

    /// After the end: arrivals that are left on mbarrier objects once everybody has exited are noted.
    /// `dangling` says whether others have been found.
    // clause: barcheck.dangling-arrival
    pub(super) fn finish(&self, dangling: bool) {
        let all_exited = self.exits.load(Ordering::SeqCst) == self.program.agents.len();
        if all_exited
            && !self.record.is_held_back()
            && (dangling || !self.objects.holding_arrivals().is_empty())
        {
            self.record.note(Rule::DanglingArrival);
        }
    }
}

impl<R: Runtime> Warp<R> {
    /// Executes an instruction whose operands can be evaluated.
    pub(super) fn execute(
        &mut self,
        reader: Reader<'_>,
        op: &BarrierInstruction,
        action: &Action,
        pick: u32,
    ) -> Result<Done, Stopped> {
        match op {
            BarrierInstruction::Ptx(op) => self.named(reader, op, pick),
            BarrierInstruction::Mbarrier(op) => self.object(reader, op, action, pick),
            BarrierInstruction::Cluster(op) => self.meeting(reader, op),
            BarrierInstruction::Warp(WarpOp::Sync(mask)) => {
                self.named.warp_sync(reader.mask(), evaluated(reader.shared(mask))?)?;
                Ok(Done::Passed)
            }
            BarrierInstruction::Warp(WarpOp::Registers { takes, count }) => {
                self.pool.set_apart(reader.is_apart());
                let count = evaluated(reader.shared(count))?;
                if *takes {
                    // Who had to wait tries again.
                    return Ok(if self.pool.try_inc(count)? { Done::Passed } else { Done::Waited(None) });
                }
                self.pool.dec(count)?;
                Ok(Done::Passed)
            }
            _ => Err(other_target()),
        }
    }

    /// An access to memory, some of it perhaps that of other CTAs.
    pub(super) fn reach(&self, locations: &[LocationId]) -> Result<(), Stopped> {
        let homes = locations.iter().filter_map(|at| self.of.program.home_of(*at)).map(|cta| cta as usize);
        let others: Vec<usize> = homes.filter(|cta| *cta != self.cta).collect();
        if others.is_empty() {
            self.of.record.step(self.agent);
            return Ok(());
        }
        Ok(self.objects.reach(others)?)
    }

    pub(super) fn exit(self) -> Result<Done, Stopped> {
        let Self { of, cta, named, objects, meeting, .. } = self;
        let named = || named.exit();
        let met = || if of.meets { meeting.exit_with(named) } else { named() };
        let step = || objects.exit_with(met);
        if of.leaves { of.flights.at_exit(cta, &of.record, step) } else { step() }?;
        of.exits.fetch_add(1, Ordering::SeqCst);
        Ok(Done::Passed)
    }

    /// The thread ends, and the warp has not exited.
    pub(super) fn abandon(self) {
        if self.of.leaves {
            self.of.flights.abandon();
        }
    }

    fn meeting(&self, reader: Reader<'_>, op: &ClusterOp) -> Result<Done, Stopped> {
        self.meeting.set_apart(reader.is_apart());
        match op.kind {
            ClusterKind::Arrive { .. } => {
                self.meeting.arrive(op.aligned)?;
                Ok(Done::Passed)
            }
            ClusterKind::Wait => {
                self.meeting.wait(op.aligned)?;
                Ok(Done::Waited(None))
            }
        }
    }

    fn named(&self, reader: Reader<'_>, op: &PtxOp, pick: u32) -> Result<Done, Stopped> {
        let warp = &self.named;
        warp.set_apart(reader.is_apart());
        let id = evaluated(reader.shared(&op.id))?;
        let count = op.count.as_ref().map(|count| evaluated(reader.shared(count))).transpose()?;
        match &op.kind {
            PtxKind::Sync => {
                warp.sync(id, count)?;
                Ok(Done::Waited(None))
            }
            PtxKind::Arrive => {
                warp.arrive(id, count)?;
                Ok(Done::Passed)
            }
            PtxKind::Red { op, predicate, .. } => {
                let lanes = evaluated(reader.predicates(*op, predicate, pick))?;
                let op = match op {
                    ReductionOp::Popc => ptx::RedOp::Popc,
                    ReductionOp::And => ptx::RedOp::And,
                    ReductionOp::Or => ptx::RedOp::Or,
                };
                let result = match warp.red(id, count, op, &lanes)? {
                    ptx::RedResult::Count(count) => count,
                    ptx::RedResult::Predicate(truth) => u32::from(truth),
                };
                Ok(Done::Waited(Some(result)))
            }
        }
    }
}

/// mbarrier objects.
impl<R: Runtime> Warp<R> {
    fn object(
        &mut self,
        reader: Reader<'_>,
        op: &MbarrierOp,
        action: &Action,
        pick: u32,
    ) -> Result<Done, Stopped> {
        self.objects.set_lanes(reader.mask().count_ones());
        let object = self.named_object(reader, op)?;
        let value = |expr: &Expr| evaluated(reader.shared(expr));
        match &op.kind {
            MbarrierKind::Init(count) => self.objects.init(object, value(count)?)?,
            MbarrierKind::Inval => self.objects.inval(object)?,
            MbarrierKind::Arrive { count, bytes, drops, no_complete, token, .. } => {
                let count = count.as_ref().map_or(Ok(1), value)?;
                let arrival = Arrival::of(count).after_expecting(bytes.as_ref().map_or(Ok(0), value)?);
                let arrival = if *drops { arrival.dropped() } else { arrival };
                let arrival = if *no_complete { arrival.without_completing() } else { arrival };
                let made = self.objects.arrive(object, arrival)?;
                self.tokens.extend(token.zip(made));
            }
            MbarrierKind::ExpectTx(bytes) => self.objects.expect_tx(object, value(bytes)?)?,
            MbarrierKind::CompleteTx(bytes) => self.objects.complete_tx(object, value(bytes)?)?,
            MbarrierKind::Wait { phase, .. } => return self.wait(object, self.phase(reader, phase)?),
            MbarrierKind::Test { phase, gives_up, .. } => {
                let phase = self.phase(reader, phase)?;
                // A loop that does nothing but ask is a wait.
                let asks = action.on_barrier().is_none_or(|action| action.blocking() == Blocking::Asks);
                return match (asks, gives_up) {
                    (true, true) => Ok(Done::Tested(self.objects.try_wait(object, phase, pick != 0)?)),
                    (true, false) => Ok(Done::Tested(self.objects.test_wait(object, phase)?)),
                    (false, _) => self.wait(object, phase),
                };
            }
            MbarrierKind::FillsArrive { .. } => {
                return Err(Stopped::Unfit("threads have no `cp.async` whose completion arrives".to_owned()));
            }
            MbarrierKind::Copy { by: Means::Across(..) | Means::Reduction, .. } => {
                let why = "threads have neither copies from CTA to CTA nor `red.async`";
                return Err(Stopped::Unfit(why.to_owned()));
            }
            MbarrierKind::Copy { bytes, to, .. } => {
                let cta = self.cta_of(reader, op)?;
                let location = to.as_ref().map(|to| self.location(reader, cta, to)).transpose()?;
                let flight = self.objects.copy(object, value(bytes)?)?;
                self.leave(flight, location);
            }
            MbarrierKind::Commit => {
                let flight = self.objects.commit(object)?;
                self.leave(flight, None);
            }
        }
        Ok(Done::Passed)
    }

    fn wait(&self, object: Object, phase: Phase) -> Result<Done, Stopped> {
        self.objects.wait(object, phase)?;
        Ok(Done::Waited(None))
    }

    fn leave(&self, flight: Flight<R>, location: Option<LocationId>) {
        let Ctas { record, memory, flights, .. } = &*self.of;
        record.leaves();
        if location.is_some_and(|location| memory.copy_begins(location)) {
            record.note(Rule::DataRace);
        }
        flights.add(InFlight { flight, location });
    }

    fn cta_of(&self, reader: Reader<'_>, op: &MbarrierOp) -> Result<usize, Stopped> {
        let Some(cta) = &op.cta else { return Ok(self.cta) };
        let cta = usize::try_from(evaluated(reader.shared(cta))?).ok();
        evaluated(cta.filter(|cta| *cta < self.of.program.ctas as usize))
    }

    fn named_object(&self, reader: Reader<'_>, op: &MbarrierOp) -> Result<Object, Stopped> {
        let array = &self.of.program.objects[op.objects.index()];
        let index = op.index.as_ref().map_or(Ok(0), |index| evaluated(reader.shared(index)))?;
        let index = u32::try_from(index).ok().filter(|index| *index < array.length.unwrap_or(1));
        let number = array.first + evaluated(index)?;
        Ok(self.of.objects.object(self.cta_of(reader, op)?, number as usize))
    }

    fn location(
        &self,
        reader: Reader<'_>,
        cta: usize,
        (array, index): &(ArrayId, Option<Expr>),
    ) -> Result<LocationId, Stopped> {
        let program = &self.of.program;
        let index = index.as_ref().map_or(Ok(0), |index| evaluated(reader.shared(index)))?;
        let length = program.arrays[array.index()].length.unwrap_or(1);
        let element = evaluated(u32::try_from(index).ok().filter(|index| *index < length))?;
        Ok(program.location_in(cta as u32, *array, element))
    }

    fn phase(&self, reader: Reader<'_>, phase: &Awaited) -> Result<Phase, Stopped> {
        match phase {
            Awaited::Parity(parity) => Ok(Phase::Parity(evaluated(reader.shared(parity))?)),
            Awaited::Token(local) => {
                let token = self.tokens.get(local).filter(|_| reader.holds_token(*local));
                let none = || Stopped::Unfit("a wait with what is no token".to_owned());
                token.map(|token| Phase::Of(*token)).ok_or_else(none)
            }
        }
    }
}
