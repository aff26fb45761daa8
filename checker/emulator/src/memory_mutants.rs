//! Kernels with one slip in how they access shared memory: an offset, a shift, a mask or a guard is another,
//! or a store stands on the other side of a barrier.

use super::chance::Chance;
use super::kernel::{Instruction, Kernel, Operand};
use super::mutants::{Mutant, inverted};
use super::opcode::{Op, Space};
use std::collections::BTreeSet;

/// Lines over which a store is moved, at the most.
const FAR: usize = 24;

/// Changes one line that is about shared memory, if there is one.
pub fn memory_mutant(text: &str, kernel: &Kernel, chance: &mut Chance) -> Option<Mutant> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let is_line = |instruction: &&Instruction| instruction.line > 0;
    let code: Vec<&Instruction> = kernel.code.iter().filter(is_line).collect();
    let accesses: BTreeSet<usize> = code.iter().filter(|it| is_access(it)).map(|it| it.line).collect();
    let computed = computed(&code);
    let from = if chance.once_in(2) && !computed.is_empty() { &computed } else { &accesses };
    let line = *from.iter().nth(chance.below(from.len()))?;
    let old = lines.get(line - 1)?.clone();
    let is_whole = |line: &str| line.matches(';').count() == 1 && line.trim_end().ends_with(';');
    if !is_whole(&old) {
        return None;
    }
    if accesses.contains(&line) && chance.once_in(3) {
        let is_barrier = |it: &&&Instruction| {
            matches!(it.op, Op::Barrier { .. }) && it.line.abs_diff(line) < FAR && it.guard.is_none()
        };
        let barrier = code.iter().filter(is_barrier).min_by_key(|it| it.line.abs_diff(line))?.line;
        if !is_whole(&lines[barrier - 1]) {
            return None;
        }
        lines.swap(line - 1, barrier - 1);
        let what = format!("lines {line} and {barrier} have changed places: {}", old.trim());
        return Some(Mutant { text: lines.join("\n") + "\n", what });
    }
    let changed = match old.find('@') {
        Some(_) if chance.once_in(3) => inverted(&old),
        Some(at) if chance.once_in(3) => {
            old[at..].split_once(char::is_whitespace).map(|(_, rest)| rest.to_owned())
        }
        _ if accesses.contains(&line) => offset(&old, chance),
        _ => constant(&old, chance),
    };
    let changed = changed.filter(|changed| *changed != old)?;
    lines[line - 1].clone_from(&changed);
    let what = format!("line {line}: {} -> {}", old.trim(), changed.trim());
    Some(Mutant { text: lines.join("\n") + "\n", what })
}

fn is_access(it: &Instruction) -> bool {
    match &it.op {
        Op::Load { space, .. } | Op::Store { space, .. } | Op::Atomic { space, .. } => {
            *space == Space::Shared
        }
        Op::Copy => true,
        _ => false,
    }
}

/// Lines on which addresses of shared memory are computed with a number.
fn computed(code: &[&Instruction]) -> BTreeSet<usize> {
    let base = |operand: &Operand| match operand {
        Operand::Address(base, _) => *base,
        Operand::Register(register, _) => Some(*register),
        _ => None,
    };
    let mut wanted: BTreeSet<usize> = code
        .iter()
        .filter(|it| is_access(it))
        .flat_map(|it| it.operands.iter().filter(|operand| matches!(operand, Operand::Address(..))))
        .filter_map(base)
        .collect();
    let mut lines = BTreeSet::new();
    // Addresses are computed before they are used, but for what loops carry.
    for it in code.iter().rev().chain(code.iter().rev()) {
        let is_arithmetic = matches!(it.op, Op::Alu(..) | Op::Product { .. } | Op::Move(_) | Op::Convert(..));
        let Some(Operand::Register(to, _)) = it.operands.first() else { continue };
        if !is_arithmetic || !wanted.contains(to) {
            continue;
        }
        wanted.extend(it.operands[1..].iter().filter_map(base));
        let has_number = it.operands[1..].iter().any(|operand| matches!(operand, Operand::Number(_)));
        // The number of a variable does not stand in the text.
        if has_number && !matches!(it.op, Op::Move(_)) {
            lines.insert(it.line);
        }
    }
    lines
}

/// An access to a place before or behind.
fn offset(line: &str, chance: &mut Chance) -> Option<String> {
    let end = line.find(']')?;
    let by = [4, 4, 8, 16, 64, 128, 512][chance.below(7)];
    let sign = ["+", "-"][chance.below(2)];
    let (head, tail) = line.split_at(end);
    let open = head.rfind('[')?;
    let (base, old) = match head[open + 1..].rsplit_once('+') {
        Some((base, old)) => (base, old.trim().parse::<i64>().ok()?),
        None => (&head[open + 1..], 0),
    };
    let new = if sign == "+" { old + by } else { old - by };
    Some(format!("{}[{base}+{new}{tail}", &head[..open]))
}

/// One of the numbers of an instruction is another: twice or half as much, or one more or less.
fn constant(line: &str, chance: &mut Chance) -> Option<String> {
    let end = line.find(';')?;
    let (head, tail) = line.split_at(end);
    let mut words: Vec<String> = head.split_inclusive([' ', '\t', ',']).map(str::to_owned).collect();
    let number = |word: &String| word.trim_end_matches([' ', '\t', ',']).parse::<i64>().ok();
    let places: Vec<usize> = (0..words.len()).filter(|at| number(&words[*at]).is_some()).collect();
    let at = *places.get(chance.below(places.len()))?;
    let old = number(&words[at])?;
    let new = [old + 1, old - 1, old * 2, old / 2, old + 4][chance.below(5)];
    let is_shift = head.contains("shl") || head.contains("shr");
    let new = if is_shift { new.clamp(0, 31) } else { new };
    words[at] = words[at].replacen(&old.to_string(), &new.to_string(), 1);
    Some(words.concat() + tail)
}
