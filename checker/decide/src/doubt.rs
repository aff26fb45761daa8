//! What a run of a kernel rests on that need not be so: data that is not known, and decisions that may
//! exclude one another.

use barcheck_counterexamples::Trace;
use barcheck_model::program::{Condition, Op, Program};
use barcheck_specs::Extracted;
use std::collections::{BTreeMap, BTreeSet};

/// The branches that a run takes although nobody knows whether the data is so: lines of the kernel, with the
/// agents that take them.
#[must_use]
pub fn private(extracted: &Extracted, trace: &Trace) -> BTreeSet<(u32, u32)> {
    let is_private = |line: u32, column: u32| {
        extracted.private.iter().any(|place| (place.line, place.column) == (line, column))
    };
    let steps = trace.steps.iter();
    let taken = steps.filter(|step| is_private(step.location.line, step.location.column));
    taken.map(|step| (step.location.line, step.agent)).collect()
}

/// The named decisions of the whole group that a run makes, each with its outcome, once, in order.
#[must_use]
pub fn decisions(program: &Program, trace: &Trace) -> Vec<(String, bool)> {
    let mut made: Vec<(String, bool)> = Vec::new();
    for step in &trace.steps {
        let role = program.agents.get(step.agent as usize);
        let Some(role) = role.and_then(|role| program.roles.get(role.index())) else { continue };
        let here = role.code.ops.iter().zip(&role.code.places);
        let here = here.filter(|(_, at)| (at.line, at.column) == (step.location.line, step.location.column));
        for (op, _) in here {
            let (Op::Branch { condition, .. } | Op::Test { condition, .. }) = op else { continue };
            let Condition::Uniform(sequence) = condition else { continue };
            let name = program.sequences.get(sequence.index()).cloned().flatten();
            let decision = name.map(|name| (name, step.choice.pick != 0));
            made.extend(decision.filter(|decision| !made.contains(decision)));
        }
    }
    made
}

/// Two decisions among these that are about one thing: no run need have both outcomes.
#[must_use]
pub fn excluding<'d>(extracted: &Extracted, made: &'d [(String, bool)]) -> Option<(&'d str, &'d str)> {
    let mut seen: BTreeMap<&String, &str> = BTreeMap::new();
    for (name, _) in made {
        for thing in extracted.about.get(name).into_iter().flatten() {
            let first = *seen.entry(thing).or_insert(name);
            if first != name {
                return Some((first, name));
            }
        }
    }
    None
}

/// Why a run may be none, in a sentence without a full stop; nothing if it is one for certain.
#[must_use]
pub fn doubt(program: &Program, extracted: &Extracted, trace: &Trace) -> Option<String> {
    if let Some((line, agent)) = private(extracted, trace).first() {
        let who = program.agent_name(barcheck_model::program::AgentId(*agent));
        return Some(format!("it rests on data that is not known, which decides for {who} at line {line}"));
    }
    let made = decisions(program, trace);
    let (one, other) = excluding(extracted, &made)?;
    Some(format!("it comes along with outcomes of `{one}` and `{other}`, which may exclude one another"))
}
