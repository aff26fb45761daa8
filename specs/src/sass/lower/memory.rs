//! Loads and stores.

use crate::kernel::code::{Action, Argument, Function, Memory, Operation, Written};
use crate::sass::operand::{File, Kind, Register, number, parts, register};

use super::arithmetic::copy;
use super::results::results;
use super::state::{Current, Lowerer, WORD};

/// An address in brackets: registers with how far each is shifted, whether two hold it, and a number.
struct Place {
    terms: Vec<(Register, u64, bool)>,
    offset: i64,
}

fn place(text: &str) -> Option<Place> {
    let mut place = Place { terms: Vec::new(), offset: 0 };
    for (part, negative) in parts(text) {
        if let Some(number) = number(part) {
            let number = i64::try_from(number).ok()?;
            place.offset = place.offset.wrapping_add(if negative { -number } else { number });
            continue;
        }
        let (name, suffix) = part.split_once('.').unwrap_or((part, ""));
        let register = register(name).filter(|register| !register.file.is_predicate() && !negative)?;
        let (shift, is_pair) = match suffix.strip_suffix("reuse").unwrap_or(suffix).trim_end_matches('.') {
            "" | "U32" => (0, false),
            "64" => (0, true),
            "X4" => (2, false),
            "X8" => (3, false),
            "X16" => (4, false),
            _ => return None,
        };
        place.terms.push((register, shift, is_pair));
    }
    Some(place)
}

impl<'m> Lowerer<'m> {
    pub(super) fn load(&mut self, current: &Current<'m>) {
        let done = self.load_followed(current);
        if done.is_none() {
            self.opaque(current, Function::Unknown);
        }
    }

    fn load_followed(&mut self, current: &Current<'m>) -> Option<()> {
        let results = results(current)?;
        let [result] = results.all.as_slice() else { return None };
        if result.in_part || result.register.file.is_predicate() {
            return None;
        }
        let from = current.operands.get(results.behind)?;
        let ty = self.type_of(current);
        let cells = self.cells(*result);
        let mut values = Vec::new();
        for word in 0..cells.len() as i64 {
            let value = match (current.root, &from.kind) {
                ("LDC" | "ULDC" | "LDCU", Kind::Constant(bank, register, offset)) => {
                    let is_plain = current.parts.iter().all(|part| matches!(*part, "64" | "128" | "32"));
                    let register = register.filter(|register| register.number.is_some());
                    match register {
                        None if is_plain => self.constant(*bank, offset + 4 * word),
                        None => {
                            let zero = Register { file: File::General, number: None };
                            self.indexed(current, (*bank, zero), *offset, ty)
                        }
                        Some(register) if current.parts.iter().all(|part| !part.starts_with("I")) => {
                            self.indexed(current, (*bank, register), offset + 4 * word, ty)
                        }
                        Some(_) => return None,
                    }
                }
                ("LDG", Kind::Address(text)) => {
                    let memory = self.global(current)?;
                    self.global_word(current, text, memory, (4 * word, ty))?
                }
                ("LDL", Kind::Address(_)) => self.spilled(current, word as u32)?,
                ("LDS", Kind::Address(text)) if result.width == 1 => {
                    let address = self.shared(current, text)?;
                    let name = Argument::Same(self.name(ty));
                    self.intermediate(current, Function::Load(Memory::Shared), &[address, name])
                }
                _ => return None,
            };
            values.push(value);
        }
        for (cell, value) in cells.into_iter().zip(values) {
            self.compute(current, cell, copy(WORD), &[value]);
        }
        self.emit(current, Action::Nothing);
        Some(())
    }

    /// The type of what is loaded, as far as it matters whether two loads are the same.
    fn type_of(&self, current: &Current<'m>) -> &'static str {
        let has = |part: &str| current.has(part);
        match () {
            () if has("U8") => "u8",
            () if has("S8") => "s8",
            () if has("U16") => "u16",
            () if has("S16") => "s16",
            () => "b32",
        }
    }

    /// Whether global memory is loaded as what nobody writes; `None` if others are told to look at it.
    fn global(&self, current: &Current<'m>) -> Option<Memory> {
        let watched = ["STRONG", "MMIO", "CV", "VOLATILE", "ACQUIRE"];
        if current.parts.iter().any(|part| watched.contains(part)) {
            return None;
        }
        let is_constant = current.has("CONSTANT") || current.has("CI");
        Some(if is_constant { Memory::Constant } else { Memory::Global })
    }

    fn global_word(
        &mut self,
        current: &Current<'m>,
        text: &str,
        memory: Memory,
        (word, ty): (i64, &str),
    ) -> Option<Argument> {
        let address = self.global_address(current, text, word)?;
        let name = Argument::Same(self.name(ty));
        Some(self.intermediate(current, Function::Load(memory), &[address, name]))
    }

    /// An address in global memory: equal ones are computed from equal registers.
    fn global_address(&mut self, current: &Current<'m>, text: &str, more: i64) -> Option<Argument> {
        let place = place(text)?;
        let mut arguments = Vec::new();
        for (register, shift, _) in &place.terms {
            if *shift > 0 {
                return None;
            }
            arguments.push(self.register(current, *register, 0));
            // One register or two, it does not say everywhere.
            if register.number.is_some_and(|number| number < 254) {
                arguments.push(self.register(current, *register, 1));
            }
        }
        arguments.push(Argument::Number(place.offset.wrapping_add(more) as u64));
        let name = self.name("address");
        Some(self.intermediate(current, Function::Pure(name), &arguments))
    }

    /// An address in shared memory.
    pub(super) fn shared(&mut self, current: &Current<'m>, text: &str) -> Option<Argument> {
        let place = place(text)?;
        let mut terms = vec![Argument::Number(place.offset as u64 & 0xffff_ffff)];
        for (register, shift, is_pair) in &place.terms {
            if *is_pair {
                return None;
            }
            let mut term = self.register(current, *register, 0);
            if *shift > 0 {
                term = self.word(current, Operation::ShiftLeft, &[term, Argument::Number(*shift)]);
            }
            terms.push(term);
        }
        let sum = self.sum(current, &terms);
        Some(self.intermediate(current, copy(WORD), &[sum]))
    }

    /// What an instruction writes into memory.
    pub(super) fn store(&mut self, current: &Current<'m>) {
        if self.stored_init(current).is_some() {
            return;
        }
        if current.root == "STL" {
            return self.spill(current);
        }
        let address = current.operands.iter().find_map(|operand| match operand.kind {
            Kind::Address(text) => Some(text),
            _ => None,
        });
        let memory = match current.root {
            "STS" | "ATOMS" | "STSM" | "LDGSTS" => Memory::Shared,
            "STG" | "REDG" | "ATOMG" => Memory::Global,
            // Memory of tensor cores, which is loaded by nothing that is followed.
            "STT" | "STTM" => return self.emit(current, Action::Nothing),
            // Which memory it is its address says alone.
            _ => return self.writes_anywhere(current),
        };
        let found = address.and_then(|text| match memory {
            Memory::Global => self.global_address(current, text, 0),
            _ => self.shared(current, text),
        });
        let written = self.stored(current);
        self.emit(current, Action::Store { address: found.map(|address| (address, 0)), memory, written });
    }

    /// What it writes.
    fn stored(&mut self, current: &Current<'m>) -> Written {
        match current.root {
            "ATOMS" | "ATOMG" | "REDG" => return Written::Exchange,
            "STS" => {}
            _ => return Written::Data,
        }
        let (words, bytes) = match () {
            () if current.has("U8") || current.has("S8") => (1, 1),
            () if current.has("U16") || current.has("S16") => (1, 2),
            () if current.has("64") => (2, 4),
            () if current.has("128") => (4, 4),
            () => (1, 4),
        };
        let Some(register) = current.operands.get(1).and_then(|value| value.plain()) else {
            return Written::Data;
        };
        Written::Values((0..words).map(|word| (self.register(current, register, word), bytes)).collect())
    }
}
