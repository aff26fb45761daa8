//! Where control goes from an instruction of a listing.

use std::collections::{BTreeSet, HashMap};

use crate::sass::operand::{Kind, Operand, parts};
use crate::sass::syntax::{Function, Listing, Statement};

/// Where control goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// To the next instruction.
    On,
    /// To another, or on if the jump depends on something.
    Jump(usize),
    /// To one of several.
    Table(Vec<usize>),
    /// Into a function, and back behind the call: the function and the instruction.
    Call(usize, usize),
    /// To a function that is known by its name alone.
    Named(String),
    /// Back to whoever has called.
    Return,
    Exit,
    Abort,
    /// To where the innermost `SSY`, `PBK` or `PCNT` says.
    Pop(Pushed),
    /// It says where a later instruction leads.
    Push(Pushed, usize),
    /// Somewhere: why that is not known.
    Lost(String),
}

/// What is put on the stack on which chips before sm_70 keep where threads meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pushed {
    Meeting,
    Break,
    Continue,
}

/// Where control goes from an instruction.
pub(super) fn route(listing: &Listing<'_>, here: usize, at: usize) -> Route {
    let function = &listing.functions[here];
    let statement = &function.statements[at];
    let mut parts = statement.opcode.split('.');
    let root = parts.next().unwrap_or_default();
    let last = statement.operands.last().copied().unwrap_or_default();
    let to = || match function.target(last) {
        Some(to) => Route::Jump(to),
        None => Route::Lost(format!("a jump to `{last}`, which is not in this listing")),
    };
    let push = |pushed| match to() {
        Route::Jump(to) => Route::Push(pushed, to),
        other => other,
    };
    match root {
        "BRA" if statement.opcode.contains(".DIV") => Route::On,
        "BRA" | "JMP" => to(),
        "SSY" => push(Pushed::Meeting),
        "PBK" => push(Pushed::Break),
        "PCNT" => push(Pushed::Continue),
        "SYNC" => Route::Pop(Pushed::Meeting),
        "BRK" => Route::Pop(Pushed::Break),
        "CONT" => Route::Pop(Pushed::Continue),
        "BSYNC" if meets_behind(function, at) => Route::On,
        "BSYNC" => Route::Lost("threads that meet elsewhere than behind `BSYNC`".to_owned()),
        "WARPSYNC" if parts.any(|part| part == "COLLECTIVE") => match to() {
            Route::Jump(to) if to == at + 1 => Route::On,
            _ => Route::Lost("`WARPSYNC.COLLECTIVE` that goes on elsewhere".to_owned()),
        },
        "WARPSYNC" => Route::On,
        "BRX" | "BRXU" | "JMX" | "JMXU" => table(function, statement),
        "CALL" | "CAL" | "JCAL" => call(listing, here, last),
        "RET" => Route::Return,
        "EXIT" | "KILL" => Route::Exit,
        "BPT" if statement.opcode.contains("TRAP") => Route::Abort,
        "BPT" => Route::On,
        _ => match crate::sass::opcodes::effect(statement.opcode) {
            Some(crate::sass::opcodes::Effect::Flow) => Route::Lost(format!("`{}`", statement.opcode)),
            _ => Route::On,
        },
    }
}

/// `BSSY B0, L` says where threads meet that come to `BSYNC B0`: right behind it, as compilers write it.
pub(super) fn meets_behind(function: &Function<'_>, at: usize) -> bool {
    let Some(register) = function.statements[at].operands.last() else { return false };
    [at, at + 1].iter().any(|to| function.meetings.contains(&(*register, *to)))
}

/// `BRX R2 -0x20 (*"BRANCH_TARGETS .L_1,.L_2"*)`
fn table(function: &Function<'_>, statement: &Statement<'_>) -> Route {
    let names = statement.remark.strip_prefix("BRANCH_TARGETS").unwrap_or_default();
    let targets: Option<Vec<usize>> = names.split(',').map(|name| function.target(name)).collect();
    match targets {
        Some(targets) if !targets.is_empty() => Route::Table(targets),
        _ => Route::Lost(format!("`{}` to where is not known: the listing has no table", statement.opcode)),
    }
}

fn call(listing: &Listing<'_>, here: usize, name: &str) -> Route {
    let function = &listing.functions[here];
    let plain = name.trim_start_matches("`(").trim_end_matches(')');
    if let Some(to) = function.target(plain) {
        let has_jumps = function.chip.is_some_and(|chip| chip >= 70);
        return match has_jumps && never_returns(function, to) {
            true => Route::Jump(to),
            false => Route::Call(here, to),
        };
    }
    if let Some(other) = listing.names.get(plain) {
        return Route::Call(*other, 0);
    }
    match Operand::of(name).kind {
        Kind::Label(name) => Route::Named(name.to_owned()),
        _ => Route::Lost("a call of a function that is known only when it runs".to_owned()),
    }
}

/// Whether nothing that is reached from an instruction of a function comes back. Compilers write a jump far
/// away as a call of it: chips since sm_70 keep nothing of a call but what a register says.
fn never_returns(function: &Function<'_>, start: usize) -> bool {
    let (mut seen, mut work) = (BTreeSet::new(), vec![start]);
    while let Some(at) = work.pop() {
        let Some(statement) = function.statements.get(at).filter(|_| seen.insert(at)) else { continue };
        let is_always = statement.guard.is_none_or(|guard| guard == "PT" || guard == "UPT");
        let goes_on = match statement.opcode.split('.').next().unwrap_or_default() {
            "RET" | "BRX" | "BRXU" | "JMX" | "JMXU" => return false,
            "EXIT" => !is_always || !statement.operands.is_empty(),
            root @ ("BRA" | "JMP" | "CALL") => {
                let to = statement.operands.last().and_then(|to| function.target(to));
                if to.is_none() && root != "CALL" {
                    return false;
                }
                work.extend(to);
                root == "CALL" || !is_always || statement.operands.len() > 1
            }
            _ => true,
        };
        work.extend(goes_on.then_some(at + 1));
    }
    true
}

/// The instructions that are reached from one of them, calls left out, with those that lead to nothing that
/// is known among them.
pub(super) fn reached(
    listing: &Listing<'_>,
    here: usize,
    start: usize,
    pops: &HashMap<usize, usize>,
) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut work = vec![start];
    while let Some(at) = work.pop() {
        if at >= listing.functions[here].statements.len() || !found.insert(at) {
            continue;
        }
        let (goes_on, others) = follows(listing, here, at, pops);
        work.extend(others);
        work.extend(goes_on.then_some(at + 1));
    }
    found
}

/// Whether control may go on to the next instruction, and where else it may go.
pub(super) fn follows(
    listing: &Listing<'_>,
    here: usize,
    at: usize,
    pops: &HashMap<usize, usize>,
) -> (bool, Vec<usize>) {
    let statement = &listing.functions[here].statements[at];
    let depends = statement.guard.is_some_and(|guard| guard != "PT" && guard != "UPT")
        || statement.opcode.starts_with("BRA") && statement.operands.len() > 1
        || statement.opcode.starts_with("JMP") && statement.operands.len() > 1
        || statement.operands.len() > 1 && statement.opcode.starts_with("SYNC")
        || statement.opcode.starts_with("EXIT") && !statement.operands.is_empty();
    match route(listing, here, at) {
        Route::On | Route::Call(..) | Route::Named(_) | Route::Push(..) => (true, Vec::new()),
        Route::Jump(to) => (depends, vec![to]),
        Route::Table(targets) => (depends, targets),
        Route::Pop(_) => (depends, pops.get(&at).copied().into_iter().collect()),
        Route::Return | Route::Exit | Route::Abort => (depends, Vec::new()),
        // What cannot be followed ends what is.
        Route::Lost(_) => (true, Vec::new()),
    }
}

/// Parts of an operand that is a register and a distance: `R2 -0x20`.
pub(super) fn index_of(text: &str) -> Option<&str> {
    let first = text.split_whitespace().next()?;
    parts(first).first().map(|(name, _)| *name)
}
