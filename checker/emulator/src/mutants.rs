//! Kernels with one slip: a barrier removed, its number or count changed, a guard inverted, a bound changed.

use super::chance::Chance;
use super::kernel::Kernel;
use super::opcode::Op;
use std::collections::BTreeSet;

/// A module that somebody has changed in one line.
pub struct Mutant {
    pub text: String,
    /// What was changed, and into what.
    pub what: String,
}

/// Changes one line of the kernel by chance, if there is one that can be changed.
pub fn mutant(text: &str, kernel: &Kernel, chance: &mut Chance) -> Option<Mutant> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (mut barriers, mut others) = (BTreeSet::new(), BTreeSet::new());
    for instruction in kernel.code.iter().filter(|instruction| instruction.line > 0) {
        match instruction.op {
            Op::Barrier { .. } | Op::Memory(_) => barriers.insert(instruction.line),
            Op::Branch | Op::Exit if instruction.guard.is_some() => others.insert(instruction.line),
            Op::Compare { masks: None, .. } => others.insert(instruction.line),
            _ => false,
        };
    }
    let from = if chance.below(3) == 0 && !others.is_empty() { &others } else { &barriers };
    let line = *from.iter().nth(chance.below(from.len()))?;
    let old = lines.get(line - 1)?.clone();
    let changed = changed(&old, chance).filter(|changed| *changed != old)?;
    lines[line - 1].clone_from(&changed);
    let what = format!("line {line}: {} -> {}", old.trim(), changed.trim());
    Some(Mutant { text: lines.join("\n") + "\n", what })
}

fn changed(line: &str, chance: &mut Chance) -> Option<String> {
    let is_setp = line.contains("setp.");
    let is_barrier = !is_setp && ["bar", "mbarrier"].iter().any(|word| line.contains(word));
    let guard = line.find('@');
    match chance.below(3) {
        0 if is_barrier => Some("\t// removed".to_owned()),
        _ if is_setp => numbers(line, chance, 1),
        1 if is_barrier && guard.is_none() => numbers(line, chance, 1),
        2 if is_barrier && guard.is_none() => numbers(line, chance, 32),
        _ => inverted(line),
    }
}

/// An instruction with the guard that it has not.
pub fn inverted(line: &str) -> Option<String> {
    let (before, after) = line.split_at(line.find('@')? + 1);
    Some(match after.strip_prefix('!') {
        Some(after) => format!("{before}{after}"),
        None => format!("{before}!{after}"),
    })
}

/// Changes one of the numbers among the operands: the first by one, a count by a warp.
fn numbers(line: &str, chance: &mut Chance, by: i64) -> Option<String> {
    let end = line.find(';')?;
    let (head, tail) = line.split_at(end);
    let mut words: Vec<String> = head.split_inclusive([' ', '\t', ',']).map(str::to_owned).collect();
    let number = |word: &String| word.trim_end_matches([' ', '\t', ',']).parse::<i64>().ok();
    let places: Vec<usize> = (0..words.len()).filter(|at| number(&words[*at]).is_some()).collect();
    let is_count = by != 1;
    let at = *if is_count { places.get(1) } else { places.first() }?;
    let old = number(&words[at])?;
    let new = if chance.once_in(2) { old + by } else { (old - by).max(-1) };
    words[at] = words[at].replacen(&old.to_string(), &new.to_string(), 1);
    Some(words.concat() + tail)
}
