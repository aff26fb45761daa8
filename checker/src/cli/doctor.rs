//! `barcheck doctor`: what there is to say of compiled kernels before they are decided.

use super::accesses::{A_WHILE, followed};
use super::args::DoctorArgs;
use super::deadline::Deadline;
use super::files::{self, Input};
use super::input;
use super::kernels;
use super::names;
use super::output::{Colours, Status, complain, error_line, print};
use barcheck_counterexamples::{harmless, named_objects};
use barcheck_model::program::{AgentId, Op, Place, Program};
use barcheck_specs::{
    Extracted, LineIndex, LoadOptions, Loaded, MEMORY, Source, barriers_in_code, load_within, render,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io;

/// Runs the command.
pub(crate) fn run(args: &DoctorArgs, colours: Colours) -> io::Result<Status> {
    let deadline = Deadline::new(args.time.timeout);
    let inputs = match kernels::split(files::expand(&args.files), &args.kernel, deadline.limit()) {
        Ok(inputs) => inputs,
        Err(message) => {
            complain(&error_line(colours.err, message));
            return Ok(Status::Trouble);
        }
    };
    let mut status = Status::Success;
    for mut input in inputs {
        let (found, text) = examine(&mut input, args, &deadline, colours);
        status = status.max(found);
        print(&text)?;
    }
    Ok(status)
}

fn examine(input: &mut Input, args: &DoctorArgs, deadline: &Deadline, colours: Colours) -> (Status, String) {
    let name = input::display_name(&input.path);
    let bytes = match kernels::read(input, deadline.limit()) {
        Ok(bytes) => bytes,
        Err((status, message)) => {
            complain(&error_line(colours.err, message));
            return (status, String::new());
        }
    };
    let mut options = LoadOptions::default();
    args.kernel.tell(&mut options, input.entry.as_ref().map(|entry| entry.index));
    let kernel = input.entry.as_ref().map(|entry| names::kernel(&entry.name, Some(entry.index)));
    let kernel = kernel.map(|kernel| format!(", kernel {kernel}")).unwrap_or_default();
    let head = format!("{}{kernel}\n", colours.out.strong(&name));
    let source = Source::new(&name, &bytes);
    match load_within(&source, &options, deadline.patience()) {
        Ok(loaded) => match &loaded.extracted {
            Some(extracted) => {
                let accesses = accesses(&source, options, deadline);
                (Status::Success, format!("{head}{}  {accesses}\n", report(&loaded, extracted)))
            }
            None => (Status::Success, format!("{head}  a protocol, written by hand: nothing to extract\n")),
        },
        Err(error) if error.is_late() => {
            (Status::Inconclusive, format!("{head}  {}\n", deadline.said("read")))
        }
        Err(error) => match error.not_followed() {
            Some(diagnostic) => {
                let place = diagnostic.place(&LineIndex::new(&error.text));
                let mut text = format!("{head}  line {}: {}\n", place.line, diagnostic.message);
                for help in &diagnostic.help {
                    let _ = writeln!(text, "  help: {help}");
                }
                list(&mut text, barriers_in_code(&source, &options));
                (Status::Inconclusive, text)
            }
            None => {
                complain(&render(&error.diagnostics, &name, &error.text, colours.err.colour()));
                (Status::Trouble, String::new())
            }
        },
    }
}

/// What is found in a kernel that can be followed.
fn report(loaded: &Loaded, extracted: &Extracted) -> String {
    let program = &loaded.program;
    let mut text = String::new();
    let (kept, all) = (extracted.kept, extracted.instructions);
    let _ = writeln!(text, "  {} threads; {kept} of {all} instructions concern barriers", program.threads);
    let initialised = initialised(program);
    for index in 0..program.roles.len() {
        let _ = writeln!(text, "  {}", agents(program, index));
        for ((instruction, object), lines) in barriers(program, index) {
            let places: Vec<String> = lines.iter().map(|line| place(extracted, *line)).collect();
            let object = named(instruction, &object, &initialised);
            let _ = writeln!(text, "    {instruction}  at {}{object}", places.join(", "));
        }
    }
    let lines = LineIndex::new(&loaded.text);
    for remark in &loaded.warnings {
        let at = place(extracted, remark.place(&lines).line);
        let _ = writeln!(text, "  {}, at {at}", remark.message);
    }
    text
}

/// What is found of a kernel's accesses to shared memory.
fn accesses(source: &Source<'_>, mut options: LoadOptions, deadline: &Deadline) -> String {
    options.defines.insert(MEMORY.to_owned(), 1);
    match load_within(source, &options, &deadline.patience_of(A_WHILE)) {
        Ok(loaded) => match loaded.extracted.and_then(|extracted| extracted.memory) {
            Some(memory) => followed(&memory),
            None => "accesses to shared memory are not looked at".to_owned(),
        },
        Err(error) if error.is_late() => "accesses to shared memory take too long to be followed".to_owned(),
        Err(error) => {
            let why = error.not_followed().map(|diagnostic| diagnostic.message.clone());
            format!("data races are not decided: {}", why.unwrap_or_default())
        }
    }
}

/// Lines that are listed of one instruction.
const LINES: usize = 6;

/// What concerns barriers in the code of a kernel that cannot be followed.
fn list(text: &mut String, found: Vec<(Place, String)>) {
    let mut lines: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (place, instruction) in found {
        lines.entry(harmless(instruction.trim_end_matches(';'))).or_default().push(place.line);
    }
    text.push_str("  in its code, whoever comes there:\n");
    for (instruction, lines) in lines {
        let shown: Vec<String> = lines.iter().take(LINES).map(u32::to_string).collect();
        let more = match lines.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let noun = if lines.len() == 1 { "line" } else { "lines" };
        let _ = writeln!(text, "    {instruction}  at {noun} {}{more}", shown.join(", "));
    }
}

/// The agents of a role, as ranges.
fn agents(program: &Program, role: usize) -> String {
    let noun = program.target.agent_noun();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (warp, _) in program.agents.iter().enumerate().filter(|(_, of)| of.index() == role) {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == warp => *to = warp,
            _ => ranges.push((warp, warp)),
        }
    }
    let shown: Vec<String> = ranges
        .into_iter()
        .map(
            |(from, to)| {
                if from == to { format!("{noun} {from}") } else { format!("{noun}s {from} to {to}") }
            },
        )
        .collect();
    shown.join(", ")
}

/// The agent of a role that stands for all of it.
fn first_of(program: &Program, role: usize) -> Option<AgentId> {
    program.agents.iter().position(|of| of.index() == role).map(AgentId::from_index)
}

/// The objects that an instruction may name, by their names.
type Objects = Vec<String>;

/// The instructions on barriers and the objects that they name, each with its lines.
fn barriers(program: &Program, role: usize) -> BTreeMap<(&str, Objects), Vec<u32>> {
    let code = &program.roles[role].code;
    let named = first_of(program, role).map(|agent| named_objects(program, agent)).unwrap_or_default();
    let mut found: BTreeMap<(&str, Objects), Vec<u32>> = BTreeMap::new();
    let all = code.ops.iter().zip(&code.texts).zip(&code.places).enumerate();
    for (at, ((op, text), place)) in all {
        if !matches!(op, Op::Barrier(_)) {
            continue;
        }
        let objects = named.iter().find(|named| named.pc.index() == at).map(|named| named.objects.clone());
        let lines = found.entry((text.as_str(), objects.unwrap_or_default())).or_default();
        if lines.last() != Some(&place.line) {
            lines.push(place.line);
        }
    }
    found
}

/// The lines at which each object is initialised.
fn initialised(program: &Program) -> BTreeMap<String, BTreeSet<u32>> {
    let mut lines: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for (role, agent) in (0..program.roles.len()).filter_map(|role| Some((role, first_of(program, role)?))) {
        let places = &program.roles[role].code.places;
        for named in named_objects(program, agent).into_iter().filter(|named| named.initialises) {
            let Some(place) = places.get(named.pc.index()) else { continue };
            for object in named.objects {
                lines.entry(object).or_default().insert(place.line);
            }
        }
    }
    lines
}

/// Objects that are listed of one instruction.
const OBJECTS: usize = 4;

/// `; [%r35] = mbar[5], initialised at line 101`.
fn named(instruction: &str, objects: &[String], initialised: &BTreeMap<String, BTreeSet<u32>>) -> String {
    let operands: Vec<&str> =
        instruction.split('[').skip(1).filter_map(|rest| rest.split(']').next()).collect();
    // A copy names its object last.
    let is_first = instruction.starts_with("mbarrier") || instruction.contains("commit");
    let operand = if is_first { operands.first() } else { operands.last() };
    let operand = operand.map_or_else(|| "it is on ".to_owned(), |operand| format!("[{operand}] = "));
    let told = |object: &String| {
        let lines = initialised.get(object).filter(|_| !instruction.starts_with("mbarrier.init"));
        let lines: Vec<String> = lines.into_iter().flatten().map(u32::to_string).collect();
        match lines.as_slice() {
            [] => object.clone(),
            [line] => format!("{object}, initialised at line {line}"),
            lines => format!("{object}, initialised at lines {}", lines.join(", ")),
        }
    };
    match objects {
        [] => String::new(),
        [only] => format!("; {operand}{}", told(only)),
        few if few.len() <= OBJECTS => {
            format!("; {operand}{}", few.iter().map(told).collect::<Vec<_>>().join(", or "))
        }
        [first, .., last] => format!("; {operand}one of {}, {first} to {last}", objects.len()),
    }
}

/// A line of the kernel, and of its source where that is known.
fn place(extracted: &Extracted, line: u32) -> String {
    match extracted.origin(line) {
        Some(origin) => {
            let (file, at) = origin.outermost();
            format!("line {line} ({file}:{at})")
        }
        None => format!("line {line}"),
    }
}
