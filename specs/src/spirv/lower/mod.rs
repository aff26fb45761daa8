//! From a module to the code of one entry, as the extraction of protocols reads it.
//!
//! Values are taken apart into numbers, each a register. Variables of a function or an invocation are
//! registers too, as long as nobody hands their address on.

mod arithmetic;
mod barriers;
mod builtins;
mod calls;
mod escape;
mod flow;
mod instructions;
mod memory;
mod pointers;
mod state;
mod values;

use std::collections::HashMap;

use crate::kernel::code::Code;
use crate::module::Launch;

use super::declarations::Declarations;
use super::error::SpirvError;
use super::opcodes::{Effect, op};
use super::syntax::Listing;
use state::Lowerer;

pub(super) use state::called;

/// The code of an entry.
pub(super) struct Lowered {
    pub(super) code: Code,
    /// It has barriers of a subgroup.
    pub(super) has_subgroups: bool,
}

/// The code of the entry that a function is, with all that it calls. With the launch come the constants that
/// are what it says of the size of a group.
///
/// # Errors
/// Something is used that nothing defines.
pub(super) fn lower(
    listing: &Listing,
    declarations: &Declarations,
    (function, subgroup): (u32, Option<u64>),
    (launch, launched): (&Launch, HashMap<u32, u64>),
) -> Result<Lowered, SpirvError> {
    let mut lowerer = Lowerer {
        listing,
        declarations,
        launch,
        launched,
        subgroup,
        code: Code::default(),
        names: HashMap::new(),
        globals: HashMap::new(),
        escaped: escape::escaped(listing, declarations),
        calls: 0,
        frames: Vec::new(),
        has_subgroups: false,
        has_halves: listing.instructions.iter().any(|i| matches!(i.opcode, Some(op::ARRIVE | op::WAIT))),
        error: None,
    };
    if let Some(number) = declarations.numbers.get(&function) {
        lowerer.entry(*number);
    }
    match lowerer.error {
        Some(error) => Err(error),
        None => Ok(Lowered { code: lowerer.code, has_subgroups: lowerer.has_subgroups }),
    }
}

/// For each function of the module, whether it has a barrier or something like it, itself or in what it
/// calls.
pub(super) fn synchronises(listing: &Listing, declarations: &Declarations) -> Vec<bool> {
    let mut found = Vec::new();
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); declarations.functions.len()];
    for (number, function) in declarations.functions.iter().enumerate() {
        let mut own = false;
        for instruction in &listing.instructions[function.body.clone()] {
            own |=
                matches!(instruction.effect(), Effect::Barrier | Effect::Synchronises | Effect::Collective);
            if let Some(callee) = calls::callee(instruction) {
                match declarations.numbers.get(&callee) {
                    Some(callee) => callers[*callee].push(number),
                    None => own = true,
                }
            }
        }
        // What is only declared may do anything.
        found.push(own || function.body.is_empty());
    }
    let mut work: Vec<usize> = (0..found.len()).filter(|number| found[*number]).collect();
    while let Some(callee) = work.pop() {
        for caller in std::mem::take(&mut callers[callee]) {
            if !found[caller] {
                found[caller] = true;
                work.push(caller);
            }
        }
    }
    found
}
