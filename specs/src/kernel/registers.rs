//! Registers that warps give to the pool of their group and take from it.
//!
//! Source: PTX ISA, section `setmaxnreg`.

use barcheck_model::barrier::registers;

use super::code::{Action, Argument, Awaited, Code, Synchronisation};

const TAKES: &str = "setmaxnreg.inc";
const GIVES: &str = "setmaxnreg.dec";
/// The lanes of a warp.
const LANES: u32 = 32;
/// What a kernel can be compiled for: in steps of so many, and no more than so many.
const STEP: u32 = 8;
const MOST: u32 = 256;

/// From here on each thread has so many registers.
pub(crate) fn step(takes: bool, count: Argument) -> Action {
    Action::Synchronise(Synchronisation {
        statement: format!("{} {{}}", if takes { TAKES } else { GIVES }),
        operands: vec![(count, "number of registers")],
        awaited: Awaited::Nobody,
    })
}

/// What a notation says of the registers with which each thread begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compiled<'a> {
    /// As many as this.
    pub(crate) given: Option<u32>,
    /// The threads for which there are to be enough.
    pub(crate) threads: u32,
    /// What would say how many there are: the end of a remark.
    pub(crate) would_say: &'a str,
}

/// The registers with which each thread begins, where the code gives or takes any. The compiler chooses them:
/// where nothing says how many, as many as all threads can have, but no more than any of them asks for, which
/// is said.
// clause: ptx.registers-file
pub(crate) fn each(code: &mut Code, compiled: Compiled<'_>) -> Option<u32> {
    let steps = code.instructions.iter().filter_map(|instruction| match &instruction.action {
        Action::Synchronise(barrier) if barrier.statement.starts_with(TAKES) => {
            let count = barrier.operands.first().map(|(count, _)| *count);
            let known = match count {
                Some(Argument::Number(count)) => u32::try_from(count).ok(),
                _ => None,
            };
            Some((known, instruction.span))
        }
        Action::Synchronise(barrier) if barrier.statement.starts_with(GIVES) => {
            Some((None, instruction.span))
        }
        _ => None,
    });
    let steps: Vec<_> = steps.collect();
    let (_, span) = *steps.first()?;
    let warps = compiled.threads.div_ceil(LANES).max(1);
    let room = (registers::FILE / warps / STEP * STEP).min(MOST);
    if let Some(given) = compiled.given {
        return Some(given.min(room));
    }
    let each = steps.iter().filter_map(|(count, _)| *count).min().map_or(room, |asked| asked.min(room));
    let what = format!(
        "it is compiled for {each} registers of each thread, as many as there are for {} threads{}",
        warps * LANES,
        compiled.would_say
    );
    code.assumed.push((what, span));
    Some(each)
}
