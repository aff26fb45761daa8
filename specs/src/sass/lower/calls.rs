//! Calls: the code of what is called is laid out in their place.

use crate::kernel::code::{Action, Function};
use crate::sass::opcodes::{self, Effect};
use crate::sass::operand::{Kind, Operand, Register};
use crate::sass::syntax::{self, Listing, Statement};

use super::routes::{Route, reached, route};
use super::state::{Current, Lowerer};

/// Calls inside one another.
const DEPTH: usize = 64;

/// Functions that come with the compiler and synchronise nothing.
const HARMLESS: [&str; 3] = ["vprintf", "malloc", "free"];
/// Those that end the grid.
const ENDING: [&str; 3] = ["__assertfail", "__assert_fail", "__cxa_pure_virtual"];

impl<'m> Lowerer<'m> {
    pub(super) fn call(&mut self, current: &Current<'m>, function: usize, to: usize) {
        if self.frames.iter().any(|frame| frame.entered == (function, to)) {
            return self.beyond(current, "a recursive call");
        }
        if self.frames.len() >= DEPTH {
            return self.beyond(current, "a call too deep inside other calls");
        }
        if current.guard.is_some() {
            return self.beyond(current, "a call under a guard");
        }
        if !self.comes_back(current, function, to) {
            return self.beyond(current, "a call that comes back to where is not known");
        }
        self.region(function, to);
    }

    /// A function whose code is not here.
    pub(super) fn named_call(&mut self, current: &Current<'m>, name: &str) {
        if ENDING.contains(&name) {
            return self.emit(current, Action::Abort);
        }
        if !HARMLESS.contains(&name) {
            return self.beyond(current, &format!("a call of `{name}`, whose code is not here"));
        }
        // Whatever it leaves in registers.
        let mut cells: Vec<u32> = self.registers.values().copied().collect();
        cells.sort_unstable();
        for cell in cells {
            self.compute(current, cell, Function::Unknown, &[]);
        }
        self.writes_anywhere(current);
    }

    /// Whether what is called comes back right behind the call: chips since sm_70 keep in a register where
    /// to, which is to be set before the call.
    fn comes_back(&mut self, current: &Current<'m>, function: usize, to: usize) -> bool {
        let listing = self.listing;
        let registers = self.returns.entry((function, to)).or_insert_with(|| returns(listing, function, to));
        match registers.clone().as_slice() {
            [] => true,
            // Chips before sm_70 keep it on a stack.
            [None] => current.root != "CALL",
            [Some(register)] => self.is_set(current, *register),
            _ => false,
        }
    }

    /// Whether a register holds the address behind the call: looked for right before it.
    fn is_set(&self, current: &Current<'m>, register: Register) -> bool {
        let function = self.function();
        let is_behind = |text: &str| {
            let address = function.statements.get(current.at + 1).and_then(|statement| statement.address);
            let names = function.named.get(&(current.at + 1)).into_iter().flatten();
            let is_word = |name: &str| {
                text.match_indices(name).any(|(from, _)| {
                    let behind = text[from + name.len()..].chars().next();
                    !behind.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                })
            };
            match Operand::of(text).kind {
                Kind::Number(number) => Some(number) == address,
                _ => names.into_iter().any(|name| is_word(name)),
            }
        };
        let writes = |statement: &Statement<'_>| {
            let first = statement.operands.first().and_then(|text| Operand::of(text).plain());
            first == Some(register)
        };
        let before = function.statements[..current.at].iter().rev().take(64);
        for statement in before {
            if writes(statement) {
                let constant = || {
                    self.constant_of(statement).is_some_and(|number| {
                        let behind = function.statements.get(current.at + 1);
                        behind.and_then(|statement| statement.address) == Some(number)
                    })
                };
                let last = statement.operands.last().copied().unwrap_or_default();
                return MOVES.contains(&statement.opcode)
                    && statement.guard.is_none()
                    && (is_behind(last) || constant());
            }
        }
        false
    }

    /// The number that `HFMA2` puts into a register.
    fn constant_of(&self, statement: &'m Statement<'m>) -> Option<u64> {
        let mut opcode = statement.opcode.split('.');
        let root = opcode.next().filter(|root| *root == "HFMA2")?;
        let operands: Vec<Operand<'m>> = statement.operands.iter().map(|text| Operand::of(text)).collect();
        let sources = operands.get(1..)?.to_vec();
        let current = Current { at: 0, statement, root, parts: opcode.collect(), operands, guard: None };
        super::half::constant(&current, &sources)
    }
}

/// Instructions before a return that are looked at.
const NEAR: usize = 16;

/// The register from which another was moved right before a return.
fn origin(called: &syntax::Function<'_>, at: usize, register: Register) -> Register {
    let mut register = register;
    for before in called.statements[..at].iter().rev().take(NEAR) {
        let operands: Vec<Operand<'_>> = before.operands.iter().map(|text| Operand::of(text)).collect();
        if operands.first().and_then(Operand::plain) != Some(register) {
            continue;
        }
        let source = operands.last().and_then(Operand::plain);
        match source.filter(|_| MOVES.contains(&before.opcode) && before.guard.is_none()) {
            Some(source) => register = source,
            None => return register,
        }
    }
    register
}

/// Opcodes that move a register or a number into a register, as the last of their operands.
const MOVES: [&str; 6] = ["MOV", "IMAD.MOV.U32", "IMAD.MOV", "UMOV", "HFMA2", "HFMA2.MMA"];

/// Whether an instruction may write a register.
fn writes(statement: &Statement<'_>, register: Register) -> bool {
    let (Some(first), Some(number)) = (statement.operands.first(), register.number) else { return false };
    let written = statement.operands.iter().take(2).filter_map(|text| Operand::of(text).target());
    let width = match opcodes::effect(statement.opcode) {
        Some(Effect::Tiles) => opcodes::tile(statement.opcode),
        _ => opcodes::width(statement.opcode),
    };
    let may = |to: Register| {
        to.file == register.file && to.number.is_some_and(|to| (to..to + width).contains(&number))
    };
    let reads_only = matches!(
        opcodes::effect(statement.opcode),
        Some(Effect::Reads | Effect::Stores | Effect::Flow | Effect::Predicates | Effect::Predicate)
    );
    let first = Operand::of(first).target();
    !reads_only
        && (first.is_some_and(may)
            || first.is_none_or(|to| to.file.is_predicate()) && written.into_iter().any(may))
}

/// The registers that say where what is called comes back to: those that nothing in it writes.
fn returns(listing: &Listing<'_>, function: usize, to: usize) -> Vec<Option<Register>> {
    let called = &listing.functions[function];
    let pops = super::stacks::pops(listing, function, to);
    let mut registers = Vec::new();
    let reached = reached(listing, function, to, &pops);
    for at in reached.iter().copied() {
        if route(listing, function, at) == Route::Return {
            let operands = &called.statements[at].operands;
            // Behind the register stands a name that says nothing more.
            let first = operands.first().and_then(|text| text.split_whitespace().next());
            let register = first.and_then(|text| Operand::of(text).plain());
            let register = register.map(|register| origin(called, at, register));
            if !registers.contains(&register) {
                registers.push(register);
            }
        }
    }
    let lost = |register: &Option<Register>| {
        let mut statements = reached.iter().map(|at| &called.statements[*at]);
        register.is_some_and(|register| statements.any(|statement| writes(statement, register)))
    };
    if registers.iter().any(lost) {
        // As if there were several.
        registers = vec![None, None];
    }
    registers
}
