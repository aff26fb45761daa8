//! From the model's automata to numbered nodes.

use super::node::{Act, Kind, Node, Step};
use super::systems;
use barcheck_model::agent::{Action, Choices, Config, FaultKind, Fragment, Move, Outcome, Value};
use barcheck_model::barrier::{Announced, BarrierAction, BarrierId, Blocking, Instance, Opaque, Part};
use barcheck_model::machine::{Automaton, ConfigId, Label, Machine};
use barcheck_model::program::{AgentId, Fence, WARP_SIZE};
use barcheck_model::rule::Rule;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// All agents' nodes, numbered.
pub(super) struct Unfolded {
    pub(super) nodes: Vec<Node>,
    /// For each agent its first node.
    pub(super) starts: Vec<usize>,
}

/// A configuration: its automaton, and its number there.
type Place = (usize, ConfigId);

/// A node before it is numbered, with the move and the pick that each of its steps is.
struct Loose {
    place: Place,
    node: Node,
    made: Vec<(u32, u32)>,
}

/// The nodes of a machine whose automata are worked out; `members` are the agents of each.
pub(super) fn nodes(machine: &Machine, members: &BTreeMap<usize, Vec<AgentId>>) -> Unfolded {
    let (mut loose, mut instances, mut edges) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (class, agents) in members {
        let automaton = &machine.automata()[*class];
        let reader = Reader { machine, automaton, agents };
        for id in (0..automaton.len()).map(|id| ConfigId(u32::try_from(id).unwrap_or(u32::MAX))) {
            loose.push(reader.node((*class, id), &mut instances));
        }
        for (from, label, to) in automaton.labelled_edges() {
            edges.entry((*class, from)).or_insert_with(Vec::new).push((label, to));
        }
    }
    // Whoever has exited has no future that could differ.
    let has_exited = |loose: &Loose| loose.node.kind == Kind::Exited;
    let exited: Vec<Place> = loose.iter().filter(|l| has_exited(l)).map(|l| l.place).collect();
    loose.retain(|l| !has_exited(l) || exited.first() == Some(&l.place));
    loose.sort_by_key(|l| (l.node.kind.rank(), Reverse(l.node.steps.len()), stands(&l.node), l.place));
    let mut numbers: BTreeMap<Place, usize> =
        loose.iter().enumerate().map(|(number, l)| (l.place, number)).collect();
    for place in &exited {
        numbers.insert(*place, numbers[&exited[0]]);
    }
    let starts = machine.agents().map(|agent| numbers[&(machine.class(agent), ConfigId(0))]).collect();
    let linked = loose.into_iter().map(|loose| {
        let class = loose.place.0;
        let edges = edges.get(&loose.place).map(Vec::as_slice).unwrap_or_default();
        linked(loose, edges, |to| numbers[&(class, to)])
    });
    let mut nodes: Vec<Node> = linked.collect();
    number_states(&mut nodes);
    Unfolded { nodes, starts }
}

/// The states of barriers that registers hold get numbers without gaps; one that no register holds afterwards
/// is not read.
fn number_states(nodes: &mut [Node]) {
    let held: BTreeSet<usize> = nodes.iter().flat_map(|node| &node.holds).copied().collect();
    let number = |state: &usize| held.iter().position(|known| known == state).unwrap_or_default();
    let holds: Vec<BTreeSet<usize>> = nodes.iter().map(|node| node.holds.clone()).collect();
    for node in nodes {
        node.holds = node.holds.iter().map(number).collect();
        for step in &mut node.steps {
            match &mut step.act {
                Act::ReadState(_, state) if holds[step.next].contains(state) => *state = number(state),
                Act::ReadState(..) => step.act = Act::Go,
                Act::WriteState(_, states) => *states = states.iter().map(number).collect(),
                _ => {}
            }
        }
    }
}

/// The barrier at which an agent stands, and the count: agents that stand at one have numbers in a row.
fn stands(node: &Node) -> (Option<BarrierId>, u32) {
    let act = node.steps.first().map(|step| &step.act);
    let count = match act.and_then(Act::standing).map(|at| at.announced) {
        Some(Announced::Whole(count) | Announced::Sides(count, _)) => count,
        Some(Announced::Live) | None => 0,
    };
    (act.and_then(Act::barrier), count)
}

/// A node whose steps and releases lead to numbers.
fn linked(loose: Loose, edges: &[(Label, ConfigId)], number: impl Fn(ConfigId) -> usize) -> Node {
    let find = |label: Label| edges.iter().find(|(known, _)| *known == label).map(|(_, to)| number(*to));
    let Loose { place, mut node, made } = loose;
    for (step, (index, pick)) in node.steps.iter_mut().zip(made) {
        let passes = find(Label::Made(index, pick, Outcome::Pass))
            .or_else(|| find(Label::Made(index, pick, Outcome::Tested(false))));
        step.answered = find(Label::Made(index, pick, Outcome::Tested(true)));
        step.blocks = find(Label::Made(index, pick, Outcome::Block));
        step.next = passes.or(step.blocks).unwrap_or_else(|| number(place.1));
        if let Act::ReadState(_, state) = &mut step.act {
            let read = edges.iter().find_map(|(label, to)| match label {
                Label::Made(of, _, Outcome::Read(Opaque::Unknown(state))) if *of == index => {
                    Some((*state, *to))
                }
                _ => None,
            });
            (*state, step.next) = read.map_or((0, step.next), |(state, to)| (state as usize, number(to)));
        }
    }
    if let Kind::Waits { releases, .. } = &mut node.kind {
        let released = edges.iter().filter_map(|(label, to)| match label {
            Label::Released(result) => Some((*result, number(*to))),
            Label::Made(..) => None,
        });
        *releases = released.collect();
    }
    node
}

/// Reads the configurations of one automaton.
struct Reader<'m> {
    machine: &'m Machine,
    automaton: &'m Automaton,
    agents: &'m [AgentId],
}

impl Reader<'_> {
    fn node(&self, place: Place, instances: &mut Vec<Instance>) -> Loose {
        let config = self.automaton.config(place.1);
        let (mut steps, mut made) = (Vec::new(), Vec::new());
        for (index, one) in (0..).zip(self.automaton.moves(place.1)) {
            for pick in 0..picks(one) {
                steps.push(self.step(config, one, pick, instances));
                made.push((index, pick));
            }
        }
        let kind = self.kind(config, !steps.is_empty());
        let states = config.fragments.iter().flat_map(Fragment::unknown_states);
        let holds = states.map(|state| state as usize).collect();
        Loose { place, node: Node { kind, steps, holds, agents: self.agents.to_vec() }, made }
    }

    fn kind(&self, config: &Config, goes: bool) -> Kind {
        if let Some(fault) = &config.fault {
            return if matches!(fault.kind, FaultKind::Endless(_)) { Kind::Endless } else { Kind::Failed };
        }
        match config.waiting {
            _ if config.has_exited() => Kind::Exited,
            Some(waiting) => {
                let unfetched = config.copy.is_some_and(|(_, fetched)| !fetched);
                Kind::Waits {
                    barrier: waiting.barrier,
                    acquires: waiting.acquires,
                    unfetched,
                    releases: Vec::new(),
                }
            }
            None if goes => Kind::Goes { blocked: config.is_blocked() },
            None => Kind::Parked,
        }
    }

    fn step(&self, config: &Config, made: &Move, pick: u32, instances: &mut Vec<Instance>) -> Step {
        let agent = self.agents[0];
        let text = self.machine.program().code(agent).texts.get(made.pc.index()).map_or("", String::as_str);
        let says = format!("line {}: {text}", self.machine.place(agent, made.pc).line);
        let exits = config.fragments.len() == 1;
        let act = match &made.action {
            Action::Barrier(action) if writes_state(action) => {
                self.write_state(action.barrier(), config, made)
            }
            // Whether its tokens name one phase depends on when it comes.
            Action::Barrier(action) if systems::keeps_one_more_token(action) => Act::NotModelled,
            _ => act(made, pick, exits, instances),
        };
        let reaches = self.reaches(&act);
        Step { fragment: made.fragment, says, act, next: 0, blocks: None, answered: None, reaches }
    }

    /// The CTAs other than the agent's own in whose shared memory a step works, as a bit mask.
    fn reaches(&self, act: &Act) -> usize {
        let program = self.machine.program();
        let own = program.cta_of(self.agents[0]);
        let homes: Vec<u32> = match act {
            _ if program.ctas <= 1 => return 0,
            Act::Access(_, locations) => locations.iter().filter_map(|at| program.home_of(*at)).collect(),
            act => act.barrier().and_then(|id| program.home(id)).map(|home| home.cta).into_iter().collect(),
        };
        homes.into_iter().filter(|cta| *cta != own).fold(0, |mask, cta| mask | 1 << cta)
    }

    /// What the lanes of a fragment put back; a value that one of them has not read from a barrier is not
    /// modelled.
    fn write_state(&self, id: BarrierId, config: &Config, made: &Move) -> Act {
        let op = &self.machine.program().code(self.agents[0]).ops[made.pc.index()];
        let Some(source) = systems::written_back(op) else { return Act::NotModelled };
        let held = &config.fragments[made.fragment].locals[source.index()];
        let lanes = (0..WARP_SIZE).filter(|lane| made.lanes >> lane & 1 == 1);
        let state = |lane| match held.get(lane) {
            Value::Opaque(opaque) => match **opaque {
                Opaque::Unknown(state) => Some(state as usize),
                Opaque::Barrier(_) | Opaque::Warp(_) => None,
            },
            _ => None,
        };
        lanes.map(state).collect::<Option<_>>().map_or(Act::NotModelled, |states| Act::WriteState(id, states))
    }
}

/// The number of alternatives that a move has.
fn picks(made: &Move) -> u32 {
    match made.choices {
        Choices::One => 1,
        Choices::Uniform(_) => 2,
        Choices::Open(n) => u32::try_from(n).unwrap_or(u32::MAX),
    }
}

/// What a move does to what agents share; `exits`: an exit leaves no lane of the agent.
fn act(made: &Move, pick: u32, exits: bool, instances: &mut Vec<Instance>) -> Act {
    match &made.action {
        Action::Decide => match made.choices {
            Choices::Uniform(sequence) => Act::Decide(sequence, pick != 0),
            Choices::One | Choices::Open(_) => Act::Go,
        },
        Action::Exit(None) if exits => Act::Exit,
        Action::Assert(false) => Act::Refuse(Rule::Assertion),
        Action::Access(kind, locations) => Act::Access(*kind, locations.to_vec()),
        Action::Fence(fence @ (Fence::Publishes(_) | Fence::Orders { releases: true, .. })) => {
            Act::Fence(*fence)
        }
        // Where no wait is relaxed, nothing is left to be acquired.
        Action::Fence(Fence::Nothing | Fence::Orders { .. } | Fence::ReleasesInitialised) => Act::Go,
        Action::MemoryBarrier(scope, semantics) => Act::MemoryBarrier(*scope, *semantics),
        Action::Barrier(action) | Action::Exit(Some(action)) => barrier_act(action, pick, instances),
        Action::Alloc(count) => Act::Alloc(*count),
        Action::Refuse(rule, _) => Act::Refuse(*rule),
        Action::NotModelled(_) => Act::NotModelled,
        Action::Fault(_) => Act::Fault,
        // Where nothing reads by the asynchronous proxy, its fences and groups mean nothing.
        Action::Spin
        | Action::Exit(None)
        | Action::Assert(true)
        | Action::Proxy(_)
        | Action::Park(..)
        | Action::Init(..)
        | Action::Fetch(_)
        | Action::SaveCopy(_)
        | Action::RestoreCopy(_) => Act::Go,
    }
}

/// The instruction puts a barrier's state back.
fn writes_state(action: &BarrierAction) -> bool {
    action.part() == Part::MovesState && action.blocking() != Blocking::Reads
}

fn barrier_act(action: &BarrierAction, pick: u32, instances: &mut Vec<Instance>) -> Act {
    match action.part() {
        Part::Arrives
        | Part::Waits
        | Part::Observes
        | Part::Counts
        | Part::Begins
        | Part::Gives
        | Part::Takes
        | Part::Asks => {
            let number = |found: &Instance| {
                let known = instances.iter().position(|instance| instance == found);
                known.unwrap_or_else(|| {
                    instances.push(found.clone());
                    instances.len() - 1
                })
            };
            let instance = systems::instance(action).map(number);
            Act::Barrier(action.with_pick(pick), instance)
        }
        // By what number it is held the step's label says.
        Part::MovesState if writes_state(action) => Act::WriteState(action.barrier(), BTreeSet::new()),
        Part::MovesState => Act::ReadState(action.barrier(), 0),
    }
}
