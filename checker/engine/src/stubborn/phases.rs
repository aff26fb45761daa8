//! Happens-before of barriers with phases: what [`crate::schedule`] keeps as steps of a run is kept here as
//! facts that holders know. The conditions, and why they are enough, stand there, with its history of
//! barriers.
//!
//! Landings are made at once, so none is under way when somebody else makes a step.

use super::happens_before::{HappensBefore, Mark};
use crate::independence;
use crate::verdict::answer::Undecided;
use barcheck_model::agent::Move;
use barcheck_model::barrier::{BarrierId, Part};
use barcheck_model::machine::{Event, Machine, State};
use barcheck_model::memory::Layout;
use barcheck_model::program::{AgentId, Pc};

/// A step on a barrier with phases, as far as it matters before it is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnPhases {
    barrier: BarrierId,
    part: Part,
    /// Something of its phase has to come after it.
    must_not_complete: bool,
    /// The agent knows enough for a wait that passes.
    passes: bool,
    /// It does for one that blocks.
    blocks: bool,
}

/// What a move is to a barrier with phases, if it is about one; an error if it might do something else in
/// another order.
pub(super) fn before(
    machine: &Machine,
    state: &mut State<HappensBefore>,
    agent: AgentId,
    made: &Move,
) -> Result<Option<OnPhases>, Undecided> {
    let layout = machine.layout();
    let Some(action) = made.action.on_barrier().filter(|action| layout.has_phases(action.barrier())) else {
        return Ok(None);
    };
    let (barrier, part) = (action.barrier(), action.part());
    let memory = &mut state.memory;
    let knows = |mark: &dyn Fn(Mark) -> bool| memory.knows_marks(layout, agent, barrier, mark);
    let [knows_complete, knows_before] =
        [Mark::Complete, Mark::Before].map(|wanted| knows(&|mark| mark == wanted));
    let is_open = match part {
        Part::Begins => !knows(&|mark| mark != Mark::InFlight),
        Part::Arrives => {
            let unobserved = memory.marks(barrier).any(|mark| matches!(mark, Mark::Observer(_)))
                && !memory.knows_some(layout, agent, barrier, |mark| matches!(mark, Mark::Observer(_)));
            !knows_complete || unobserved
        }
        Part::Counts => !knows_complete,
        Part::Asks => return Err(Undecided::BarrierState(agent, made.pc)),
        Part::Observes | Part::Waits | Part::MovesState | Part::Gives | Part::Takes => false,
    };
    if is_open {
        return Err(Undecided::Unordered(agent, made.pc));
    }
    if matches!(part, Part::Arrives | Part::Counts) {
        memory.gather(layout, barrier);
    }
    let must_not_complete = action.must_not_complete();
    Ok(Some(OnPhases { barrier, part, must_not_complete, passes: knows_before, blocks: knows_complete }))
}

/// Something that an agent has left is about to land on a barrier with phases; whether it matters that
/// everybody may have exited. Whoever learns of the landing knows that it was begun, which was the agent's
/// latest step.
pub(super) fn before_landing(
    machine: &Machine,
    state: &mut State<HappensBefore>,
    agent: AgentId,
    (barrier, may_be_late): (BarrierId, bool),
) {
    let (layout, program) = (machine.layout(), machine.program());
    if !layout.has_phases(barrier) {
        return;
    }
    let gathering = layout.gathering(barrier);
    state.memory.gather(layout, barrier);
    if may_be_late {
        state.memory.set(barrier, Mark::InFlight, gathering);
    }
    if let Some(home) = program.home(barrier).filter(|home| home.cta != program.cta_of(agent)) {
        let begun = Mark::Remote(agent, home.cta, program.agents_per_cta());
        if state.memory.marks(program.cluster_barrier()).any(|mark| mark == begun) {
            state.memory.add(program.cluster_barrier(), begun, gathering);
        }
    }
}

/// What has happened at a step that is `on` a barrier with phases, or a landing.
pub(super) fn follow(
    machine: &Machine,
    state: &mut State<HappensBefore>,
    (agent, pc): (AgentId, Pc),
    events: &[Event],
    on: Option<OnPhases>,
) -> Result<(), Undecided> {
    let layout = machine.layout();
    if machine.program().ctas > 1 {
        let concerned = events.iter().flat_map(|event| independence::concerned(machine.program(), event));
        state.memory.concern(machine, agent, concerned);
    }
    for event in events {
        let is_kept = match event {
            Event::Arrived(barrier) if layout.has_phases(*barrier) => {
                state.memory.belongs(layout, *barrier, agent, true);
                if on.is_some_and(|on| on.must_not_complete) {
                    state.memory.set(*barrier, Mark::Unsettled(agent), layout.time(agent));
                }
                !is_open(state, *barrier)
            }
            Event::Counted(barrier) => {
                state.memory.belongs(layout, *barrier, agent, false);
                state.memory.set(*barrier, Mark::Announced(agent), layout.time(agent));
                !is_open(state, *barrier)
            }
            // Whether its CTA exits before it has landed depends on the order.
            Event::Issued(pending) if pending.operation.reads() => {
                return Err(Undecided::InFlight(agent, pc));
            }
            Event::Issued(pending) if layout.has_phases(pending.operation.barrier()) => {
                let arrives = on.is_some_and(|on| on.part == Part::Arrives);
                state.memory.belongs(layout, pending.operation.barrier(), agent, arrives);
                pending.operation.is_awaited()
            }
            Event::Landed(pending) => !is_open(state, pending.operation.barrier()),
            Event::Begun(barrier) => {
                state.memory.begin(layout, *barrier, agent);
                true
            }
            Event::Passed(barrier) if layout.has_phases(*barrier) => {
                state.memory.observe(layout, *barrier, agent);
                on.is_none_or(|on| on.passes || on.barrier != *barrier)
            }
            Event::Blocked(barrier) if layout.has_phases(*barrier) => {
                on.is_none_or(|on| on.blocks || on.barrier != *barrier)
            }
            Event::Completed(barrier, _) if layout.has_phases(*barrier) => {
                state.memory.complete_phase(*barrier)
            }
            Event::Released(released, barrier) if layout.has_phases(*barrier) => {
                state.memory.observe(layout, *barrier, *released);
                true
            }
            Event::Exited => {
                let cta = machine.program().cta_of(agent);
                state.memory.exit(layout, agent, (cta, machine.program().cluster_barrier()));
                if is_left_open(machine, state, cta) {
                    return Err(Undecided::InFlight(agent, pc));
                }
                true
            }
            _ => true,
        };
        if !is_kept {
            return Err(Undecided::Unordered(agent, pc));
        }
    }
    Ok(())
}

/// Whether all agents of a CTA have exited while something is in flight to it, or it is of concern to others.
fn is_left_open(machine: &Machine, state: &State<HappensBefore>, cta: u32) -> bool {
    let has_left = machine.agents_of(cta).all(|agent| machine.config(state, agent).has_exited());
    let is_its = |barrier| machine.program().home(barrier).is_some_and(|home| home.cta == cta);
    has_left && (state.memory.is_in_flight(is_its) || state.memory.is_concerned(cta))
}

/// Whether what becomes of a barrier may depend on the order of what belongs to its phase.
fn is_open(state: &State<HappensBefore>, barrier: BarrierId) -> bool {
    state.barrier(barrier).is_some_and(|now| {
        let mut announced = state.memory.marks(barrier).filter(|mark| matches!(mark, Mark::Announced(_)));
        now.depends_on_order() || now.has_all_arrivals() && announced.next().is_some()
    })
}

impl HappensBefore {
    /// Something in the present phase, an arrival or not.
    fn belongs(&mut self, layout: Layout, barrier: BarrierId, agent: AgentId, arrives: bool) {
        self.forget_known(layout, barrier, agent, |mark| match mark {
            Mark::Unsettled(_) => true,
            Mark::Announced(_) => arrives,
            _ => false,
        });
    }

    /// An agent has seen the latest phase complete.
    fn observe(&mut self, layout: Layout, barrier: BarrierId, agent: AgentId) {
        if !self.marks(barrier).any(|mark| mark == Mark::Observer(agent)) {
            self.set(barrier, Mark::Observer(agent), layout.time(agent));
        }
        self.set(barrier, Mark::Unsettled(agent), layout.time(agent));
    }

    /// A phase is complete; `false` if it might have been so at another step.
    fn complete_phase(&mut self, barrier: BarrierId) -> bool {
        let open = |mark| matches!(mark, Mark::Unsettled(_) | Mark::Announced(_));
        let is_settled = !self.marks(barrier).any(open);
        self.remark(barrier, |mark| match mark {
            Mark::Gathering => Some(Mark::Complete),
            Mark::Complete => Some(Mark::Before),
            Mark::Before | Mark::Observer(_) | Mark::Unsettled(_) | Mark::Announced(_) => None,
            other => Some(other),
        });
        is_settled
    }

    /// The barrier's life begins or ends: what follows has to know of it.
    fn begin(&mut self, layout: Layout, barrier: BarrierId, agent: AgentId) {
        self.remark(barrier, |mark| (mark == Mark::InFlight).then_some(mark));
        self.set(barrier, Mark::Complete, layout.time(agent));
        self.set(barrier, Mark::Before, layout.time(agent));
    }

    /// A step of an agent concerns CTAs.
    pub(super) fn concern(&mut self, machine: &Machine, agent: AgentId, ctas: impl Iterator<Item = u32>) {
        let (program, layout) = (machine.program(), machine.layout());
        for cta in ctas.filter(|cta| *cta != program.cta_of(agent)) {
            let agents = program.agents_per_cta();
            self.set(program.cluster_barrier(), Mark::Remote(agent, cta, agents), layout.time(agent));
        }
    }

    /// What an agent knows of when it exits is in time. At a barrier that waits for every live agent its
    /// waits are over before the next phase completes, for which its exit is needed.
    fn exit(&mut self, layout: Layout, agent: AgentId, (cta, of_all): (u32, BarrierId)) {
        self.forget_everywhere(|fact, known| {
            let in_time = match fact {
                Mark::InFlight => true,
                Mark::Remote(_, there, _) => there == cta,
                _ => false,
            };
            in_time && known.has(layout.time(agent))
        });
        self.forget_known(layout, of_all, agent, |mark| mark == Mark::Unsettled(agent));
    }

    /// Some step concerned a CTA, and might have done so after everybody there has exited.
    fn is_concerned(&self, cta: u32) -> bool {
        self.all_marks().any(|(_, mark)| matches!(mark, Mark::Remote(_, there, _) if there == cta))
    }

    /// Something has landed on one of some barriers, and might have done so after everybody there has exited.
    fn is_in_flight(&self, there: impl Fn(BarrierId) -> bool) -> bool {
        self.all_marks().any(|(barrier, mark)| mark == Mark::InFlight && there(barrier))
    }
}
