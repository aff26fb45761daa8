//! What agents can come to, as it is worked out of each by itself, against what happens in runs.

use barcheck_model::machine::{Bounds, Choice, Coverage, Machine, Options, Reach, StepOutcome};
use barcheck_model::program::{Op, Program};
use barcheck_specs::{LoadOptions, Source, load};
use std::path::Path;
use std::sync::Arc;

const BOUNDS: Bounds = Bounds { configs: 50_000, bytes: 64 << 20, operations: 20_000_000 };

/// Steps of a run, at most.
const LONGEST: usize = 400;

/// Runs of each protocol.
const RUNS: u64 = 8;

fn program(text: &str) -> Arc<Program> {
    let loaded = load(&Source::new("test.bar", text.as_bytes()), &LoadOptions::default());
    Arc::new(loaded.unwrap_or_else(|error| panic!("{error}: {text}")).program)
}

fn coverage(program: &Arc<Program>, whole: bool) -> Vec<Coverage> {
    Machine::new(Arc::clone(program), Options::default()).coverage(BOUNDS, whole, &mut || true)
}

/// The texts of the library.
fn library() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/protocols");
    let folders = std::fs::read_dir(root).expect("the library is there").flatten();
    let folders = folders.map(|entry| entry.path()).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).expect("a folder").flatten());
    let files = files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "bar"));
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a protocol");
        (path.display().to_string(), text)
    };
    files.map(read).collect()
}

/// A random run, every step of which somebody can make according to `coverage`.
fn follow(name: &str, program: &Arc<Program>, coverage: &[Coverage], seed: u64) -> usize {
    let mut chance = 0x9e37_79b9_7f4a_7c15_u64 ^ (seed + 1);
    let mut below = |bound: u64| {
        // xorshift64*
        chance ^= chance >> 12;
        chance ^= chance << 25;
        chance ^= chance >> 27;
        chance.wrapping_mul(0x2545_f491_4f6c_dd1d) % bound
    };
    let mut machine = Machine::new(Arc::clone(program), Options::default());
    let mut state = machine.initial();
    for length in 0..LONGEST {
        let agents: Vec<_> = machine.agents().filter(|a| !machine.moves(&state, *a).is_empty()).collect();
        if agents.is_empty() || machine.fault(&state).is_some() {
            return length;
        }
        let agent = agents[below(agents.len() as u64) as usize];
        let index = below(machine.moves(&state, agent).len() as u64) as u32;
        let made = machine.moves(&state, agent)[index as usize].clone();
        let coverage = &coverage[program.agents[agent.index()].index()];
        if coverage.complete {
            let at = machine.place(agent, made.pc);
            assert_eq!(coverage.reach[made.pc.index()], Reach::Reached, "{name}: {agent:?} comes to {at:?}");
            if matches!(program.code(agent).ops[made.pc.index()], Op::Barrier(_)) {
                let listed = coverage.barriers.iter().find(|listed| listed.pc == made.pc);
                let listed = listed.expect("every instruction on barriers is listed");
                assert!(listed.agents.contains(&agent), "{name}: {agent:?} executes what stands at {at:?}");
                let on = made.action.barrier();
                assert!(on.is_none_or(|on| listed.barriers.contains(&on)), "{name}: {at:?} on {on:?}");
            }
        }
        let picks = machine.picks(&state, agent, &made);
        let pick = (picks.start + below(picks.end - picks.start)) as u32;
        state = match machine.step(&state, Choice::of(agent, index, pick)) {
            StepOutcome::Disabled => panic!("there is such a move"),
            StepOutcome::NoEffect => state,
            StepOutcome::Progress(progressed) | StepOutcome::Noted(progressed, _) => progressed.state,
            StepOutcome::Error(_) => return length,
        };
    }
    LONGEST
}

#[test]
fn no_run_comes_to_what_nobody_can_come_to() {
    let (mut steps, mut roles) = (0, 0);
    for (name, text) in library() {
        let program = program(&text);
        let coverage = coverage(&program, true);
        roles += coverage.iter().filter(|coverage| coverage.complete).count();
        for seed in 0..RUNS {
            steps += follow(&name, &program, &coverage, seed);
        }
    }
    assert!(steps > 20_000 && roles > 300, "{steps} steps, {roles} roles");
}

#[test]
fn what_is_found_in_haste_is_what_is_found_in_full() {
    for (name, text) in library() {
        let program = program(&text);
        let (whole, haste) = (coverage(&program, true), coverage(&program, false));
        for (whole, haste) in whole.iter().zip(&haste).filter(|(whole, _)| whole.complete) {
            assert!(haste.complete, "{name}");
            let never = |coverage: &Coverage| {
                let never = coverage.reach.iter().enumerate().filter(|(_, reach)| **reach == Reach::Never);
                never.map(|(pc, _)| pc).collect::<Vec<_>>()
            };
            assert_eq!(never(whole), never(haste), "{name}");
        }
    }
}

#[test]
fn where_an_automaton_is_too_large_nothing_is_said() {
    let text = "target ptx; cta 32; warp 0 { for i in 0..100000 { bar.sync 1, 32; } bar.sync 2, 32; }\n";
    let program = program(text);
    let roles = coverage(&program, false);
    assert!(!roles[0].complete);
    let few = "target ptx; cta 32; warp 0 { for i in 0..1000 { bar.sync 1, 32; } bar.sync 2, 32; }\n";
    assert!(coverage(&self::program(few), false)[0].complete);
    // Local computation counts as well.
    let long = "target ptx; cta 32; warp 0 { for i in 0..10000 { for k in 0..10000 { } bar.sync 1, 32; } }\n";
    let whole = coverage(&self::program(long), true);
    assert!(!whole[0].complete);
}

#[test]
fn rounds_are_counted_up_to_where_agents_leave() {
    let rounds = |text: &str| -> Vec<(u64, u64)> {
        let coverage = coverage(&program(text), true);
        coverage.iter().flat_map(|role| &role.rounds).map(|rounds| (rounds.made, rounds.written)).collect()
    };
    let all = "target ptx; cta 64; warps 0..2 { for i in 0..4 { bar.sync 1, 64; } }\n";
    assert_eq!(rounds(all), [(4, 4)]);
    let some = "target ptx; cta 64; warps 0..2 { for i in 2..6 { if i == 3 { break; } bar.sync 1, 64; } }\n";
    assert_eq!(rounds(some), [(2, 4)]);
    let none = "target ptx; cta 64; warps 0..2 { for i in 4..4 { bar.sync 1, 64; } }\n";
    assert_eq!(rounds(none), [(0, 0)]);
    let one_warp = "target ptx; cta 64; warps 0..2 { for i in 0..4 { if warp == 0 && i == 1 { exit; } } }\n";
    assert_eq!(rounds(one_warp), [(4, 4)], "the other one makes them all");
    let of_its_own = "target ptx; cta 64; warps 0..2 { for i in 0..warp { bar.sync 1, 64; } }\n";
    assert_eq!(rounds(of_its_own), [], "its bounds are no numbers");
}
