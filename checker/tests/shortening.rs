//! Long walks through the library's broken protocols become short, and show the same.

mod heads;

use barcheck::{Levels, Quiet, Settings, check};
use barcheck_counterexamples::{SourceInfo, Trace, What, build, replay, shorten};
use barcheck_model::machine::{Choice, End, Finding, Machine, Options, Path, StepOutcome};
use barcheck_model::program::Program;
use barcheck_model::rule::{Level, Rule};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The longest walk.
const LONGEST: usize = 3_000;
/// Walks through each protocol.
const WALKS: u64 = 6;

/// Numbers by chance, the same ones every time.
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

/// A walk by chance, and the last violation that it comes by.
fn walk(program: &Arc<Program>, options: Options, seed: u64) -> Option<(Path, Finding)> {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15 ^ (seed + 1));
    let mut machine = Machine::new(Arc::clone(program), options);
    let mut state = machine.initial();
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
        let choice = Choice { agent, index, pick };
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

fn switches(path: &Path) -> usize {
    path.steps.windows(2).filter(|pair| pair[0].agent != pair[1].agent).count()
}

fn trace(program: &Arc<Program>, options: Options, path: &Path, finding: &Finding) -> Trace {
    let what = What::Finding(finding, Level::Error);
    let trace = build(Arc::clone(program), options, &SourceInfo::default(), path, what);
    trace.unwrap_or_else(|departure| panic!("{departure}"))
}

/// The length of the shortest path to a violation of each rule.
fn least(program: &Arc<Program>, options: Options) -> BTreeMap<Rule, usize> {
    let levels = Levels { changes: Vec::new(), strict: true };
    let settings = Settings { all: true, levels, ..Settings::default() };
    let mut least = BTreeMap::new();
    for found in check(Arc::clone(program), options, &settings, &Quiet).findings {
        let shortest = least.entry(found.finding.rule).or_insert(usize::MAX);
        *shortest = found.path.steps.len().min(*shortest);
    }
    least
}

#[test]
fn long_walks_become_short_and_show_the_same() {
    let mut figures = (0, 0, 0, 0, 0.0_f64);
    for file in heads::files() {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let head = heads::head(&text);
        let program = heads::protocol(&text, &head);
        if head.rules.is_empty() {
            continue;
        }
        let shortest = least(&program, head.options);
        for seed in 0..WALKS {
            let Some((path, finding)) = walk(&program, head.options, seed) else { continue };
            let name =
                format!("{}, walk {seed}: {} of {} steps", file.display(), finding.rule, path.steps.len());
            let what = What::Finding(&finding, Level::Error);
            let begin = Instant::now();
            let short = shorten(Arc::clone(&program), head.options, &path, what);
            let seconds = begin.elapsed().as_secs_f64();
            assert!(
                (short.steps.len(), switches(&short)) <= (path.steps.len(), switches(&path)),
                "{name} becomes longer"
            );
            let again = shorten(Arc::clone(&program), head.options, &short, what);
            assert_eq!(again, short, "{name}: {} steps become less", short.steps.len());
            let (long, short) = (
                trace(&program, head.options, &path, &finding),
                trace(&program, head.options, &short, &finding),
            );
            replay(&short, Arc::clone(&program)).unwrap_or_else(|departure| panic!("{name}: {departure}"));
            let (was, is) = (&long.outcome, &short.outcome);
            assert_eq!(
                (&was.rule, was.agent, &was.agents, was.barrier, was.location, &was.detail),
                (&is.rule, is.agent, &is.agents, is.barrier, is.location, &is.detail),
                "{name}"
            );
            let best = shortest[&finding.rule];
            println!("{name} -> {}, shortest {best}, {seconds:.3} s", short.steps.len());
            figures.0 += 1;
            figures.1 += path.steps.len();
            figures.2 += short.steps.len();
            figures.3 += best;
            figures.4 = figures.4.max(seconds);
        }
    }
    let (walks, long, short, best, slowest) = figures;
    println!(
        "{walks} walks: {long} steps become {short}, where a search for each rule needs {best}; {slowest:.3} s at most"
    );
    assert!(walks > 500 && short < long);
}
