//! Location by location: a protocol without its memory, and then with one location at a time.
//!
//! Take 32 warps that execute `if ? { write t[warp]; } bar.sync 0; …`, and also decide about a barrier by
//! themselves. Whoever keeps what each has written keeps 2^32 states, and no two warps are alike, since each
//! has an element of its own. But whether some pair of accesses races on `t[0]` is decided without the other
//! elements, and then 30 of the warps are alike.
//!
//! # The argument
//!
//! Let L be some locations, and P(L) the protocol in which every access to other locations is invisible local
//! computation ([`Slice`]). Take a state of the protocol, let every agent make the steps that are left
//! out for as long as it stands at one, and forget what is known of accesses to other locations. This is a
//! state of P(L), and it is reachable there if the first is reachable: a step that is left out leads to
//! the same state of P(L), and each other step is a step there. The other way round, whatever P(L) does the
//! protocol does too, with each agent's steps that are left out made right before its next step. For this:
//!
//! * *Accesses steer nothing.* They carry no values, they are always possible, and no barrier knows of them.
//!   That what is accessed lies in a CTA that has exited is the one exception: clusters are left to others.
//! * *Locations do not concern one another.* What is known of an access is changed by accesses to its own
//!   location, and by arrivals, waits, fences and exits, each by itself.
//! * *A fence publishes its own agent's accesses*, if it does anything. Of an agent without accesses in L it
//!   is left out. `OpMemoryBarrier` passes on what others have accessed: it stays wherever L is not empty.
//! * *Nothing that is left out fails.* That is not seen any more, and so it is found out before: what each
//!   agent can come to by itself, whatever the others do, is worked out, and where some computation may fail,
//!   or be too long to be followed, nothing is decided here. Then assignments may be left out too that serve
//!   nothing else.
//! * *Loops around what is left out* become local loops, whose agents have a step for ever, as before. Loops
//!   that ask an mbarrier object again and again are told by what stands in them: where there are objects,
//!   nothing is decided here, nor where accesses land later.
//!
//! So each rule is violated in the protocol if and only if it is in P(L):
//!
//! * `data-race` and `missing-fence` on a location of L, since the knowledge of its accesses is the same.
//! * What a step violates: the steps are the same, but for those left out, which violate nothing else.
//! * `arrival-race`: who stands at an access stands at no arrival, and can come to the next one without
//!   anybody else. More stand there then, and what there is room for is the same.
//! * `deadlock`, `dangling-arrival`: an agent before a step that is left out has a step. After it, it stands
//!   where it stands in P(L).
//! * `stuck-agent`: who is blocked is so in both; a run that goes on for ever in steps left out is one of a
//!   local loop.
//! * An evaluation error is none here, and a path that cannot be followed in P(L) decides nothing.
//!
//! Every conflict is one about a single location. So the protocol violates what P(∅) does, and what P({l}) does
//! for any location l. Of these most need not be asked:
//!
//! * On a location that only one agent accesses, or that nobody writes, nothing conflicts.
//! * Two locations are *alike* if a permutation of the agents makes of what each does in the one slice what it
//!   does in the other. What an agent does by itself is a graph: its configurations without the values of
//!   locals, with the moves in them and with what these lead to, where accesses to other locations are
//!   passed over. If the graphs are equal, neither the barriers nor anybody else can tell the two agents apart
//!   (see [`crate::successors::canonical`], where agents of one automaton are interchanged). Subgroups
//!   matter where a scope is one. So if for two locations the same graphs are there equally often, an agent
//!   that accesses neither having the graph of P(∅), one slice is the other with agents renamed.
//!
//! A violation in a slice is shown by a path of the whole protocol ([`whole`]). Where none shows it, nothing
//! is decided here.

mod graph;
pub(crate) mod whole;

use crate::settings::{ByLocation, Progress};
use crate::verdict::answer::Question;
use barcheck_model::machine::{Machine, Slice};
use barcheck_model::program::{AccessKind, AgentId, LocationId, Pc, Program};
use graph::{Graph, Numbers};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Configurations of all agents that are worked out, at most.
const MOST_CONFIGS: usize = 1 << 18;
/// Slices of locations, at most.
const MOST_SLICES: usize = 1 << 10;
/// Agents times locations from which on to follow all locations at once is slow.
const MANY: usize = 1 << 15;

/// The slices by which a protocol is decided.
pub(crate) struct Plan {
    /// The first without memory.
    pub(crate) slices: Vec<Arc<Slice>>,
    /// Locations on which accesses may conflict.
    pub(crate) locations: usize,
}

/// Whether a protocol may be decided location by location.
pub(crate) fn may_be_sliced(question: &Question<'_>) -> bool {
    let Question { program, settings, slice, .. } = question;
    let is_asked = slice.is_none() && settings.by_location != ByLocation::Never;
    is_asked
        && settings.checkpoint.is_none()
        && program.ctas == 1
        && program.objects.is_empty()
        && !program.leaves_pending()
        && !program.has_remote()
        && program.has_accesses()
}

/// Whether there are so many agents and locations that to follow all of them at once is slow.
pub(crate) fn has_many(program: &Program) -> bool {
    program.agents.len().saturating_mul(program.locations()) > MANY
}

/// Who accesses a location how, by class of agents.
type Accesses = BTreeMap<usize, BTreeSet<(AccessKind, Pc)>>;

impl Plan {
    /// How to decide a protocol location by location; `None` if it cannot be.
    pub(crate) fn of(question: &Question<'_>) -> Option<Self> {
        if !may_be_sliced(question) {
            return None;
        }
        let known = Known::of(question)?;
        let mut by_location: BTreeMap<LocationId, Accesses> = BTreeMap::new();
        for (class, graph) in known.graphs.iter().enumerate() {
            for (location, kind, pc) in graph.accesses() {
                let accesses = by_location.entry(location).or_default();
                accesses.entry(class).or_default().insert((kind, pc));
            }
        }
        by_location.retain(|_, accesses| known.may_conflict(accesses));
        let locations = by_location.len();
        let mut first_of: FxHashMap<Vec<(u32, usize)>, LocationId> = FxHashMap::default();
        let mut first: Vec<LocationId> = Vec::new();
        let mut numbers = Numbers::default();
        for (location, accesses) in &by_location {
            let signature = known.signature(*location, accesses, &mut numbers);
            if signature.is_none_or(|signature| first_of.insert(signature, *location).is_none()) {
                first.push(*location);
            }
        }
        if first.len() > MOST_SLICES {
            return None;
        }
        let program = &question.program;
        let mut slices = vec![Arc::new(Slice::new(program, &[], &[]))];
        for location in first {
            let touched = known.touched(&by_location[&location]);
            slices.push(Arc::new(Slice::new(program, &[location], &touched)));
        }
        Some(Self { slices, locations })
    }
}

/// What is known of the agents of a protocol.
struct Known {
    /// By class.
    graphs: Vec<Graph>,
    /// By class.
    members: Vec<Vec<AgentId>>,
}

impl Known {
    /// Works out what each agent does by itself; `None` if that takes too long, or if local computation may
    /// fail.
    fn of(question: &Question<'_>) -> Option<Self> {
        let mut machine = question.machine();
        let classes = machine.automata().len();
        let mut members = vec![Vec::new(); classes];
        machine.agents().for_each(|agent| members[machine.class(agent)].push(agent));
        let mut labels = Numbers::default();
        let (mut graphs, mut left) = (Vec::with_capacity(classes), MOST_CONFIGS);
        let timeout = question.settings.budgets.timeout;
        for class in &members {
            let agent = *class.first()?;
            let in_time = || timeout.is_none_or(|limit| question.started.elapsed() < limit);
            let mut goes_on = || in_time() && question.control.goes_on(Progress::default());
            let configs = machine.unfolded(agent, left, &mut goes_on).ok()?.len();
            left = left.saturating_sub(configs);
            graphs.push(Graph::of(&machine, agent, &mut labels)?);
            machine.forget_automaton(agent);
        }
        Some(Self { graphs, members })
    }

    /// Whether accesses of two agents to a location may conflict.
    fn may_conflict(&self, accesses: &Accesses) -> bool {
        let kinds = |class: &BTreeSet<(AccessKind, Pc)>| -> BTreeSet<AccessKind> {
            class.iter().map(|(kind, _)| *kind).collect()
        };
        let conflict = |a: &BTreeSet<AccessKind>, b: &BTreeSet<AccessKind>| {
            a.iter().any(|one| b.iter().any(|other| one.conflicts_with(*other)))
        };
        let all: Vec<_> = accesses.iter().map(|(class, accesses)| (*class, kinds(accesses))).collect();
        all.iter().enumerate().any(|(number, (class, kinds))| {
            (self.members[*class].len() > 1 && conflict(kinds, kinds))
                || all[..number].iter().any(|(_, others)| conflict(kinds, others))
        })
    }

    /// What the agents that access a location do, and how many of them do it; `None` if that cannot be told
    /// without who they are.
    fn signature(
        &self,
        location: LocationId,
        accesses: &Accesses,
        numbers: &mut Numbers<Vec<u32>>,
    ) -> Option<Vec<(u32, usize)>> {
        let mut each: BTreeMap<u32, usize> = BTreeMap::new();
        for class in accesses.keys() {
            let number = numbers.of(self.graphs[*class].seen_from(location)?);
            *each.entry(number).or_default() += self.members[*class].len();
        }
        Some(each.into_iter().collect())
    }

    /// The agents that access a location, and from where.
    fn touched(&self, accesses: &Accesses) -> Vec<(AgentId, Pc)> {
        let each = accesses.iter().flat_map(|(class, of_class)| {
            let members = self.members[*class].iter();
            members.flat_map(move |agent| of_class.iter().map(move |(_, pc)| (*agent, *pc)))
        });
        each.collect()
    }
}

/// The machine of a whole protocol of which a question asks about a part.
pub(crate) fn whole_machine(question: &Question<'_>) -> Machine {
    Machine::within(question.program.clone(), question.options, question.patience.clone())
}
