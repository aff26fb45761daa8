//! What agents know besides memory: which generations of barriers are complete, and which waits have been made.
//!
//! It is part of the state, as knowledge of accesses is, and travels with it: through the same arrivals and releases ([`Knowledge`]). A
//! holder of a completed generation knows of *all* arrivals in it, since it was released or notified by its completion, or has learnt
//! from somebody who was. Where nobody was, because nobody waits, each arrival has to be known by itself.

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Event, Machine, State};
use barcheck_model::memory::{Conflict, Holders, Knowledge, Layout, Memory};
use barcheck_model::program::{AccessKind, AgentId, LocationId, Program, Spaces};

/// What is known of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Mark {
    /// The arrivals in the generation that is gathering. Whoever its completion reaches will know of them.
    Gathering,
    /// An arrival in it by an agent that does not wait.
    Arrived(AgentId),
    /// The latest generation that is complete.
    Complete,
    /// An arrival in it, if its completion has reached nobody.
    CompleteArrival(AgentId),
    /// An agent's wait for it (`nbarrier`, `xegpu`).
    Waited(AgentId),
}

/// Something known, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Tie {
    barrier: BarrierId,
    mark: Mark,
    known: Holders,
}

/// What everybody knows: of accesses, of generations, of waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Ties {
    pub(super) memory: Memory,
    /// By barrier and mark. What every live agent knows of complete generations is left out.
    ties: Vec<Tie>,
}

impl Ties {
    /// Whether an agent knows that the barrier's latest generation is complete, if it has had one.
    pub(super) fn knows_complete(&self, layout: Layout, agent: AgentId, barrier: BarrierId) -> bool {
        let of_it = |t: &&Tie| matches!(t.mark, Mark::Complete | Mark::CompleteArrival(_));
        let mut ties = self.ties.iter().filter(|t| t.barrier == barrier).filter(of_it);
        ties.all(|tie| tie.known.has(layout.time(agent)))
    }

    /// Whether an agent knows of every wait for the barrier's latest generation.
    pub(super) fn knows_waits(&self, layout: Layout, agent: AgentId, barrier: BarrierId) -> bool {
        let mut waits =
            self.ties.iter().filter(|t| t.barrier == barrier && matches!(t.mark, Mark::Waited(_)));
        waits.all(|tie| tie.known.has(layout.time(agent)))
    }

    /// An agent is about to arrive at a barrier that others may use.
    pub(super) fn gather(&mut self, layout: Layout, barrier: BarrierId) {
        self.set(barrier, Mark::Gathering, layout.gathering(barrier));
    }

    /// Something that only one holder knows.
    fn set(&mut self, barrier: BarrierId, mark: Mark, holder: usize) {
        let mut known = Holders::default();
        known.add(holder);
        match self.ties.binary_search_by_key(&(barrier, mark), |t| (t.barrier, t.mark)) {
            Ok(at) => self.ties[at].known = known,
            Err(at) => self.ties.insert(at, Tie { barrier, mark, known }),
        }
    }

    /// A generation is complete: whoever knows of its arrivals has learnt of them from its completion, if that has reached anybody.
    fn complete(&mut self, layout: Layout, barrier: BarrierId, reached: bool) {
        let is_past = |mark| matches!(mark, Mark::Complete | Mark::CompleteArrival(_) | Mark::Waited(_));
        self.ties.retain(|t| t.barrier != barrier || !is_past(t.mark));
        for tie in self.ties.iter_mut().filter(|t| t.barrier == barrier) {
            tie.mark = match tie.mark {
                Mark::Gathering => Mark::Complete,
                Mark::Arrived(agent) => Mark::CompleteArrival(agent),
                mark => mark,
            };
        }
        self.ties.retain(|t| t.barrier != barrier || reached == (t.mark == Mark::Complete));
        self.ties.sort_unstable_by_key(|t| (t.barrier, t.mark));
        debug_assert!(
            !self.ties.iter().any(|t| t.known.has(layout.gathering(barrier)) && t.barrier == barrier)
        );
    }

    /// The same with agents renamed: agent `i` becomes `to[i]`.
    pub(super) fn renamed(&self, layout: Layout, to: &[AgentId]) -> Self {
        let renamed = self.ties.iter().map(|tie| Tie {
            barrier: tie.barrier,
            mark: match tie.mark {
                Mark::Arrived(agent) => Mark::Arrived(to[agent.index()]),
                Mark::CompleteArrival(agent) => Mark::CompleteArrival(to[agent.index()]),
                Mark::Waited(agent) => Mark::Waited(to[agent.index()]),
                Mark::Gathering | Mark::Complete => tie.mark,
            },
            known: tie.known.renamed(layout, to),
        });
        let mut ties: Vec<Tie> = renamed.collect();
        ties.sort_unstable();
        Self { memory: self.memory.renamed(layout, to), ties }
    }

    /// What an agent knows of generations and waits: for each barrier and kind of marks, how many there are of others that it knows and does not
    /// know, and of its own. Equal for interchangeable agents whose roles are equal.
    pub(super) fn profile(&self, layout: Layout, agent: AgentId) -> Vec<(BarrierId, u8, [u32; 4])> {
        let mut profile: Vec<(BarrierId, u8, [u32; 4])> = Vec::new();
        for tie in &self.ties {
            let (kind, whose) = match tie.mark {
                Mark::Gathering => (0, None),
                Mark::Arrived(whose) => (1, Some(whose)),
                Mark::Complete => (2, None),
                Mark::CompleteArrival(whose) => (3, Some(whose)),
                Mark::Waited(whose) => (4, Some(whose)),
            };
            let at = 2 * usize::from(whose == Some(agent)) + usize::from(tie.known.has(layout.time(agent)));
            // Marks of one kind follow one another.
            match profile.last_mut().filter(|last| (last.0, last.1) == (tie.barrier, kind)) {
                Some((.., counts)) => counts[at] += 1,
                None => {
                    let mut counts = [0; 4];
                    counts[at] = 1;
                    profile.push((tie.barrier, kind, counts));
                }
            }
        }
        profile
    }
}

/// What has happened at a step makes what is to be known. Waits are followed only if somebody asks for them.
pub(super) fn follow(
    machine: &Machine,
    state: &mut State<Ties>,
    agent: AgentId,
    events: &[Event],
    follows_waits: bool,
) {
    let layout = machine.layout();
    let mut changed = false;
    for event in events {
        match event {
            Event::Arrived(barrier) if !events.contains(&Event::Blocked(*barrier)) => {
                state.memory.set(*barrier, Mark::Arrived(agent), layout.time(agent));
            }
            Event::Completed(barrier, _) => {
                let reaches = |event: &Event| matches!(event, Event::Released(_, b) | Event::Notified(_, b) if b == barrier);
                state.memory.complete(layout, *barrier, events.iter().any(reaches));
                changed = true;
            }
            // It has waited before the completion; in another order it might wait after it.
            Event::Released(released, barrier) if follows_waits => {
                state.memory.set(*barrier, Mark::Waited(*released), layout.time(*released));
            }
            Event::Passed(barrier) if follows_waits => {
                state.memory.set(*barrier, Mark::Waited(agent), layout.time(agent));
                changed = true;
            }
            _ => {}
        }
    }
    if changed {
        settle(machine, state);
    }
}

/// Forgets what every live agent knows.
pub(super) fn settle(machine: &Machine, state: &mut State<Ties>) {
    let live: Vec<AgentId> =
        machine.agents().filter(|agent| !machine.config(state, *agent).has_exited()).collect();
    state.memory.forget_settled(machine.layout(), &live);
}

impl Knowledge for Ties {
    type Known = Holders;

    fn settles(&self) -> bool {
        self.memory.settles() || !self.ties.is_empty()
    }

    fn each(&mut self, mut f: impl FnMut(&mut Holders)) {
        self.memory.each(&mut f);
        self.ties.iter_mut().for_each(|tie| f(&mut tie.known));
    }

    fn each_in(&mut self, program: &Program, spaces: Spaces, f: impl FnMut(&mut Holders)) {
        self.memory.each_in(program, spaces, f);
    }

    fn access(
        &mut self,
        layout: Layout,
        agent: AgentId,
        kind: AccessKind,
        locations: &[LocationId],
    ) -> Vec<Conflict> {
        self.memory.access(layout, agent, kind, locations)
    }

    fn publish(&mut self, layout: Layout, program: &Program, agent: AgentId, spaces: Spaces) {
        self.memory.publish(layout, program, agent, spaces);
    }

    fn forget_settled(&mut self, layout: Layout, live: &[AgentId]) {
        self.memory.forget_settled(layout, live);
        let gathers = |mark| matches!(mark, Mark::Gathering | Mark::Arrived(_));
        let matters = |t: &Tie| live.iter().any(|agent| !t.known.has(layout.time(*agent)));
        self.ties.retain(|t| gathers(t.mark) || matters(t));
    }
}
