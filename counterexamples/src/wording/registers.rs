//! The pool of a CTA's registers in words.

use barcheck_model::barrier::BarrierId;
use barcheck_model::barrier::registers::{Action, Barrier};
use barcheck_model::program::{Program, Target, WarpOp};

use super::figures::{Gathering, Naming, count, plain};
use super::system::{Counts, Names};
use crate::trace::Operands;

/// Its names, if a barrier is such a pool.
pub(super) fn names(program: &Program, id: BarrierId) -> Option<Names> {
    let is_it = program.target == Target::Ptx && id >= program.register_pool(0);
    let cta = id.0.checked_sub(program.register_pool(0).0)?;
    is_it.then(|| match program.ctas {
        0 | 1 => Names { name: "the register pool".to_owned(), short: "regs".to_owned() },
        _ => Names { name: format!("the register pool of cta {cta}"), short: format!("c{cta}regs") },
    })
}

/// How many registers there are, if an instruction is about them.
pub(super) fn counts(instruction: &str) -> Option<Counts> {
    instruction.starts_with("setmaxnreg").then(|| {
        let says = "The number of registers is from 24 to 256 in steps of 8; an increase asks for no fewer than \
                    the warp has, a decrease leaves it no more.";
        Counts::by("ptx.registers-range", "registers", says.to_owned())
    })
}

/// The operands of an instruction.
pub(super) fn operands(action: &Action) -> Operands {
    plain(if action.given < 0 { "wait" } else { "count" }, action.barrier, Vec::new())
}

/// What is free, of the fewest that somebody waits for.
pub(super) fn gathering(barrier: &Barrier) -> Option<Gathering> {
    let wanted = *barrier.wanted.first()?;
    Some(Gathering::plain(vec![count("registers", barrier.free, wanted)]))
}

/// Whether an instruction may give registers to it.
pub(super) fn may_use(op: &WarpOp, naming: &Naming<'_>) -> bool {
    let is_own = naming.id == naming.program.register_pool(naming.program.cta_of(naming.agent));
    matches!(op, WarpOp::Registers { takes: false, .. }) && is_own
}
