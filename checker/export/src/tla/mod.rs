//! TLA+, the language of TLC.
//!
//! An exported module is data and text, as in Promela: records of what every step leads to, and files
//! (`*.tla`, beside this one) that say in TLA+ what a barrier and memory do. The one variable holds a state,
//! a step is a function from states to states, and every rule is an invariant of its own.

mod phases;

use super::arrivals::{Key, Standing, arrivals};
use super::columns::{Barriers, Columns, identifier};
use super::group::Group;
use super::node::{Act, Kind, Step};
use super::says;
use super::systems::{self, System};
use barcheck_model::machine::ExitedThreads;
use barcheck_model::program::{AccessKind, Fence, LocationId, Semantics, Space, Spaces};
use barcheck_model::rule::Rule;
use phases::Phased;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The state is no deadlock.
const GOES_ON: &str =
    "(s.end = \"\" => (Gone(s) = Agents \\/ InFlight(s) # {} \\/ \\E a \\in Agents : HasSteps(s, a)))";

const COMMON: &str = include_str!("common.tla");

/// A protocol as a TLA+ module of this name, and TLC's configuration for it; `file` is what the protocol is
/// called.
pub(super) fn write(group: &Group, file: &str, module: &str) -> (String, String) {
    let barriers = group.barriers();
    let mut out = head(group, file, module);
    sizes(group, &barriers, &mut out);
    let phased = Phased::of(group, &barriers);
    phases::sizes(group, &barriers, &mut out);
    tables(group, &barriers, &phased, &mut out);
    phased.before(&mut out);
    out.push_str(COMMON);
    phased.texts(&mut out);
    out.push_str(group.system.tla);
    if group.held_states() > 0 {
        out.push_str(include_str!("bcu_states.tla"));
    }
    steps(group, &phased, &mut out);
    let invariants = invariants(group, &barriers, &phased, &mut out);
    out.push_str("====\n");
    let mut configuration = String::from("INIT Init\nNEXT Next\n");
    invariants.iter().for_each(|name| configuration.push_str(&format!("INVARIANT {name}\n")));
    (out, configuration)
}

fn head(group: &Group, file: &str, module: &str) -> String {
    let mut out = format!(
        "---- MODULE {module} ----\n\\* {}: {}, {} agents, as a module for TLC, written by barcheck.\n\\*\n\\*   java -Xss64m -cp tla2tools.jar \
         tlc2.TLC {module}.tla\n\\*\n\\* The invariant that is violated names the rule. Followed: an operand had no \
         value, or a path could not be followed,\n\\* and without another violation nothing is proved; -continue looks for \
         others.\n",
        says::plain(file),
        group.program.target,
        group.starts.len(),
    );
    let bags = if group.slots() > 0 { ", Bags" } else { "" };
    let _ = writeln!(out, "EXTENDS Integers, Sequences, FiniteSets, TLC{bags}\n");
    out
}

/// TLA+ spells truth in capitals.
fn truth(holds: bool) -> &'static str {
    if holds { "TRUE" } else { "FALSE" }
}

fn sizes(group: &Group, barriers: &Barriers, out: &mut String) {
    let program = &group.program;
    let first = |rank: u8| group.nodes.iter().take_while(|node| node.kind.rank().0 < rank).count();
    let errors: Vec<String> = Rule::ALL
        .iter()
        .filter(|rule| group.is_error(**rule))
        .map(|rule| format!("\"{}\"", identifier(*rule)))
        .collect();
    let size = program.subgroup_size.max(1) as usize;
    let lines = [
        format!("Agents == 0 .. {}", group.starts.len() - 1),
        format!("Barriers == 0 .. {}", barriers.len() - 1),
        "Nobody == -1".to_owned(),
        format!("Target == \"{}\"", program.target),
        format!("SubgroupSize == {size}"),
        format!("Subgroups == 0 .. {}", group.starts.len().div_ceil(size) - 1),
        format!("HasMemory == {}", truth(group.has_memory())),
        format!("HasFences == {}", truth(program.target.facts().fences_publish)),
        format!("ExitsRelease == {}", truth(group.options.exited_threads == ExitedThreads::Release)),
        format!("Errors == {{{}}}", errors.join(", ")),
        "\\* Nodes: those with steps, those that wait, those whose lanes wait for one another for ever, the one of all who have"
            .to_owned(),
        "\\* exited, those where an operand or condition has no value, those that cannot be followed.".to_owned(),
        format!("FirstWaiting == {}", first(1)),
        format!("FirstParked == {}", first(2)),
        format!("Exited == {}", first(3)),
        format!("FirstFailed == {}", first(4)),
        format!("FirstEndless == {}", first(5)),
    ];
    out.push_str(&lines.join("\n"));
    out.push('\n');
}

/// A sequence, an element a line.
fn sequence(out: &mut String, name: &str, elements: &[String]) {
    let _ = write!(out, "{name} == <<\n  {}\n>>\n", elements.join(",\n  "));
}

fn tables(group: &Group, barriers: &Barriers, phased: &Phased, out: &mut String) {
    let (mut rows, mut steps_of, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    let system = group.system;
    for node in &group.nodes {
        if matches!(node.kind, Kind::Goes { .. }) {
            let numbers: Vec<String> = (1..=node.steps.len()).map(|i| (rows.len() + i).to_string()).collect();
            steps_of.push(format!("{{{}}}", numbers.join(", ")));
        }
        rows.extend(node.steps.iter().map(|step| {
            let more = phased.fields(step);
            row(system, barriers, step, &more)
        }));
        if let Kind::Waits { barrier, releases, acquires, .. } = &node.kind {
            let mut columns = Columns::default();
            (system.fill_wait)(node, &mut columns);
            let to: Vec<String> = releases.iter().map(|(_, to)| to.to_string()).collect();
            let spaces = acquires.map(|(_, semantics)| semantics.classes).unwrap_or_default();
            waits.push(format!(
                "[bar |-> {}, to |-> <<{}>>, spaces |-> {}{}]",
                barriers.number(*barrier),
                to.join(", "),
                set_of_spaces(spaces),
                fields(&columns, "wait_")
            ));
        }
    }
    let starts: Vec<String> = group.starts.iter().map(usize::to_string).collect();
    let _ = writeln!(out, "Start == <<{}>>", starts.join(", "));
    let spaces: Vec<String> = (0..group.program.locations())
        .map(|location| match group.program.array_of(LocationId::from_index(location)).space {
            Space::Shared => "\"shared\"".to_owned(),
            Space::Global => "\"global\"".to_owned(),
        })
        .collect();
    let _ = writeln!(out, "SpaceOf == <<{}>>", spaces.join(", "));
    let may: Vec<String> =
        (0..group.program.sequences.len()).map(|sequence| may_decide(group, sequence)).collect();
    let _ = writeln!(out, "MayDecide == <<{}>>", may.join(", "));
    sequence(out, "StepsOf", &steps_of);
    sequence(out, "Rows", &rows);
    sequence(out, "Waits", &waits);
    if group.held_states() > 0 {
        let holds: Vec<String> = group.nodes.iter().map(|node| set_of(&node.holds)).collect();
        sequence(out, "Holds", &holds);
        let _ = writeln!(out, "States == 0 .. {}", group.held_states() - 1);
    }
    out.push('\n');
}

fn set_of(numbers: &BTreeSet<usize>) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    format!("{{{}}}", numbers.join(", "))
}

/// The nodes from which a decision of a sequence may still be made.
fn may_decide(group: &Group, sequence: usize) -> String {
    let decides = |step: &Step| matches!(step.act, Act::Decide(id, _) if id.index() == sequence);
    let leads = group.leads_to(|node| node.steps.iter().any(decides));
    set_of(&(0..leads.len()).filter(|node| leads[*node]).collect())
}

/// The numbers of a row or a wait as further fields of a record.
fn fields(columns: &Columns, prefix: &str) -> String {
    let of = |(name, values): (&str, &[usize])| {
        let name = name.strip_prefix(prefix).unwrap_or(name);
        format!(", {name} |-> {}", values.first().copied().unwrap_or_default())
    };
    columns
        .all()
        .filter(|(name, _)| !name.ends_with("_shared") && !name.ends_with("_global"))
        .map(of)
        .collect()
}

fn set_of_spaces(spaces: Spaces) -> String {
    let names = [(spaces.shared, "\"shared\""), (spaces.global, "\"global\"")];
    let names: Vec<&str> = names.iter().filter(|(there, _)| *there).map(|(_, name)| *name).collect();
    format!("{{{}}}", names.join(", "))
}

/// A step as a record.
fn row(system: &System, barriers: &Barriers, step: &Step, more: &str) -> String {
    let mut columns = Columns::default();
    systems::fill_step(system, barriers, step, &mut columns);
    let go = systems::goes(system, step);
    let mut text =
        format!("[act |-> \"{}\", go |-> {go}{}", act(system, &step.act).0, fields(&columns, "step_"));
    let none = Semantics::default().classes;
    let spaces = match &step.act {
        Act::Fence(Fence::Publishes(spaces)) => *spaces,
        Act::MemoryBarrier(_, semantics) => semantics.classes,
        Act::Barrier(action, _) => action.ordering().map_or(none, |(_, semantics)| semantics.classes),
        _ => none,
    };
    let _ = write!(text, ", spaces |-> {}{more}", set_of_spaces(spaces));
    if let Act::Access(kind, locations) = &step.act {
        let kind = match kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic",
            AccessKind::Copy | AccessKind::Sent => "copy",
            AccessKind::Store => "store",
            AccessKind::Fill => "fill",
            AccessKind::Reduction => "reduction",
            AccessKind::Source => "source",
            AccessKind::Initialisation => "initialisation",
            AccessKind::Use => "use",
        };
        let locations: Vec<String> = locations.iter().map(|l| (l.index() + 1).to_string()).collect();
        let _ = write!(text, ", kind |-> \"{kind}\", locations |-> {{{}}}", locations.join(", "));
    }
    match &step.act {
        Act::ReadState(_, state) => {
            let _ = write!(text, ", state |-> {state}");
        }
        Act::WriteState(_, states) => {
            let _ = write!(text, ", states |-> {}", set_of(states));
        }
        _ => {}
    }
    if let Act::Decide(sequence, value) = &step.act {
        let _ = write!(text, ", sequence |-> {}, value |-> {}", sequence.index() + 1, u8::from(*value));
    }
    text.push(']');
    text
}

/// What a step is called, and the operator that makes it.
fn act(system: &System, act: &Act) -> (String, String) {
    let of = |name: &str, does: &str| (name.to_owned(), does.to_owned());
    match act {
        Act::Go => of("GO", "Go(t, a, r)"),
        Act::Exit => of("EXIT", "Exit(t, a)"),
        Act::Decide(..) => of("DECIDE", "Decide(t, a, r)"),
        Act::Access(..) => of("ACCESS", "AccessMemory(t, a, r)"),
        Act::Fence(_) => of("FENCE", "Fence(t, a, r)"),
        Act::MemoryBarrier(..) => of("MEMORY_BARRIER", "MemoryBarrier(t, a, r)"),
        Act::Barrier(action, _) => {
            let spelling = (system.spelling)(action);
            of(spelling.name, spelling.tla)
        }
        Act::Alloc(_) => of("ALLOCATE", "Allocate(t, a, r)"),
        Act::Refuse(rule) => {
            let rule = identifier(*rule);
            (format!("REFUSE_{}", rule.to_uppercase()), format!("End(t, \"{rule}\")"))
        }
        Act::Fault => of("FAIL", "End(t, \"evaluation_error\")"),
        Act::ReadState(..) => of("READ_STATE", "ReadState(t, a, r)"),
        Act::WriteState(..) => of("WRITE_STATE", "WriteState(t, a, r)"),
        Act::NotModelled => of("LEAVE_OPEN", "End(t, \"not_modelled\")"),
    }
}

/// The initial state and the steps.
fn steps(group: &Group, phased: &Phased, out: &mut String) {
    let does = |step: &Step| match &step.act {
        Act::Exit => ("EXIT".to_owned(), phased.exit().to_owned()),
        other => act(group.system, other),
    };
    let mut acts: Vec<(String, String)> = group.steps().map(does).collect();
    acts.sort();
    acts.dedup();
    let cases: Vec<String> =
        acts.iter().map(|(name, does)| format!("Rows[r].act = \"{name}\" -> {does}")).collect();
    let cases = if cases.is_empty() { "TRUE -> t".to_owned() } else { cases.join("\n    [] ") };
    let sequences = group.program.sequences.len();
    let cases = phased.steps_that_reach(&format!("CASE {cases}"));
    let (field, landings) = (phased.state(), phased.landings());
    let (held, forget) = match group.held_states() {
        0 => ("", "t"),
        _ => (", held |-> NothingHeld", "ForgetStates(t)"),
    };
    let _ = write!(
        out,
        "\\* ---- Steps ---------------------------------------------------------------------------------------------------\n\n\
         Do(t, a, r) ==\n  {cases}\n\n\
         Tidy(t) ==\n  LET h == {forget}\n      u == IF HasMemory THEN ForgetSettled(h) ELSE h\n      v == ForgetDecisions(u)\n  IN IF v.end # \"\" THEN v\n     \
         ELSE IF \\E a \\in Agents : v.at[a] >= FirstFailed /\\ v.at[a] < FirstEndless THEN End(v, \"evaluation_error\")\n     \
         ELSE IF \\E a \\in Agents : v.at[a] >= FirstEndless THEN End(v, \"not_modelled\")\n     ELSE v\n\n\
         Holders == IF HasMemory THEN {{Agent(a) : a \\in Agents}} \\cup MoreHolders ELSE {{}}\n\
         Init == s = Tidy([at |-> [a \\in Agents |-> Start[a + 1]], bars |-> [b \\in Barriers |-> Idle],\n  \
         time |-> [h \\in Holders |-> {{}}], memory |-> [h \\in Holders |-> {{}}], allocated |-> 0,\n  \
         decided |-> [q \\in 1 .. {sequences} |-> <<>>], made |-> [q \\in 1 .. {sequences} |-> [a \\in Agents |-> 0]], end |-> \"\"{held}{field}])\n\
         \\* An end, of whatever kind, is for the invariants to judge.\n\
         Rest == (s.end # \"\" \\/ \\A a \\in Agents : ~HasSteps(s, a)) /\\ UNCHANGED s\n\
         Alternatives(t, a) == IF HasSteps(t, a) THEN {{r \\in StepsOf[t.at[a] + 1] : MayStep(t, a, r)}} ELSE {{}}\n\
         Successors(t) ==\n  IF t.end # \"\" THEN {{}} ELSE UNION {{{{Tidy(Do(t, a, r)) : r \\in Alternatives(t, a)}} : a \\in Agents}}{landings}\n\
         Step == s' \\in Successors(s)\n\
         Next == Step \\/ Rest\n\n"
    );
}

/// The invariants, and their names.
fn invariants(group: &Group, barriers: &Barriers, phased: &Phased, out: &mut String) -> Vec<String> {
    let target = group.program.target;
    let arrivals: Vec<String> = arrivals(group, barriers).iter().map(|(key, of)| arrival(key, of)).collect();
    let _ = writeln!(out, "Arrivals == {{{}}}", arrivals.join(",\n  "));
    let (mut names, mut cuts) = (
        Vec::new(),
        ["evaluation_error", "not_modelled", "too_many_in_flight"].map(|why| format!("\"{why}\"")).to_vec(),
    );
    let mut goes_on = "TRUE";
    for rule in Rule::ALL.iter().copied().filter(|rule| rule.holds_for(target)) {
        let name = identifier(rule);
        if rule == Rule::StuckAgent && !group.asserts_stuck_agent() {
            continue;
        }
        if !group.is_error(rule) {
            if rule == Rule::Deadlock {
                goes_on = GOES_ON;
            } else if rule.ends_path(target) {
                cuts.push(format!("\"{name}\""));
            }
            continue;
        }
        let holds = match rule {
            Rule::Deadlock => GOES_ON.to_owned(),
            Rule::InFlightAtExit | Rule::CommitAtExit => phased.none_left(rule),
            Rule::ArrivalRace => "s.end = \"\" => \\A x \\in Arrivals : ~Race(s, x)".to_owned(),
            Rule::DanglingArrival => {
                format!(
                    "s.end = \"\" /\\ Gone(s) = Agents /\\ InFlight(s) = {{}} => (\\A b \\in Barriers : ~HoldsArrivals(s, b)){}",
                    phased.none_dangle()
                )
            }
            Rule::StuckAgent => {
                stuck(group, out);
                "s.end = \"\" => ~Stuck(s)".to_owned()
            }
            _ => format!("s.end # \"{name}\""),
        };
        let _ = writeln!(out, "No_{name} == {holds}");
        names.push(format!("No_{name}"));
    }
    let _ = writeln!(out, "Followed == s.end \\notin {{{}}} /\\ {goes_on}", cuts.join(", "));
    names.push("Followed".to_owned());
    names
}

/// What `stuck-agent` is.
fn stuck(group: &Group, out: &mut String) {
    let target = group.program.target;
    let ends: Vec<String> = Rule::ALL
        .iter()
        .filter(|rule| rule.holds_for(target) && rule.ends_path(target))
        .map(|rule| format!("\"{}\"", identifier(*rule)))
        .collect();
    let _ = writeln!(out, "EndsPath == {{{}}}", ends.join(", "));
    let _ = writeln!(out, "BlockedLanes == {}", set_of(&group.blocked_lanes().collect()));
    let _ = writeln!(out, "OnCycles == {}", set_of(&group.on_cycles()));
    out.push_str(include_str!("stuck.tla"));
}

/// Arrivals that are counted together.
fn arrival(key: &Key, standing: &[Standing; 2]) -> String {
    let function = |standing: &Standing| {
        let parts: Vec<String> = standing.iter().map(|(node, often)| format!("{node} :> {often}")).collect();
        if parts.is_empty() { "<<>>".to_owned() } else { format!("({})", parts.join(" @@ ")) }
    };
    format!(
        "[bar |-> {}, first |-> {}, second |-> {}, standing |-> {}, alsoStanding |-> {}]",
        key.bar,
        key.producers,
        key.consumers.unwrap_or_default(),
        function(&standing[0]),
        function(&standing[1])
    )
}
