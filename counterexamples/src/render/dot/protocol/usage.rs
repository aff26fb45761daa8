//! Which agents use which barriers, and how.

use std::collections::{BTreeMap, BTreeSet};

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{ConfigId, Machine};

use super::kinds::{Kind, title};
use crate::names;
use crate::render::dot::Picture;
use crate::trace::Operands;
use crate::wording;

/// How agents of one kind use a barrier, wherever they can get to by themselves.
#[derive(Default)]
struct Use {
    arrives: bool,
    waits: bool,
    /// What they execute: the operation, the counts that it announces, and the lines where it stands.
    instructions: BTreeMap<(String, String), BTreeSet<u32>>,
}

/// By kind and barrier.
type Uses = BTreeMap<(usize, u32), Use>;

fn uses(machine: &Machine, kinds: &[Kind]) -> Uses {
    let mut uses = Uses::new();
    for (number, kind) in kinds.iter().enumerate() {
        let automaton = &machine.automata()[machine.class(kind.representative)];
        for id in 0..automaton.len() {
            for made in automaton.moves(ConfigId(u32::try_from(id).unwrap_or(u32::MAX))) {
                let Some(operands) = wording::operands(machine.program(), &made.action) else { continue };
                let used = uses.entry((number, operands.barrier)).or_default();
                let (arrives, waits) = sides(&operands);
                used.arrives |= arrives;
                used.waits |= waits;
                let line = machine.place(kind.representative, made.pc).line;
                let instruction = (operands.operation.clone(), announced(&operands));
                used.instructions.entry(instruction).or_default().insert(line);
            }
        }
    }
    uses
}

/// Whether an operation arrives, and whether it waits.
fn sides(operands: &Operands) -> (bool, bool) {
    match operands.operation.as_str() {
        "arrive" | "signal" => (true, false),
        "wait" => (false, true),
        "read-state" | "write-state" => (false, false),
        _ => (true, true),
    }
}

/// The counts that an instruction announces: `128 threads`; nothing for one that only waits.
fn announced(operands: &Operands) -> String {
    if operands.all {
        return "every live one".to_owned();
    }
    let counts: Vec<String> = operands.counts.iter().map(|c| format!("{} {}", c.expected, c.of)).collect();
    counts.join(", ")
}

pub(super) fn draw(machine: &Machine, kinds: &[Kind], file: &str) -> String {
    let says = "Who uses which barrier: arrows lead from who arrives, and to who waits.";
    let mut picture = Picture { title: title(machine, file, says), sideways: true, ..Picture::default() };
    let agents: Vec<_> =
        kinds.iter().map(|kind| picture.node(vec![kind.name.clone()], "shape=box")).collect();
    let mut barriers = BTreeMap::new();
    for ((kind, barrier), used) in uses(machine, kinds) {
        let named = wording::barrier(machine.program(), BarrierId(barrier));
        let at = *barriers.entry(barrier).or_insert_with(|| picture.node(vec![named.name], "shape=ellipse"));
        let look = match (used.arrives, used.waits) {
            (true, true) => "dir=both",
            (true, false) => "dir=forward",
            (false, true) => "dir=back",
            (false, false) => "dir=none, style=dotted",
        };
        let instructions = used.instructions.iter().map(|((operation, counts), lines)| {
            let lines: Vec<u32> = lines.iter().copied().collect();
            let counts = if counts.is_empty() { String::new() } else { format!(", {counts}") };
            format!("{operation}{counts} ({})", names::agents("line", &lines))
        });
        picture.edge(agents[kind], at, instructions.collect(), look);
    }
    picture.to_dot()
}

pub(super) fn draw_waits(machine: &Machine, kinds: &[Kind], file: &str) -> String {
    let says = "Who waits for whom: arrows lead from who waits to who arrives, by way of the barriers named.";
    let mut picture = Picture { title: title(machine, file, says), ..Picture::default() };
    let agents: Vec<_> =
        kinds.iter().map(|kind| picture.node(vec![kind.name.clone()], "shape=box")).collect();
    let uses = uses(machine, kinds);
    let mut awaits: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for ((waiter, barrier), _) in uses.iter().filter(|(_, used)| used.waits) {
        for ((other, at), _) in uses.iter().filter(|(_, used)| used.arrives) {
            // One agent by itself waits for nobody of its kind.
            let alone = waiter == other && kinds[*other].agents.len() < 2;
            if at == barrier && !alone {
                let short = wording::barrier(machine.program(), BarrierId(*barrier)).short;
                awaits.entry((*waiter, *other)).or_default().push(short);
            }
        }
    }
    for ((waiter, other), barriers) in awaits {
        picture.edge(agents[waiter], agents[other], vec![names::list(&barriers)], "");
    }
    picture.to_dot()
}
