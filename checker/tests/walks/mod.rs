//! Random walks through protocols, and what must hold of a path that is made shorter.

#![allow(dead_code, reason = "each test file uses a part of it")]

use barcheck_counterexamples::{SourceInfo, Trace, What, build, replay, shorten};
use barcheck_model::machine::{Choice, End, Finding, Machine, Options, Path, StepOutcome};
use barcheck_model::program::Program;
use barcheck_model::rule::Level;
use std::sync::Arc;

/// The longest walk.
const LONGEST: usize = 3_000;

/// Random numbers, the same ones every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % bound
    }
}

/// A random walk, and the last violation that it comes by.
pub(crate) fn walk(program: &Arc<Program>, options: Options, seed: u64) -> Option<(Path, Finding)> {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15 ^ (seed + 1));
    let mut machine = Machine::new(Arc::clone(program), options);
    let mut state = machine.initial();
    if machine.fault(&state).is_some() {
        return None;
    }
    let mut steps = Vec::new();
    let mut last = None;
    while steps.len() < LONGEST {
        let agents: Vec<_> = machine.agents().filter(|a| !machine.moves(&state, *a).is_empty()).collect();
        if agents.is_empty() {
            break;
        }
        let agent = agents[chance.below(agents.len() as u64) as usize];
        let index = chance.below(machine.moves(&state, agent).len() as u64) as u32;
        let picks = machine.picks(&state, agent, &machine.moves(&state, agent)[index as usize]);
        let pick = (picks.start + chance.below(picks.end - picks.start)) as u32;
        let choice = Choice::of(agent, index, pick);
        steps.push(choice);
        let found = match machine.step(&state, choice) {
            StepOutcome::Disabled => panic!("there is such a move"),
            StepOutcome::NoEffect => Vec::new(),
            StepOutcome::Progress(progressed) => {
                state = progressed.state;
                machine.judge(&state)
            }
            StepOutcome::Noted(progressed, noted) => {
                state = progressed.state;
                noted
            }
            StepOutcome::Error(end) => {
                if let End::Violation(finding) = *end {
                    last = Some((steps.len(), finding));
                }
                break;
            }
        };
        last = found.into_iter().next().map(|finding| (steps.len(), finding)).or(last);
    }
    last.map(|(length, finding)| {
        steps.truncate(length);
        (Path { steps, cycle_from: None }, finding)
    })
}

pub(crate) fn switches(path: &Path) -> usize {
    path.steps.windows(2).filter(|pair| pair[0].actor != pair[1].actor).count()
}

pub(crate) fn trace(program: &Arc<Program>, options: Options, path: &Path, finding: &Finding) -> Trace {
    let what = What::Finding(finding, Level::Error);
    let trace = build(Arc::clone(program), options, &SourceInfo::default(), path, what);
    trace.unwrap_or_else(|departure| panic!("{departure}"))
}

/// The path made shorter. It must hold on the model, show the same, be no longer, and not become shorter
/// still.
pub(crate) fn shortened(
    name: &str,
    program: &Arc<Program>,
    options: Options,
    path: &Path,
    finding: &Finding,
) -> Path {
    let what = What::Finding(finding, Level::Error);
    let short = shorten(Arc::clone(program), options, path, what);
    let weight = |path: &Path| (path.steps.len(), switches(path));
    assert!(weight(&short) <= weight(path), "{name} becomes longer");
    let again = shorten(Arc::clone(program), options, &short, what);
    assert_eq!(again, short, "{name}: {} steps become less", short.steps.len());
    let (long, brief) = (trace(program, options, path, finding), trace(program, options, &short, finding));
    replay(&brief, Arc::clone(program)).unwrap_or_else(|departure| panic!("{name}: {departure}"));
    let (was, is) = (&long.outcome, &brief.outcome);
    assert_eq!(
        (&was.rule, was.agent, &was.agents, was.barrier, was.location, &was.detail, was.basis),
        (&is.rule, is.agent, &is.agents, is.barrier, is.location, &is.detail, is.basis),
        "{name}"
    );
    short
}
