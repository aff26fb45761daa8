//! Other model checkers, run on exported models.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::Path;
use std::process::Command;

/// What a model checker says of a model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// No error in so many states.
    Verified(u64),
    /// The rule that is violated.
    Violated(String),
    /// No violation, but a path that could not be followed, and why.
    Cut(String),
    /// It could not be run.
    Failed(String),
}

/// Whether SPIN and the C compiler that it needs are installed.
pub(crate) fn has_spin() -> bool {
    let runs = |program: &str, argument: &str| {
        Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
    };
    runs("spin", "-V") && runs("cc", "--version")
}

/// What SPIN says of a Promela model of about so many states.
pub(crate) fn spin(model: &str, states: u64) -> Said {
    let said = spin_once(model, states, &[]);
    match said {
        // The path that is cut hides whatever SPIN would have found after it.
        Said::Cut(why) => match spin_once(model, states, &["-DIGNORE_CUTS"]) {
            Said::Verified(_) => Said::Cut(why),
            other => other,
        },
        other => other,
    }
}

/// Whether SPIN finds a continuation that leaves an agent blocked for ever, in a model that asserts
/// `stuck-agent`.
pub(crate) fn spin_finds_stuck_agent(model: &str, states: u64) -> Result<bool, Said> {
    // What is followed of a watched agent goes beyond what all agents reach.
    let search = Search {
        defines: &["-DSTUCK_AGENT"],
        compiled: &[],
        searched: &["-a", "-A", "-E"],
        depth: 2 * states + 200_000,
    };
    match search.run(model) {
        Said::Verified(_) => Ok(false),
        Said::Violated(rule) if rule == "stuck-agent" => Ok(true),
        other => Err(other),
    }
}

fn spin_once(model: &str, states: u64, defines: &[&str]) -> Said {
    Search { defines, compiled: &["-DSAFETY"], searched: &[], depth: states + 1_000 }.run(model)
}

/// What SPIN, the C compiler and the search are told.
struct Search<'a> {
    defines: &'a [&'a str],
    compiled: &'a [&'a str],
    searched: &'a [&'a str],
    depth: u64,
}

impl Search<'_> {
    fn run(&self, model: &str) -> Said {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("model.pml"), model).expect("a written model");
        let run = |program: &str, arguments: &[&str]| output(folder.path(), program, arguments);
        let translated = run("spin", &[&["-a"], self.defines, &["model.pml"]].concat());
        if !folder.path().join("pan.c").exists() || translated.contains("Error") {
            return Said::Failed(translated);
        }
        // Without optimisation the compiler takes half the time, and the search is short.
        let options = ["-O0", "-w", "-DNOREDUCE", "-DVECTORSZ=16384", "-o", "pan", "pan.c"];
        let compiled = run("cc", &[self.compiled, &options].concat());
        if !folder.path().join("pan").exists() {
            return Said::Failed(compiled);
        }
        let depth = format!("-m{}", self.depth);
        verdict(&run("./pan", &[self.searched, &[&depth, "-w18"]].concat()))
    }
}

/// Standard output and standard error of a program.
fn output(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(folder).output().expect("it runs");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn verdict(output: &str) -> Said {
    let found = output.lines().find_map(|line| line.strip_prefix("pan:1: "));
    if let Some(found) = found {
        if found.starts_with("invalid end state") {
            return Said::Violated("deadlock".to_owned());
        }
        if found.starts_with("acceptance cycle") {
            return Said::Violated("stuck-agent".to_owned());
        }
        let name = found.strip_prefix("assertion violated  !(").and_then(|rest| rest.split(')').next());
        return match name {
            Some(cut) if cut.starts_with("cut_by_") => Said::Cut(cut.to_owned()),
            Some(cut @ ("evaluation_error" | "not_modelled")) => Said::Cut(cut.to_owned()),
            Some(cut) if cut.starts_with("too_many_") => Said::Cut(cut.to_owned()),
            Some(rule) => Said::Violated(rule.replace('_', "-")),
            None => Said::Failed(found.to_owned()),
        };
    }
    let states = output.lines().find_map(|line| Some(line.split_once(" states, stored")?.0));
    let complete = output.contains("errors: 0") && !output.contains("Search not completed");
    match states.and_then(|states| states.trim().parse().ok()) {
        Some(states) if complete && !output.contains("max search depth too small") => Said::Verified(states),
        _ => Said::Failed(output.to_owned()),
    }
}

/// What TLC, in a jar, says of a module called `protocol` with its configuration.
pub(crate) fn tlc(jar: &str, module: &str, configuration: &str) -> Said {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("protocol.tla"), module).expect("a written module");
    std::fs::write(folder.path().join("protocol.cfg"), configuration).expect("a written configuration");
    let quick = ["-Xss64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jar];
    let output =
        output(folder.path(), "java", &[&quick[..], &["tlc2.TLC", "-workers", "1", "protocol.tla"]].concat());
    let violated = output.split("Error: Invariant ").nth(1).and_then(|rest| rest.split(' ').next());
    if let Some(invariant) = violated {
        return match invariant.strip_prefix("No_") {
            Some(rule) => Said::Violated(rule.replace('_', "-")),
            None => Said::Cut(invariant.to_owned()),
        };
    }
    let states = output.split(" distinct states found, 0 states left").next();
    let states = states.and_then(|before| before.rsplit([' ', '\n']).next());
    match states.and_then(|states| states.replace(',', "").parse().ok()) {
        Some(states) if output.contains("No error has been found") => Said::Verified(states),
        _ => Said::Failed(output),
    }
}
