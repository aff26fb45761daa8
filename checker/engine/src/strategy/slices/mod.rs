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
//! computation ([`Slice`]). Take a state of the protocol, let every agent make the steps that are left out
//! for as long as it stands at one, and forget what is known of accesses to other locations. This is a state
//! of P(L), and it is reachable there if the first is reachable: a step that is left out leads to the same
//! state of P(L), and each other step is a step there. The other way round, whatever P(L) does the protocol
//! does too, with each agent's steps that are left out made right before its next step. For this:
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
//! * *Loops around what is left out* become local loops, whose agents have a step for ever, as before. A
//!   loop that asks an mbarrier object again and again is a wait if nothing else stands in it; with something
//!   else it is not modelled, and where some agent may come to what is not modelled nothing is decided here.
//! * *A copy* that an agent begins is a step with or without memory. What it reads or writes is followed if
//!   that is in L. Groups of copies are steps in every slice. A fence between the proxies concerns what
//!   others have written too: it stays wherever L is not empty.
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
//! Every conflict is one about a single location. So the protocol violates what P(∅) does, and what P({l})
//! does for any location l. Of these most need not be asked:
//!
//! * On a location that only one agent accesses, or that nobody writes, nothing conflicts.
//! * Two locations are *alike* if a permutation of the agents makes of what each does in the one slice what
//!   it does in the other. What an agent does by itself is a graph: its configurations without the values of
//!   locals, with the moves in them and with what these lead to, where accesses to other locations are passed
//!   over. If the graphs are equal, neither the barriers nor anybody else can tell the two agents apart (see
//!   [`crate::successors::canonical`], where agents of one automaton are interchanged). Subgroups matter
//!   where a scope is one. So if for two locations the same graphs are there equally often, an agent that
//!   accesses neither having the graph of P(∅), one slice is the other with agents renamed.
//!
//! # Part by part
//!
//! Agents that share no barrier, no sequence of uniform decisions and no count of allocated barriers have
//! nothing to do with one another but in memory: a step of one changes nothing for the other. Where an exit
//! counts as an arrival, all agents share that. The sets of agents that are connected by what they share are
//! *parts*. P(∅) is decided part by part, the others exited from the start, and P({l}) with the parts that
//! access l. One with a location says all that the one without memory does, so that is not asked of parts
//! that are in any other slice.
//!
//! * Whatever a step of a part violates, or a state by who stands at its barriers, the whole violates: the
//!   others need not have moved. The other way round, a path of the whole is a path of each part if the
//!   others' steps are left out.
//! * A state of the whole in which nobody has a step is one of each part. So there is no deadlock unless a
//!   part has one.
//! * Take an agent that no continuation of a state unblocks, while one runs for ever. In its own part it is
//!   blocked in all continuations too. If one of these runs for ever, it is stuck there; otherwise they end,
//!   in a deadlock or in a violation that ends the path.
//! * So where a part has a violation that ends paths, it is one of the whole, if it is a deadlock and the
//!   others can come to their ends. What else is violated depends on whether the others run for ever: where
//!   all of it is wanted, that is left to others to decide.
//! * `dangling-arrival` asks for all others to exit: the path goes on until they have.
//!
//! A violation in a slice is shown by a path of the whole protocol ([`whole`]). Where none shows it, nothing
//! is decided here.

mod graph;
pub(crate) mod whole;

use crate::settings::{ByLocation, Progress};
use crate::verdict::answer::Question;
use barcheck_model::agent::LaneValues;
use barcheck_model::machine::{ExitedThreads, Machine, Slice};
use barcheck_model::program::{AccessKind, AgentId, LocationId, Pc, Program};
use graph::{Graph, Numbers, Shared};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Configurations of all agents that are worked out, at most.
const MOST_CONFIGS: usize = 1 << 20;
/// Bytes of the configurations of one agent, at most, and what one without locals takes, about.
const MOST_BYTES: usize = 96 << 20;
const BYTES_OF_CONFIG: usize = 1 << 10;
/// Slices of locations, at most.
const MOST_SLICES: usize = 1 << 12;
/// Parts, at most: those beyond are one.
const MOST_PARTS: usize = 16;
/// Agents times locations from which on to follow all locations at once is slow.
const MANY: usize = 1 << 15;

/// The slices by which a protocol is decided.
pub(crate) struct Plan {
    /// With a location each, but for parts that access none of these.
    pub(crate) slices: Vec<Arc<Slice>>,
    /// Parts that share nothing but memory.
    pub(crate) parts: usize,
    /// Locations with which it is decided.
    asked: usize,
    /// Locations on which accesses may conflict.
    locations: usize,
}

/// Whether a protocol may be decided location by location.
pub(crate) fn may_be_sliced(question: &Question<'_>) -> bool {
    let Question { program, settings, slice, .. } = question;
    let is_asked = slice.is_none() && settings.by_location != ByLocation::Never;
    is_asked
        && settings.checkpoint.is_none()
        && program.ctas == 1
        && !program.has_remote()
        && !(program.leaves_pending() && program.objects.is_empty())
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
        let program = &question.program;
        let known = Known::of(question)?;
        let parts = known.parts(question);
        let all = known.conflicts();
        let asked = known.one_of_each(&all);
        if asked.len() > MOST_SLICES || (parts.count == 1 && asked.is_empty() && !program.has_accesses()) {
            return None;
        }
        let mut alone: BTreeSet<usize> = (0..parts.count).collect();
        let mut slices = Vec::new();
        for location in &asked {
            let touched = known.touched(&all[location]);
            let own: BTreeSet<usize> = touched.iter().map(|(agent, _)| parts.of[agent.index()]).collect();
            alone.retain(|part| !own.contains(part));
            let slice = Slice::new(program, &[*location], &touched).without(parts.others(&own));
            slices.push(Arc::new(slice));
        }
        // A slice with some location says all that the one without memory does.
        let alone = alone.into_iter().map(|part| {
            let others = parts.others(&BTreeSet::from([part]));
            Arc::new(Slice::new(program, &[], &[]).without(others))
        });
        let slices: Vec<Arc<Slice>> = alone.chain(slices).collect();
        Some(Self { slices, parts: parts.count, asked: asked.len(), locations: all.len() })
    }
}

impl Plan {
    /// What is decided apart.
    pub(crate) fn in_words(&self) -> String {
        let Self { parts, asked, locations, .. } = self;
        let each = match (*asked, *locations) {
            (0, _) => "no location matters".to_owned(),
            (1, 1) => "with one location".to_owned(),
            (asked, locations) if asked == locations => {
                format!("with each of {locations} locations by itself")
            }
            (asked, locations) => {
                format!("with {asked} of {locations} locations, each by itself, since others are like them")
            }
        };
        match parts {
            1 => format!("decided {each}"),
            parts => format!("decided in {parts} parts that share nothing but memory, {each}"),
        }
    }
}

/// Sets of agents that share nothing but memory.
struct Parts {
    /// By agent.
    of: Vec<usize>,
    count: usize,
}

impl Parts {
    /// The agents of all other parts.
    fn others(&self, parts: &BTreeSet<usize>) -> Vec<AgentId> {
        let outside = |(_, part): &(usize, &usize)| !parts.contains(part);
        self.of.iter().enumerate().filter(outside).map(|(agent, _)| AgentId::from_index(agent)).collect()
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
            let most = left.min(most_of(question, agent));
            let configs = machine.unfolded(agent, most, &mut goes_on).ok()?.len();
            left = left.saturating_sub(configs);
            graphs.push(Graph::of(&machine, agent, &mut labels)?);
            machine.forget_automaton(agent);
        }
        Some(Self { graphs, members })
    }

    /// The locations on which accesses may conflict, and who accesses them how.
    fn conflicts(&self) -> BTreeMap<LocationId, Accesses> {
        let mut all: BTreeMap<LocationId, Accesses> = BTreeMap::new();
        for (class, graph) in self.graphs.iter().enumerate() {
            for (location, kind, pc) in graph.accesses() {
                let accesses = all.entry(location).or_default();
                accesses.entry(class).or_default().insert((kind, pc));
            }
        }
        all.retain(|_, accesses| self.may_conflict(accesses));
        all
    }

    /// Of locations that are alike the first.
    fn one_of_each(&self, all: &BTreeMap<LocationId, Accesses>) -> Vec<LocationId> {
        let (mut known, mut numbers) = (FxHashSet::default(), Numbers::default());
        let is_new = |(location, accesses): (&LocationId, &Accesses)| {
            let signature = self.signature(*location, accesses, &mut numbers);
            signature.is_none_or(|signature| known.insert(signature)).then_some(*location)
        };
        all.iter().filter_map(is_new).collect()
    }

    /// Divides the agents into parts, but not into more than a few.
    fn parts(&self, question: &Question<'_>) -> Parts {
        let agents = question.program.agents.len();
        let exits_release = question.options.exited_threads == ExitedThreads::Release;
        if question.program.counts_exits() || exits_release {
            return Parts { of: vec![0; agents], count: 1 };
        }
        let mut sets: UnionFind<usize> = UnionFind::new(agents);
        let mut first: BTreeMap<Shared, usize> = BTreeMap::new();
        for (graph, members) in self.graphs.iter().zip(&self.members) {
            for shared in graph.shares() {
                for agent in members {
                    let first = *first.entry(shared).or_insert(agent.index());
                    sets.union(first, agent.index());
                }
            }
        }
        let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
        let number = |agent: usize| {
            let next = numbers.len().min(MOST_PARTS - 1);
            *numbers.entry(sets.find(agent)).or_insert(next)
        };
        let of: Vec<usize> = (0..agents).map(number).collect();
        let count = of.iter().max().map_or(1, |last| last + 1);
        Parts { of, count }
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
        // Not even with its own agent's accesses a copy is ordered.
        if all.iter().any(|(_, kinds)| kinds.iter().any(|kind| kind.is_of_copy())) {
            return true;
        }
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
        // Where a copy reads or writes, and which object lives, stands in the instruction, whichever location
        // is watched.
        if accesses.values().flatten().any(|(kind, _)| kind.is_of_copy() || kind.is_about_life()) {
            return None;
        }
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

/// Configurations of an agent for which there is room at a time.
fn most_of(question: &Question<'_>, agent: AgentId) -> usize {
    let locals = question.program.code(agent).locals.len();
    let given = question.settings.budgets.memory().unwrap_or(u64::MAX) / 2;
    let bytes = usize::try_from(given).unwrap_or(usize::MAX).min(MOST_BYTES);
    bytes / (BYTES_OF_CONFIG + locals * 2 * size_of::<LaneValues>())
}

/// The machine of a whole protocol of which a question asks about a part.
pub(crate) fn whole_machine(question: &Question<'_>) -> Machine {
    Machine::within(question.program.clone(), question.options, question.patience.clone())
}
