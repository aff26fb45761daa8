//! The executable barriers of a protocol's target, and each agent's hand on them.

mod ctas;
mod done;
mod flights;

pub(crate) use done::{Done, Stopped};

use crate::barriers::{Effect, Event, Observer, Runtime, bcu, nbarrier, ptx, split, xegpu};
use crate::choices::Point;
use crate::memory::Memory;
use crate::operands::{Bar, Nbarrier, Operand, Reader};
use crate::plan::Plan;
use crate::record::{Ending, Record};
use barcheck_model::agent::{Action, BarrierAction};
use barcheck_model::barrier::bcu::{Action as Bcu, Opaque};
use barcheck_model::barrier::split::{Action as Split, Instance};
use barcheck_model::machine::ExitedThreads;
use barcheck_model::program::{
    AgentId, BarrierInstruction, BcuOp, Expr, LocalId, LocationId, Op, ReductionOp, Scope, SplitKind, Target,
    XegpuOp,
};
use barcheck_model::rule::Rule;
use ctas::Ctas;
use done::{evaluated, other_target};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// The barriers of a group, and who has exited before the first step because its program is empty.
pub(crate) struct System<R: Runtime> {
    group: Group<R>,
    exited: Vec<bool>,
    /// A barrier with an id still held arrivals when the last agent of its group had exited.
    dangling: Arc<AtomicBool>,
}

/// The barriers of a group.
enum Group<R: Runtime> {
    Ptx(Arc<Ctas<R>>),
    Bcu(bcu::Cta<R>),
    Nbarrier(nbarrier::ThreadGroup<R>),
    Split(split::Workgroup<R, Instance>),
    Xegpu(xegpu::Workgroup<R>),
    /// Nobody has made executable ones for the target.
    None,
}

/// An agent's hand on them.
enum Hand<R: Runtime> {
    Ptx(ctas::Warp<R>),
    Bcu(bcu::Warp<R>),
    Nbarrier(nbarrier::Thread<R>),
    Split(split::Invocation<R, Instance>),
    Xegpu(xegpu::Subgroup<R>),
    None,
}

/// An agent at the barriers.
pub(crate) struct Seat<R: Runtime> {
    /// None once the agent has exited.
    hand: Option<Hand<R>>,
    /// What registers and handles hold that is not a number.
    kept: HashMap<LocalId, Kept>,
}

/// What a register or a handle holds.
#[derive(Clone, Copy)]
enum Kept {
    Barrier(bcu::BarrierState),
    Warp(bcu::WarpState),
    Handle(xegpu::Handle),
}

/// Tells the record what the barriers do.
struct Scribe<R: Runtime> {
    record: Arc<Record>,
    /// Set before the first step.
    system: Arc<OnceLock<Weak<System<R>>>>,
    /// The agent that is the first of its group.
    first: usize,
    dangling: Arc<AtomicBool>,
}

impl<R: Runtime> Scribe<R> {
    /// The same for a group that begins with another agent.
    fn from(&self, first: usize) -> Self {
        let Self { record, system, dangling, .. } = self;
        Self { record: Arc::clone(record), system: Arc::clone(system), first, dangling: Arc::clone(dangling) }
    }
}

impl<R: Runtime> Observer for Scribe<R> {
    fn step(&self, agent: usize, event: &Event) {
        let who = AgentId::from_index(self.first + agent);
        // Those whose program is empty exit before the first step.
        let Some(system) = self.system.get().and_then(Weak::upgrade) else { return };
        match event.effect {
            Effect::Done => self.record.step(who),
            Effect::Blocked => {
                self.record.step(who);
                if self.record.rests() {
                    system.abort();
                }
            }
            Effect::Refused(Some(rule)) => self.record.violation(who, rule),
            Effect::Refused(None) => {
                let why = format!("nothing says what {} would do here", event.instruction);
                self.record.end(Ending::Unfit(why));
            }
        }
    }

    fn landed(&self, agent: usize, number: u32, event: &Event) {
        let who = AgentId::from_index(self.first + agent);
        match event.effect {
            Effect::Done | Effect::Blocked => self.record.landing(who, number),
            Effect::Refused(Some(rule)) => self.record.landing_violates(who, number, rule),
            Effect::Refused(None) => {
                self.record.end(Ending::Unfit("nothing says what a landing would do here".to_owned()));
            }
        }
    }

    fn note(&self, _: usize, rule: Rule, _: Option<u32>) {
        // There may be other groups, and something in flight.
        if rule == Rule::DanglingArrival {
            self.dangling.store(true, Ordering::SeqCst);
        } else {
            self.record.note(rule);
        }
    }

    fn completed(&self, _: u32, released: &[usize]) {
        self.record.released(released.len());
    }
}

impl<R: Runtime> System<R> {
    /// The barriers of a protocol, as its agents find them at their first steps.
    pub(crate) fn new(plan: &Plan, memory: &Arc<Memory<R>>) -> Arc<Self> {
        let program = &plan.program;
        let (system, dangling) = (Arc::new(OnceLock::new()), Arc::new(AtomicBool::new(false)));
        let scribe = Scribe {
            record: Arc::clone(&plan.record),
            system: Arc::clone(&system),
            first: 0,
            dangling: Arc::clone(&dangling),
        };
        let group = Group::new(plan, memory, scribe);
        let agents = (0..program.agents.len()).map(AgentId::from_index);
        let exited: Vec<bool> = agents.map(|agent| program.code(agent).empty).collect();
        for (agent, _) in exited.iter().enumerate().filter(|(_, exited)| **exited) {
            plan.record.rests();
            // Nobody has given the group up yet, and an exit is never misuse.
            let _ = Seat { hand: Some(group.hand(agent)), kept: HashMap::new() }.exit();
        }
        let this = Arc::new(Self { group, exited, dangling });
        let _ = system.set(Arc::downgrade(&this));
        this
    }

    /// Whether the agent of that number has exited before the first step.
    pub(crate) fn has_exited(&self, agent: usize) -> bool {
        self.exited[agent]
    }

    /// The place of one agent.
    pub(crate) fn seat(&self, agent: AgentId) -> Seat<R> {
        Seat { hand: Some(self.group.hand(agent.index())), kept: HashMap::new() }
    }

    /// Lands what agents leave in flight, until all have ended.
    pub(crate) fn land_all(&self, plan: &Plan, stop_if_ended: impl Fn()) {
        let Group::Ptx(ctas) = &self.group else { return };
        let pick = |landings, options| {
            let picked = plan.choices.pick(Point::Landing(landings), options as u64);
            usize::try_from(picked).unwrap_or(0)
        };
        ctas.land_all(pick, || {
            // What has landed is no longer on its way.
            if plan.record.rests() {
                self.abort();
            }
            stop_if_ended();
        });
    }

    /// After the end of all agents: what is left.
    pub(crate) fn finish(&self, record: &Record) {
        let dangling = self.dangling.load(Ordering::SeqCst);
        match &self.group {
            Group::Ptx(ctas) => ctas.finish(dangling),
            _ if dangling => record.note(Rule::DanglingArrival),
            _ => {}
        }
    }

    /// Ends what every agent is doing.
    pub(crate) fn abort(&self) {
        match &self.group {
            Group::Ptx(ctas) => ctas.abort(),
            Group::Bcu(cta) => cta.abort(),
            Group::Nbarrier(group) => group.abort(),
            Group::Split(group) => group.abort(),
            Group::Xegpu(group) => group.abort(),
            Group::None => {}
        }
    }
}

impl<R: Runtime> Group<R> {
    fn new(plan: &Plan, memory: &Arc<Memory<R>>, scribe: Scribe<R>) -> Self {
        let program = &plan.program;
        let agents = program.agents.len();
        match program.target {
            Target::Ptx => {
                let exited_threads = match plan.options.exited_threads {
                    ExitedThreads::Hold => ptx::ExitedThreads::Hold,
                    ExitedThreads::Release => ptx::ExitedThreads::Release,
                };
                let seen = (&plan.record, memory);
                Self::Ptx(Arc::new(Ctas::new(program, exited_threads, seen, |first| scribe.from(first))))
            }
            Target::Bcu => Self::Bcu(bcu::Cta::observed(program.threads, scribe)),
            Target::Nbarrier => Self::Nbarrier(nbarrier::ThreadGroup::observed(agents, scribe)),
            Target::SplitBarrier => {
                Self::Split(split::Workgroup::observed(agents, program.subgroup_size as usize, scribe))
            }
            Target::Xegpu => Self::Xegpu(xegpu::Workgroup::observed(agents, scribe)),
            #[allow(unreachable_patterns, reason = "each of the targets so far has executable barriers")]
            _ => Self::None,
        }
    }

    /// The hand of an agent, to be taken once.
    fn hand(&self, agent: usize) -> Hand<R> {
        match self {
            Self::Ptx(ctas) => Hand::Ptx(ctas.warp(agent)),
            Self::Bcu(cta) => Hand::Bcu(cta.warp(agent)),
            Self::Nbarrier(group) => Hand::Nbarrier(group.thread(agent)),
            Self::Split(group) => Hand::Split(group.invocation(agent)),
            Self::Xegpu(group) => Hand::Xegpu(group.subgroup(agent)),
            Self::None => Hand::None,
        }
    }
}

impl<R: Runtime> Seat<R> {
    /// Executes an instruction whose operands can be evaluated.
    pub(crate) fn execute(
        &mut self,
        reader: Reader<'_>,
        op: &Op,
        action: &Action,
        pick: u32,
    ) -> Result<Done, Stopped> {
        if let Op::Exit = op {
            return self.exit();
        }
        let Op::Barrier(op) = op else { return Err(other_target()) };
        match (&mut self.hand, op) {
            (Some(Hand::Ptx(warp)), op) => warp.execute(reader, op, action, pick),
            (Some(Hand::Bcu(warp)), BarrierInstruction::Bcu(op)) => {
                if let Action::Barrier(BarrierAction::Bcu(Bcu::WriteState(_, value))) = action
                    && !matches!(value, Some(Opaque::Barrier(_)))
                {
                    return Err(forged());
                }
                bcu(warp, &mut self.kept, reader, op, pick)
            }
            (Some(Hand::Nbarrier(thread)), BarrierInstruction::Nbarrier(op)) => {
                match evaluated(reader.nbarrier(op))? {
                    Nbarrier::Signal { id, kind, producers, consumers } => {
                        thread.signal(id, kind, producers, consumers)?;
                        Ok(Done::Passed)
                    }
                    Nbarrier::Wait { id } => {
                        thread.wait(id)?;
                        Ok(Done::Waited(None))
                    }
                }
            }
            (Some(Hand::Split(invocation)), BarrierInstruction::Split(_)) => split(invocation, action),
            (Some(Hand::Xegpu(subgroup)), BarrierInstruction::Xegpu(op)) => {
                xegpu(subgroup, &mut self.kept, reader, op)
            }
            _ => Err(other_target()),
        }
    }

    /// An access to memory, which is told here.
    pub(crate) fn access(&self, record: &Record, agent: AgentId, at: &[LocationId]) -> Result<(), Stopped> {
        match &self.hand {
            Some(Hand::Ptx(warp)) => warp.reach(at),
            _ => {
                record.step(agent);
                Ok(())
            }
        }
    }

    /// Whether lanes of the agent may separate, as long as only some of them can go on.
    pub(crate) fn may_separate(&self) -> bool {
        matches!(self.hand, Some(Hand::Ptx(_)))
    }

    /// The agent's thread ends; it may have exited before.
    pub(crate) fn end(&mut self) {
        if let Some(Hand::Ptx(warp)) = self.hand.take() {
            warp.abandon();
        }
    }

    fn exit(&mut self) -> Result<Done, Stopped> {
        match self.hand.take() {
            None | Some(Hand::None) => {}
            Some(Hand::Ptx(warp)) => return warp.exit(),
            Some(Hand::Bcu(warp)) => warp.exit()?,
            Some(Hand::Nbarrier(thread)) => thread.exit()?,
            Some(Hand::Split(invocation)) => invocation.exit()?,
            Some(Hand::Xegpu(subgroup)) => subgroup.exit()?,
        }
        Ok(Done::Passed)
    }
}

fn forged() -> Stopped {
    Stopped::Unfit("nothing says what a state is that no B2R has read".to_owned())
}

fn bcu<R: Runtime>(
    warp: &bcu::Warp<R>,
    kept: &mut HashMap<LocalId, Kept>,
    reader: Reader<'_>,
    op: &BcuOp,
    pick: u32,
) -> Result<Done, Stopped> {
    let held = |kept: &HashMap<LocalId, Kept>, source: &Expr| match source {
        Expr::Local(local) => kept.get(local).copied(),
        _ => None,
    };
    let ignored = |id: &Option<Expr>| id.as_ref().map(|id| evaluated(reader.shared(id))).transpose();
    match op {
        BcuOp::Sync { .. } | BcuOp::Arv { .. } | BcuOp::Red { .. } => bar(warp, reader, op, pick),
        BcuOp::Result { register, predicate } => {
            let outputs = bcu::Kept { register: register.is_some(), predicate: predicate.is_some() };
            Ok(Done::Fetched(warp.result(outputs)?.map(number)))
        }
        BcuOp::ReadBarrier { dest, id } => {
            let state = warp.save_barrier(evaluated(reader.shared(id))?)?;
            kept.extend(dest.map(|dest| (dest, Kept::Barrier(state))));
            // The model's agents only need to know that the register holds no number.
            Ok(Done::Read(Opaque::Barrier(None)))
        }
        BcuOp::ReadWarp { dest, id } => {
            let state = warp.save_warp(ignored(id)?)?;
            kept.extend(dest.map(|dest| (dest, Kept::Warp(state))));
            Ok(Done::Passed)
        }
        BcuOp::WriteBarrier { id, source } => {
            let Some(Kept::Barrier(state)) = held(kept, source) else { return Err(forged()) };
            warp.restore_barrier(evaluated(reader.shared(id))?, state)?;
            Ok(Done::Passed)
        }
        BcuOp::WriteWarp { id, source } => {
            let Some(Kept::Warp(state)) = held(kept, source) else { return Err(forged()) };
            warp.restore_warp(ignored(id)?, state)?;
            Ok(Done::Passed)
        }
    }
}

fn number(result: bcu::RedResult) -> u32 {
    match result {
        bcu::RedResult::Count(count) => count,
        bcu::RedResult::Predicate(truth) => u32::from(truth),
    }
}

/// `BAR.SYNC`, `BAR.ARV` and `BAR.RED`.
fn bar<R: Runtime>(warp: &bcu::Warp<R>, reader: Reader<'_>, op: &BcuOp, pick: u32) -> Result<Done, Stopped> {
    let operand = |Operand { value, register }| {
        if register { bcu::Operand::Register(value) } else { bcu::Operand::Immediate(value) }
    };
    let (id, count) = evaluated(reader.bcu(op))?;
    // An omitted count is 0.
    let count = count.map_or(bcu::Operand::Immediate(0), operand);
    match (op, id) {
        (BcuOp::Sync { .. }, Bar::Separate(id)) => {
            warp.sync(operand(id), count)?;
            Ok(Done::Waited(None))
        }
        (BcuOp::Arv { .. }, Bar::Separate(id)) => {
            warp.arv(operand(id), count)?;
            Ok(Done::Passed)
        }
        (BcuOp::Red { op, predicate, .. }, id) => {
            let lanes = evaluated(reader.predicates(*op, predicate, pick))?;
            let op = match op {
                ReductionOp::Popc => bcu::RedOp::Popc,
                ReductionOp::And => bcu::RedOp::And,
                ReductionOp::Or => bcu::RedOp::Or,
            };
            match id {
                Bar::Separate(id) => warp.red(operand(id), count, op, &lanes)?,
                Bar::Packed(register) => warp.red_packed(register, op, &lanes)?,
            }
            Ok(Done::Waited(warp.copy().map(number)))
        }
        _ => Err(Stopped::Unfit("a form of BAR without an id".to_owned())),
    }
}

fn split<R: Runtime>(invocation: &split::Invocation<R, Instance>, action: &Action) -> Result<Done, Stopped> {
    let Action::Barrier(BarrierAction::Split(Split { kind, scope, instance, .. })) = action else {
        return Err(Stopped::Unfit("nothing says what this barrier does".to_owned()));
    };
    let scope = match scope {
        Scope::Invocation => split::Scope::Invocation,
        Scope::Subgroup => split::Scope::Subgroup,
        Scope::Workgroup => split::Scope::Workgroup,
        Scope::Device => {
            return Err(Stopped::Unfit("the device is no scope of a workgroup's barriers".to_owned()));
        }
    };
    let instance = instance.clone();
    match kind {
        SplitKind::Arrive => {
            invocation.arrive(scope, instance)?;
            Ok(Done::Passed)
        }
        SplitKind::Wait => {
            invocation.wait(scope, instance)?;
            Ok(Done::Waited(None))
        }
        SplitKind::Both => {
            invocation.control_barrier(scope, instance)?;
            Ok(Done::Waited(None))
        }
        SplitKind::MemoryBarrier => {
            invocation.memory_barrier()?;
            Ok(Done::Passed)
        }
    }
}

fn xegpu<R: Runtime>(
    subgroup: &xegpu::Subgroup<R>,
    kept: &mut HashMap<LocalId, Kept>,
    reader: Reader<'_>,
    op: &XegpuOp,
) -> Result<Done, Stopped> {
    let handle = |kept: &HashMap<LocalId, Kept>, local: &LocalId| match kept.get(local) {
        Some(Kept::Handle(handle)) => Ok(*handle),
        _ => Err(Stopped::Unfit("a handle that was never initialised".to_owned())),
    };
    match op {
        XegpuOp::Alloc { count } => {
            subgroup.alloc(evaluated(reader.shared(count))?)?;
            Ok(Done::Passed)
        }
        XegpuOp::Init { handle, id, participants } => {
            let made =
                subgroup.init(evaluated(reader.shared(id))?, evaluated(reader.shared(participants))?)?;
            kept.insert(*handle, Kept::Handle(made));
            Ok(Done::Passed)
        }
        XegpuOp::Arrive(local) => {
            subgroup.arrive(handle(kept, local)?)?;
            Ok(Done::Passed)
        }
        XegpuOp::Wait(local) => {
            subgroup.wait(handle(kept, local)?)?;
            Ok(Done::Waited(None))
        }
    }
}
