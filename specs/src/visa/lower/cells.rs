//! Parts of variables: the registers for them, and which of them a write may change.

use std::collections::BTreeSet;

use crate::kernel::code::{Action, Argument, Function, Index, Type};
use crate::visa::opcodes::{Effect, effect, root};
use crate::visa::operand::{Operand, names};
use crate::visa::syntax::{Holds, Kind, Variable};

use super::state::{CARRIES, Cell, Current, Lowerer};

/// The whole of a variable.
const WHOLE: Cell = Cell { from: 0, bytes: u32::MAX };
/// Variables of which one is a part of the next.
const DEPTH: usize = 16;

impl<'m> Lowerer<'m> {
    /// Finds all parts that instructions name, and the variables that they may write.
    pub(super) fn collect(&mut self) {
        let function = self.function;
        for statement in &function.statements {
            self.writes_any |= statement.operands.iter().any(|text| Operand::of(text) == Operand::Indirect);
            let count = if effect(statement.opcode) == Some(Effect::Computes) { 2 } else { usize::MAX };
            for name in statement.operands.iter().take(count).flat_map(|text| names(text)) {
                // The second result of some, a source of most: what is only read stands there too.
                let is_second = count == 2
                    && statement.operands.first().is_none_or(|first| !names(first).any(|n| n == name));
                if is_second && !CARRIES.contains(&root(statement.opcode).as_str()) {
                    continue;
                }
                let found = self.base(name).map(|(base, ..)| base);
                let reads = matches!(
                    effect(statement.opcode),
                    Some(Effect::Barrier | Effect::Flow | Effect::Nothing)
                );
                self.written.extend(found.filter(|_| !reads));
            }
            if effect(statement.opcode) == Some(Effect::Message)
                && let Some((base, cell)) = self.payload(statement)
            {
                self.cell(base, cell);
            }
            let guard = statement
                .guard
                .map(|text| text.trim_start_matches('!').split('.').next().unwrap_or_default());
            for text in statement.operands.iter().copied().chain(guard) {
                match Operand::of(text) {
                    Operand::Region { name, row: 0, column, .. } => {
                        if let Some(((base, cell), _)) = self.place(name, column) {
                            self.cell(base, cell);
                        }
                    }
                    Operand::Name(name) if self.is_predicate(name) => {
                        let key = function.variables.get_key_value(name).map(|(name, _)| *name);
                        key.map(|name| self.cell(name, Cell { from: 0, bytes: 1 }));
                    }
                    _ => {}
                }
            }
        }
    }

    fn is_predicate(&self, name: &str) -> bool {
        self.function.variables.get(name).is_some_and(|variable| variable.kind == Kind::Predicate)
    }

    /// The register for a part of a variable.
    pub(super) fn cell(&mut self, base: &'m str, cell: Cell) -> u32 {
        if let Some(known) = self.cells.get(base).and_then(|cells| cells.get(&cell)) {
            return *known;
        }
        let name = if cell.from == 0 { base.to_owned() } else { format!("{base}_{}", cell.from) };
        let register = self.code.register(&name);
        self.cells.entry(base).or_default().insert(cell, register);
        register
    }

    /// The variable that a variable is a part of, and from which byte on.
    fn base(&self, name: &str) -> Option<(&'m str, u32, &'m Variable<'m>)> {
        let (mut name, mut variable) = self.function.variables.get_key_value(name)?;
        let mut from = 0_u32;
        for _ in 0..DEPTH {
            let Some((outer, at)) = variable.alias else { return Some((name, from, variable)) };
            from = from.checked_add(at)?;
            (name, variable) = self.function.variables.get_key_value(outer)?;
        }
        None
    }

    /// The variable that a variable is a part of, and from which byte on, if it is a general one.
    pub(super) fn whole(&self, name: &str) -> Option<(&'m str, u32)> {
        self.base(name)
            .filter(|(_, _, variable)| variable.kind == Kind::General)
            .map(|(base, from, _)| (base, from))
    }

    /// The part of a variable that an element is, and its type, if that is one of integers.
    pub(super) fn place(&self, name: &str, column: u32) -> Option<((&'m str, Cell), Type)> {
        let variable = self.function.variables.get(name)?;
        if variable.kind != Kind::General || !variable.is_integer {
            return None;
        }
        let (base, from, _) = self.base(name)?;
        let from = from.checked_add(column.checked_mul(variable.bytes)?)?;
        let ty = Type { bits: u8::try_from(variable.bytes * 8).ok()?, signed: variable.signed };
        Some(((base, Cell { from, bytes: variable.bytes }), ty))
    }

    /// What a part of a variable holds.
    pub(super) fn read(&mut self, (base, cell): (&'m str, Cell)) -> Option<Argument> {
        let variable = self.function.variables.get(base)?;
        let is_written = self.writes_any || self.written.contains(base);
        let direction = usize::try_from(cell.from / 4).ok().filter(|_| cell.bytes == 4 && cell.from % 4 == 0);
        match (variable.holds, direction) {
            (Holds::LocalId, Some(direction @ 0..3)) if !is_written => {
                Some(Argument::Index(Index::Thread(direction as u8)))
            }
            (Holds::LocalSize, Some(direction @ 0..3)) if !is_written => {
                Some(Argument::Number(u64::from(self.launch.size[direction])))
            }
            // An argument with one element is the same for all threads of the group.
            (Holds::Input, _) if !is_written && variable.elements == 1 && cell.from == 0 => {
                let position = self.function.inputs.iter().position(|input| *input == base);
                match self.launch.param(position.map(|position| (position, base)), base) {
                    Some(value) => Some(Argument::Number(value as u64)),
                    None => {
                        let bits = u8::try_from(cell.bytes * 8).ok().filter(|bits| *bits >= 32);
                        let given = position.map(|position| (position, base));
                        let said = self.launch.said(given, base).filter(|_| bits.is_some());
                        let name = self.name(base);
                        Some(self.code.same(name, said, bits.unwrap_or(64)))
                    }
                }
            }
            _ => Some(Argument::Register(self.cell(base, cell))),
        }
    }

    /// Makes everything unknown that a write may change; what is written exactly, if it is, is left out.
    pub(super) fn forget(
        &mut self,
        current: &Current<'m>,
        base: &'m str,
        changed: Cell,
        exact: Option<Cell>,
    ) {
        let cells = self.cells.get(base).into_iter().flatten();
        let meet = cells.filter(|(cell, _)| cell.meets(changed) && Some(**cell) != exact);
        let registers: Vec<u32> = meet.map(|(_, register)| *register).collect();
        for register in registers {
            self.compute(current, register, Function::Unknown, &[]);
        }
    }

    fn forget_all(&mut self, current: &Current<'m>) {
        let mut bases: Vec<&'m str> = self.cells.keys().copied().collect();
        bases.sort_unstable();
        bases.into_iter().for_each(|base| self.forget(current, base, WHOLE, None));
    }

    /// Writes the first operand: a value if it is known, and is that of one lane.
    pub(super) fn write(&mut self, current: &Current<'m>, value: Option<(Argument, Function)>) {
        let Some(text) = current.statement.operands.first() else {
            return self.emit(current, Action::Nothing);
        };
        match Operand::of(text) {
            Operand::Region { name, row, column, step, .. } => {
                if name.starts_with('%') {
                    return self.emit(current, Action::Nothing);
                }
                let Some((base, from, _)) = self.base(name) else {
                    return self.beyond(current, &format!("`{name}`, which is not declared"));
                };
                let bytes = self.function.variables[name].bytes;
                let lanes = current.statement.lanes;
                let count = lanes.saturating_sub(1).saturating_mul(step.max(1)).saturating_add(1);
                let from = from.saturating_add(column.saturating_mul(bytes));
                // How long a row is, the platform says.
                let changed =
                    if row == 0 { Cell { from, bytes: count.saturating_mul(bytes) } } else { WHOLE };
                let exact = Cell { from, bytes };
                match value.filter(|_| row == 0 && lanes == 1) {
                    Some((value, function)) => {
                        let to = self.cell(base, exact);
                        self.compute(current, to, function, &[value]);
                        self.forget(current, base, changed, Some(exact));
                    }
                    None => self.forget(current, base, changed, None),
                }
                self.emit(current, Action::Nothing);
            }
            Operand::Name(name) if self.is_predicate(name) => {
                let key = self.function.variables.get_key_value(name).map(|(name, _)| *name);
                let Some(base) = key else { return };
                let to = self.cell(base, Cell { from: 0, bytes: 1 });
                match value.filter(|_| current.statement.lanes == 1) {
                    Some((value, function)) => self.compute(current, to, function, &[value]),
                    None => self.compute(current, to, Function::Unknown, &[]),
                }
            }
            Operand::Name(name) => match self.base(name) {
                Some((base, ..)) => {
                    self.forget(current, base, WHOLE, None);
                    self.emit(current, Action::Nothing);
                }
                None if name.starts_with('%') => self.emit(current, Action::Nothing),
                None => self.beyond(current, &format!("`{name}`, which is not declared")),
            },
            Operand::Indirect => self.forget_all(current),
            // An address variable: `A0(0)<1>`.
            _ => {
                let found: BTreeSet<&str> = names(text).collect();
                let bases: Vec<&'m str> =
                    found.iter().filter_map(|name| self.base(name)).map(|(base, ..)| base).collect();
                for base in bases {
                    self.forget(current, base, WHOLE, None);
                }
                self.emit(current, Action::Nothing);
            }
        }
    }

    /// An instruction that may write whatever it names.
    pub(super) fn touches(&mut self, current: &Current<'m>) {
        let statement = current.statement;
        if statement.operands.iter().any(|text| Operand::of(text) == Operand::Indirect) {
            self.forget_all(current);
        }
        let found: BTreeSet<&str> = statement.operands.iter().flat_map(|text| names(text)).collect();
        for name in found {
            if let Some((base, ..)) = self.base(name) {
                self.forget(current, base, WHOLE, None);
            }
        }
        self.emit(current, Action::Nothing);
    }
}
