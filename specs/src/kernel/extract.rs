//! The extraction as a whole: graph, slice, and one evaluation for each warp; warps with the same residual
//! program are one role.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use barcheck_model::Patience;

use crate::common::span::Span;

use super::again;
use super::code::Code;
use super::counts;
use super::document::{self, Part, Role, Speech};
use super::forwarded::put;
use super::forwards::{self, Forwards};
use super::graph::Graph;
use super::group::{Agent, Group};
use super::landed;
use super::lanes::WIDTH;
use super::measured::{self, measure};
use super::memory::{self, Memory};
use super::moves;
use super::numbers::Number;
use super::objects::Objects;
use super::peeks::{self, Peeks};
use super::phases;
use super::programs::{self, Program};
use super::shared::{Failure, Shared};
use super::shares::fill;
use super::slice::{Slice, slice};
use super::spins;
use super::structure::Stop;
use super::tidy::tidy;
use super::touched::without_accesses;
use super::tree::{Assumption, Condition, Decision, Statement, Statements, exits, synchronises};
use super::uniform;
use super::value::{ValueId, Values};
use super::waits;
use super::warp::Warp;
use super::warpgroups;
use super::writes;

/// A protocol that was extracted.
#[derive(Debug, Default)]
pub(crate) struct Extraction {
    /// The protocol as text.
    pub(crate) text: String,
    /// For each of its lines the place in the kernel, if it has one.
    pub(crate) lines: Vec<Option<Span>>,
    /// Where the kernel ends, if it does.
    pub(crate) end: Option<Span>,
    /// What is taken for true.
    pub(crate) assumes: BTreeSet<Assumption>,
    /// Where each warp, or each lane if so, decides for itself.
    pub(crate) private: Vec<(Span, bool)>,
    /// For each decision that the whole group shares, by its name in the protocol, what it is about.
    pub(crate) about: BTreeMap<String, BTreeSet<String>>,
    /// What goes together with some of these decisions in every way: see [`counts::beside`].
    pub(crate) beside: BTreeMap<String, BTreeSet<String>>,
    /// What each of these decisions asks.
    pub(crate) words: BTreeMap<String, String>,
    /// All that conditions are about, whoever decides them.
    pub(crate) things: BTreeSet<String>,
    /// What conditions are about that each warp or lane decides for itself.
    pub(crate) own: BTreeSet<String>,
    /// What the reader took for true, and where.
    pub(crate) assumed: Vec<(String, Span)>,
    /// What was followed of its accesses to memory, where they were.
    pub(crate) memory: Option<Memory>,
    /// Where the grid would end with an error: taken not to happen.
    pub(crate) aborts: Vec<Span>,
    /// Instructions that are reached, and those of them that concern barriers.
    pub(crate) instructions: usize,
    pub(crate) kept: usize,
}

impl Extraction {
    /// Notes what conditions are about, and what those are that each warp or lane decides for itself.
    fn is_about(&mut self, own: BTreeSet<String>) {
        self.things = self.about.values().flatten().chain(&own).cloned().collect();
        self.own = own;
    }

    /// Calls decisions by their names instead of what they are.
    fn name(&mut self, decisions: &HashMap<String, String>) {
        let about = std::mem::take(&mut self.about).into_iter();
        self.about = about.filter_map(|(key, about)| Some((decisions.get(&key)?.clone(), about))).collect();
        self.beside = counts::beside(decisions);
        let words = decisions.iter().map(|(key, name)| (name.clone(), super::slugs::plain(key)));
        self.words = words.collect();
    }

    fn rests_on(&mut self, decision: &Decision) {
        self.assumes.extend(&decision.assumes);
        self.about.entry(decision.key.clone()).or_default().extend(decision.about.iter().cloned());
    }
}

/// Extracts the protocol of a kernel that is launched with groups like this. `heading` are lines of remarks
/// for the beginning of the text. What warpgroups do together is left out unless something depends on it.
pub(crate) fn extract(
    mut code: Code,
    group: &Group,
    heading: &[String],
    patience: &Patience,
) -> Result<Extraction, Failure> {
    super::chosen::split(&mut code);
    let steps = std::mem::take(&mut code.collective);
    if steps.is_empty() || group.lanes != WIDTH as u32 {
        return Ok(extracted(code, group, heading, patience)?.0);
    }
    let (alone, parts) = extracted(code.clone(), group, heading, patience)?;
    if !parts {
        return Ok(alone);
    }
    for (at, step) in steps {
        code.instructions[at].action = warpgroups::action(step);
    }
    match extracted(code, group, heading, patience) {
        Ok((together, true)) => Ok(together),
        _ => Ok(alone),
    }
}

/// Settles the questions whether phases are complete that are no waits.
fn settle(code: &mut Code, (group, values): (&Group, &Values), patience: &Patience) -> Result<(), Failure> {
    let questions = peeks::questions(code);
    if !questions.is_empty() {
        let refuted = refuted(code, &questions, (group, values.clone()), patience)?;
        peeks::settle(code, &questions, &refuted);
    }
    Ok(())
}

/// The first lines of a protocol, with what it declares.
fn header(group: &Group, declared: impl Iterator<Item = String>) -> Vec<String> {
    let target = format!("target {};", group.target);
    std::iter::once(target).chain(group.header.iter().cloned()).chain(declared).collect()
}

/// The protocol of a kernel, and whether something depends on what warpgroups do together.
fn extracted(
    mut code: Code,
    group: &Group,
    heading: &[String],
    patience: &Patience,
) -> Result<(Extraction, bool), Failure> {
    waits::resolve(&mut code);
    moves::forward(&mut code);
    let loads = forwards::loads(&code);
    let spins = spins::spins(&code, &Graph::of(&code));
    writes::forget_written(&mut code, Warp::threads(group.size));
    code.stored = writes::stored_by_threads(&code);
    let (values, figures) = forwarded(&mut code, loads, group, patience)?;
    settle(&mut code, (group, &values), patience)?;
    let code = &code;
    let graph = Graph::of(code);
    let slice = sliced(code, &graph)?;
    let mut shared = Shared::new(code, values);
    programs::look_for_tellings(code, (&graph, &slice), group, &mut shared, patience)?;
    let ((mut roles, mut programs, mut assumes), objects) =
        all((code, &slice), group, &mut shared, patience)?;
    let followed = memory::followed(code, &graph, group).map_err(Failure::Stop)?;
    let (memory, locations) = match followed {
        Some(memory) => located((&mut roles, &mut programs), (code, &shared.values), (memory, &mut assumes))?,
        None => {
            measure(&mut programs, &roles, &code.maps, &mut assumes).map_err(Failure::Stop)?;
            (None, Vec::new())
        }
    };
    let forwarded = code.forwarded.keys().map(|at| Assumption::Forwarded(code.instructions[*at].span));
    assumes.extend(forwarded.chain(spins.into_iter().map(Assumption::Awaited)));
    assumes.extend(objects.of_pairs.iter().map(|span| Assumption::Pair(*span)));
    again::keep(&mut programs);
    uniform::separate(&mut programs);
    programs.iter_mut().for_each(counts::expand);
    let threads = Warp::threads(group.size);
    let parts = warpgroups::part(&roles, &programs, threads);
    let met = warpgroups::meet(&mut programs, threads, &mut assumes);
    let mut extraction = Extraction {
        assumes,
        end: code.end(),
        assumed: code.assumed.clone(),
        aborts: graph.aborts,
        memory,
        instructions: figures.map_or(slice.instructions, |(all, _)| all),
        kept: figures.map_or(slice.kept, |(_, kept)| kept),
        ..Extraction::default()
    };
    for program in &programs {
        rests(program, (false, group.lanes > 1 && !group.is_one()), &mut extraction);
    }
    extraction.private.sort_unstable();
    extraction.private.dedup();
    let declared = objects.declarations().into_iter().chain(met).chain(locations);
    let header = header(group, declared);
    if group.is_one() {
        roles.iter_mut().for_each(|role| role.warps = vec![(0, Warp::threads(group.size))]);
    }
    let speech = Speech { noun: group.target.agent_noun(), is_one: group.is_one() };
    let written = document::write(
        (heading, &header, extraction.end),
        speech,
        (&roles, &programs),
        &mut shared.decisions,
    );
    (extraction.text, extraction.lines) = (written.text, written.lines);
    extraction.name(&shared.decisions);
    extraction.is_about(shared.unknown);
    Ok((extraction, parts))
}

/// The slice of a kernel.
fn sliced(code: &Code, graph: &Graph) -> Result<Slice, Failure> {
    slice(code, graph, &BTreeSet::new()).ok_or_else(|| {
        let what = "its loops and branches are too many to be followed".to_owned();
        Failure::Stop(Stop { what, span: Span::default(), help: None })
    })
}

/// How often loads are looked for that find what was stored before.
const LOOKS: usize = 4;

/// Looks for loads that find what was stored before, and puts that in their places. The terms in which it is
/// said; and, if so, how many instructions there were before, and how many of them in the slice.
fn forwarded(
    code: &mut Code,
    mut loads: forwards::Loads,
    group: &Group,
    patience: &Patience,
) -> Result<(Values, Option<(usize, usize)>), Failure> {
    let (mut values, mut figures) = (Values::of(code), None);
    for _ in 0..LOOKS {
        if loads.is_empty() || group.is_one() || forwards::plain_stores(code).is_empty() {
            break;
        }
        let mut whole = code.clone();
        for (at, load) in &loads {
            whole.instructions[*at].action = load.clone();
        }
        let graph = Graph::of(&whole);
        let matter = sliced(&whole, &graph)?;
        let matters: BTreeSet<usize> =
            matter.nodes.iter().flat_map(|node| &node.instructions).copied().collect();
        loads.retain(|at, _| matters.contains(at));
        let mut shared = Shared::new(&whole, values.clone());
        let mut chosen = forwards::Chosen::new();
        // What stores at computed addresses say is asked for only where something may be forwarded.
        for stores in [forwards::plain_stores(&whole), forwards::all_stores(&whole)] {
            let slice = slice(&whole, &graph, &stores).filter(|_| !loads.is_empty());
            let Some(slice) = slice else { return Ok((values, figures)) };
            let found = agents(&whole, &slice, group, &mut shared, patience)?;
            let Some(agents) = found else { return Ok((values, figures)) };
            let (code, slice, values, agents) = (&whole, &slice, &mut shared.values, agents.as_slice());
            let threads = Warp::threads(group.size);
            chosen = Forwards { code, slice, values, agents, threads, loads: &loads }.choose();
            if chosen.is_empty() {
                break;
            }
        }
        let has_any = !chosen.is_empty();
        let more = put(code, &mut shared.values, chosen, &mut loads);
        if has_any {
            values = shared.values;
            figures = figures.or(Some((matter.instructions, matter.kept)));
        }
        if !more {
            break;
        }
    }
    Ok((values, figures))
}

/// All agents, and what is known of them; `None` if that is too much.
fn agents(
    code: &Code,
    slice: &Slice,
    group: &Group,
    shared: &mut Shared,
    patience: &Patience,
) -> Result<Option<Vec<forwards::Agent>>, Failure> {
    let mut agents = Vec::new();
    for (number, rank) in group.agents() {
        if patience.is_over() {
            return Err(Failure::Late);
        }
        let warp = group.warp((number, rank));
        let evaluation = match shared.evaluate(code, slice, warp, patience) {
            Ok(evaluation) => evaluation,
            Err(Failure::Late) => return Err(Failure::Late),
            Err(Failure::Stop(_)) => return Ok(None),
        };
        let lanes = u32::MAX >> (WIDTH - warp.live().clamp(1, WIDTH));
        agents.push(forwards::Agent { number, rank, lanes, evaluation });
    }
    Ok(Some(agents))
}

/// Of some questions those whose answers may make a difference to some agent.
fn refuted(
    code: &Code,
    questions: &[usize],
    (group, values): (&Group, Values),
    patience: &Patience,
) -> Result<BTreeSet<usize>, Failure> {
    let slice = sliced(code, &Graph::of(code))?;
    let mut shared = Shared::new(code, values);
    let mut refuted = BTreeSet::new();
    for agent in group.agents() {
        if patience.is_over() {
            return Err(Failure::Late);
        }
        let warp = group.warp(agent);
        let evaluation = &shared.evaluate(code, &slice, warp, patience)?;
        let (slice, values, rank) = (&slice, &mut shared.values, warp.rank);
        let dominators = &phases::dominators(evaluation);
        let mut peeks = Peeks { code, slice, values, evaluation, questions, rank, dominators };
        refuted.extend(peeks.refuted());
    }
    Ok(refuted)
}

/// Roles, their programs, and what is taken for true of the numbers in them.
type Counted = (Vec<Role>, Vec<Statements>, BTreeSet<Assumption>);

/// The roles of programs in which unknown numbers have been counted, and the programs: of those that are
/// alike one; and what is taken for true of the numbers.
///
/// # Errors
///
/// Numbers of which what is computed cannot be had.
fn counted(programs: Vec<Program>, numbers: &[Number]) -> Result<Counted, BTreeSet<ValueId>> {
    let (agents, mut all): (Vec<_>, Vec<_>) =
        programs.into_iter().map(|program| (program.agents, program.statements)).unzip();
    let assumes = counts::count(&mut all, numbers)?;
    let of_agents = agents.into_iter().zip(all).flat_map(|(agents, statements)| {
        let statements = tidy(statements);
        agents.into_iter().map(move |agent| (agent, statements.clone()))
    });
    let (roles, programs) = together(of_agents.collect());
    Ok((roles, programs, assumes))
}

/// Roles and their programs, the mbarrier objects, and what is taken for true.
fn all(
    (code, slice): (&Code, &Slice),
    group: &Group,
    shared: &mut Shared,
    patience: &Patience,
) -> Result<(Counted, Objects), Failure> {
    let mut first: Option<Stop> = None;
    loop {
        let (programs, objects) = match programs::programs(code, slice, group, shared, patience) {
            Err(Failure::Stop(stop)) if first.is_none() => {
                (first, shared.takes_multiples) = (Some(stop), true);
                continue;
            }
            Err(Failure::Stop(stop)) => return Err(Failure::Stop(first.unwrap_or(stop))),
            found => found?,
        };
        match counted(programs, &shared.numbers) {
            Ok((roles, programs, assumes)) => {
                return Ok(((roles, programs, &assumes | &shared.assumes), objects));
            }
            // Each time there are more.
            Err(lacking) => shared.lacking.extend(lacking),
        }
    }
}

/// Writes accesses to memory by locations: what is followed of them, and the declarations of these.
fn located(
    (roles, programs): (&mut Vec<Role>, &mut Vec<Statements>),
    (code, values): (&Code, &Values),
    (mut memory, assumes): (Memory, &mut BTreeSet<Assumption>),
) -> Result<(Option<Memory>, Vec<String>), Failure> {
    let (agents, mut all): (Vec<Agent>, Vec<Statements>) = apart(roles, programs).into_iter().unzip();
    landed::reach(&mut all);
    let certain = with_bytes((&agents, &mut all), code, assumes).map_err(Failure::Stop)?;
    landed::reach_others(&mut all, &certain);
    let locations = memory::locate(&mut all, values, code, &mut memory).map_err(Failure::Stop)?;
    (*roles, *programs) = together(agents.into_iter().zip(all).collect());
    Ok((Some(memory), locations))
}

/// Gives every copy its bytes, as where memory is not followed; where copies stand of which no other length
/// would do.
fn with_bytes(
    (agents, all): (&[Agent], &mut [Statements]),
    code: &Code,
    assumes: &mut BTreeSet<Assumption>,
) -> Result<BTreeSet<Span>, Stop> {
    let bare = all.iter().map(|statements| without_accesses(statements.clone()));
    let (roles, programs) = together(agents.iter().copied().zip(bare).collect());
    let (measured, certain) = measured::measured(&programs, &roles, &code.maps, assumes)?;
    let of_agents: BTreeMap<Agent, usize> = parts(&roles).collect();
    for (agent, statements) in agents.iter().zip(all) {
        let (found, announced) = &measured[of_agents[agent]];
        fill(statements, &mut (0, 0), (found, announced));
    }
    Ok(certain)
}

/// The program of each agent.
fn apart(roles: &[Role], programs: &[Statements]) -> Vec<(Agent, Statements)> {
    parts(roles).map(|(agent, program)| (agent, programs[program].clone())).collect()
}

/// Which program each agent has.
fn parts(roles: &[Role]) -> impl Iterator<Item = (Agent, usize)> {
    let warps = roles.iter().flat_map(|role| {
        role.warps.iter().flat_map(move |(from, to)| (*from..*to).map(move |warp| (warp, role)))
    });
    warps.flat_map(|(warp, role)| {
        let parts = role.parts.iter();
        parts.flat_map(move |part| part.ranks.iter().map(move |rank| ((warp, *rank), part.program)))
    })
}

/// The roles of agents, and their programs: of those that are alike one.
fn together(of_agents: BTreeMap<Agent, Statements>) -> (Vec<Role>, Vec<Statements>) {
    let (mut known, mut programs) = (HashMap::new(), Vec::new());
    let mut of_warps: BTreeMap<u32, Vec<Part>> = BTreeMap::new();
    for ((warp, rank), statements) in of_agents {
        let program = *known.entry(statements).or_insert_with_key(|statements| {
            programs.push(statements.clone());
            programs.len() - 1
        });
        let parts = of_warps.entry(warp).or_default();
        match parts.iter_mut().find(|part| part.program == program) {
            Some(part) => part.ranks.push(rank),
            None => parts.push(Part { ranks: vec![rank], program }),
        }
    }
    let mut roles: Vec<Role> = Vec::new();
    for (warp, parts) in of_warps {
        match roles.iter_mut().find(|role| role.parts == parts) {
            Some(role) => role.add(warp),
            None => roles.push(Role { warps: vec![(warp, warp + 1)], parts }),
        }
    }
    (roles, programs)
}

/// Collects what a program rests on; whether barriers follow it, and whether agents may part.
fn rests(statements: &[Statement], (goes_on, parts): (bool, bool), extraction: &mut Extraction) {
    for (at, statement) in statements.iter().enumerate() {
        let goes_on = goes_on || synchronises(&statements[at + 1..]);
        match statement {
            Statement::If { condition, then, otherwise, span } => {
                match condition {
                    Condition::Uniform { decision, .. } => extraction.rests_on(decision),
                    Condition::Value { decided, .. } => {
                        extraction.assumes.extend(&decided.assumes);
                        decided.decisions.iter().for_each(|decision| extraction.rests_on(decision));
                    }
                    Condition::OfWarp => extraction.private.push((*span, false)),
                    Condition::OfLane => extraction.private.push((*span, true)),
                }
                let leave = |arm: &[Statement]| exits(arm) && !synchronises(arm);
                if goes_on && parts && condition.parts() && (leave(then) || leave(otherwise)) {
                    extraction.assumes.insert(Assumption::Exited(*span));
                }
                rests(then, (goes_on, parts), extraction);
                rests(otherwise, (goes_on, parts), extraction);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => {
                rests(body, (goes_on || synchronises(body), parts), extraction);
            }
            _ => {}
        }
    }
}
