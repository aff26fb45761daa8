//! Instructions whose results follow from their operands alone.

use crate::kernel::code::{Action, Argument, Comparison, Function, Operation, Type};
use crate::sass::chips::{ELSEWHERE, WINDOW};
use crate::sass::opcodes;
use crate::sass::operand::{Kind, Operand};

use super::half;
use super::results::{Results, results};
use super::state::{BIT, Current, Lowerer, WORD};

/// A signed register.
const SIGNED: Type = Type { bits: 32, signed: true };

impl<'m> Lowerer<'m> {
    pub(super) fn arithmetic(&mut self, current: &Current<'m>) {
        let Some(results) = results(current) else {
            return self.beyond(current, &format!("what `{}` writes here", current.statement.opcode));
        };
        let merges = current.parts.iter().any(|part| part.starts_with("MRG_"));
        if merges || results.all.iter().any(|result| result.in_part) {
            return self.write(current, &results.all, Function::Unknown);
        }
        if self.followed(current, &results).is_none() {
            self.pure(current, &results);
        }
    }

    /// An instruction on integers that is followed; `None` for others. What it carries is not, and follows
    /// from its sources.
    fn followed(&mut self, current: &Current<'m>, results: &Results) -> Option<()> {
        let sources = &current.operands[results.behind..];
        let (first, carried) = results.all.split_first()?;
        if first.register.file.is_predicate() {
            return self.tests_bits(current, results);
        }
        if first.carries || current.has("X") || current.has("64") {
            return None;
        }
        let is_wide = current.root.ends_with("IMAD") && current.has("WIDE");
        let values = match (is_wide, first.width) {
            (true, _) => self.wide(current, sources)?,
            (false, 1) => vec![self.value(current, sources)?],
            _ => return None,
        };
        let mut carries = Vec::new();
        for (number, result) in (2..).zip(carried) {
            let value = self.pure_value(current, sources, number)?;
            carries.push((*result, self.truth(current, value)));
        }
        if first.register.number.is_none() {
            self.emit(current, Action::Nothing);
        }
        for (cell, value) in self.cells(*first).into_iter().zip(values) {
            self.compute(current, cell, copy(WORD), &[value]);
        }
        for (result, value) in carries {
            for cell in self.cells(result) {
                self.compute(current, cell, copy(BIT), &[value]);
            }
        }
        Some(())
    }

    fn value(&mut self, current: &Current<'m>, sources: &[Operand<'m>]) -> Option<Argument> {
        let root = current.root;
        let uniform = ["UMOV", "UIADD3", "UIMAD", "ULEA", "USHF", "ULOP3", "USEL", "UIMNMX", "UVIADD"];
        let uniform =
            uniform.contains(&root) || ["UVIMNMX", "UPOPC", "USGXT", "UPRMT", "UIABS"].contains(&root);
        let root = if uniform { &root[1..] } else { root };
        match root {
            "MOV" | "MOV32I" => self.integer(current, sources.first()?),
            "IMAD" | "IMAD32I" if !current.has("HI") => {
                let product = self.product(current, sources.get(..2)?)?;
                let addend = self.integer(current, sources.get(2)?)?;
                Some(self.sum(current, &[product, addend]))
            }
            "IMUL" | "IMUL32I" if !current.has("HI") && !current.has("WIDE") => {
                self.product(current, sources.get(..2)?)
            }
            "IMAD" if self.integer(current, sources.get(2)?)? == Argument::Number(0) => {
                self.high_product(current, sources.get(..2)?)
            }
            "IADD" | "IADD32I" | "VIADD" | "IADD3" | "IADD2" if !current.has("SAT") && !current.has("PO") => {
                let mut terms = Vec::new();
                for source in sources {
                    terms.push(self.integer(current, source)?);
                }
                Some(self.sum(current, &terms))
            }
            "ISCADD" | "ISCADD32I" | "LEA" if !current.has("HI") => self.scaled(current, sources),
            "LEA" => self.high_of_shifted(current, sources),
            "SHL" | "SHR" | "SHF" => self.shift(current, root, sources),
            "LOP3" | "LOP" | "LOP32I" => self.logic(current, sources),
            "SEL" | "FSEL" => {
                let (a, b) = (sources.first()?, sources.get(1)?);
                let (a, b) = match root {
                    "SEL" => (self.integer(current, a)?, self.integer(current, b)?),
                    _ => (self.unsigned(current, a)?, self.unsigned(current, b)?),
                };
                let condition = self.predicate(current, sources.get(2)?)?;
                Some(self.word(current, Operation::Select, &[a, b, condition]))
            }
            "IMNMX" | "VIMNMX" if sources.len() == 3 => self.extreme(current, sources),
            "IABS" => {
                let value = self.integer(current, sources.first()?)?;
                Some(self.intermediate(current, Function::Integer(Operation::Absolute, SIGNED), &[value]))
            }
            "POPC" if sources.len() == 1 => {
                let value = self.integer(current, &sources[0])?;
                Some(self.word(current, Operation::CountOnes, &[value]))
            }
            "SGXT" | "BFE" => self.extracted(current, root, sources),
            "PRMT" => self.permuted(current, sources),
            "HFMA2" => half::constant(current, sources).map(Argument::Number),
            "F2I" if current.parts == ["U32", "TRUNC", "NTZ"] => self.cluster_in_grid(current),
            _ => None,
        }
    }

    /// A value that is moved as it is: of a floating-point instruction, without its sign.
    fn unsigned(&mut self, current: &Current<'m>, operand: &Operand<'m>) -> Option<Argument> {
        let plain = operand.sign == crate::sass::operand::Sign::default();
        if !plain || current.has("FTZ") {
            return None;
        }
        self.integer(current, operand)
    }

    pub(super) fn sum(&mut self, current: &Current<'m>, terms: &[Argument]) -> Argument {
        let mut sum = Argument::Number(0);
        for term in terms {
            sum = match (sum, *term) {
                (Argument::Number(0), term) => term,
                (sum, Argument::Number(0)) => sum,
                (sum, term) => self.word(current, Operation::Add, &[sum, term]),
            };
        }
        sum
    }

    fn product(&mut self, current: &Current<'m>, factors: &[Operand<'m>]) -> Option<Argument> {
        let a = self.integer(current, factors.first()?)?;
        let b = self.integer(current, factors.get(1)?)?;
        Some(match (a, b) {
            (Argument::Number(0), _) | (_, Argument::Number(0)) => Argument::Number(0),
            (Argument::Number(1), other) | (other, Argument::Number(1)) => other,
            _ => self.word(current, Operation::Multiply, &[a, b]),
        })
    }

    /// `LEA R0, R1, R2, 0x3`: the first shifted left, and the second.
    fn scaled(&mut self, current: &Current<'m>, sources: &[Operand<'m>]) -> Option<Argument> {
        let [a, b, by] = sources else { return None };
        if by.kind == Kind::Number(WINDOW) && self.may_hold_rank(a) {
            return self.in_window(current, a, b);
        }
        let (a, b) = (self.integer(current, a)?, self.integer(current, b)?);
        let by = self.integer(current, by)?;
        let shifted = self.word(current, Operation::ShiftLeft, &[a, by]);
        Some(self.sum(current, &[shifted, b]))
    }

    /// `LEA.HI R0, R1, R2, R3, 0x5`: the high half of R3 and R1 shifted left, and R2.
    fn high_of_shifted(&mut self, current: &Current<'m>, sources: &[Operand<'m>]) -> Option<Argument> {
        let [low, addend, high, Operand { kind: Kind::Number(by @ 1..32), .. }] = sources else {
            return None;
        };
        if current.parts != ["HI"] {
            return None;
        }
        let (low, high) = (self.integer(current, low)?, self.integer(current, high)?);
        let addend = self.integer(current, addend)?;
        let mut value = self.word(current, Operation::ShiftRight, &[low, Argument::Number(32 - by)]);
        if high != Argument::Number(0) {
            let high = self.word(current, Operation::ShiftLeft, &[high, Argument::Number(*by)]);
            value = self.word(current, Operation::Or, &[value, high]);
        }
        Some(self.sum(current, &[value, addend]))
    }

    fn shift(&mut self, current: &Current<'m>, root: &str, sources: &[Operand<'m>]) -> Option<Argument> {
        let by = sources.get(1)?;
        // A shift that wraps around is that of the low five bits.
        if current.has("W") && !matches!(by.kind, Kind::Number(0..32)) {
            return None;
        }
        let amount = self.integer(current, by)?;
        if root != "SHF" {
            let value = self.integer(current, sources.first()?)?;
            let signed = root == "SHR" && !current.has("U32");
            let operation = if root == "SHL" { Operation::ShiftLeft } else { Operation::ShiftRight };
            let ty = Type { bits: 32, signed };
            return Some(self.intermediate(current, Function::Integer(operation, ty), &[value, amount]));
        }
        let [low, _, high] = sources else { return None };
        let is_none = |operand: &Operand<'m>| match operand.kind {
            Kind::Register(register, _) => register.number.is_none(),
            Kind::Number(number) => number == 0,
            _ => false,
        };
        let (is_left, is_high) = (current.has("L"), current.has("HI"));
        let is_signed = current.has("S32") || current.has("S64");
        let is_narrow = current.has("U32") || current.has("S32");
        match (is_left, is_high) {
            (true, false) => {
                let value = self.integer(current, low)?;
                Some(self.word(current, Operation::ShiftLeft, &[value, amount]))
            }
            (false, true) if is_none(low) && is_narrow => {
                let value = self.integer(current, high)?;
                let function = Function::Integer(Operation::ShiftRight, Type { bits: 32, signed: is_signed });
                Some(self.intermediate(current, function, &[value, amount]))
            }
            (false, false) if is_none(high) && current.has("R") && is_narrow && !is_signed => {
                let value = self.integer(current, low)?;
                Some(self.word(current, Operation::ShiftRight, &[value, amount]))
            }
            _ => None,
        }
    }

    /// The less of two where the predicate behind them holds, else the more.
    fn extreme(&mut self, current: &Current<'m>, sources: &[Operand<'m>]) -> Option<Argument> {
        let ty = Type { bits: 32, signed: !current.has("U32") };
        if !current.parts.iter().all(|part| matches!(*part, "U32" | "S32")) {
            return None;
        }
        let (a, b) = (self.integer(current, &sources[0])?, self.integer(current, &sources[1])?);
        let operation = match self.predicate(current, &sources[2])? {
            Argument::Number(1) => Operation::Minimum,
            Argument::Number(0) => Operation::Maximum,
            _ => return None,
        };
        Some(self.intermediate(current, Function::Integer(operation, ty), &[a, b]))
    }

    /// `SGXT.U32 R0, R1, 0x5`: the lowest bits; `BFE.U32 R0, R1, 0x501`: so many from one on.
    fn extracted(&mut self, current: &Current<'m>, root: &str, sources: &[Operand<'m>]) -> Option<Argument> {
        let [value, Operand { kind: Kind::Number(number), .. }] = sources else { return None };
        if !current.parts.iter().all(|part| matches!(*part, "U32" | "S32")) {
            return None;
        }
        let ty = Type { bits: 32, signed: !current.has("U32") };
        let (from, count) = if root == "BFE" { (number & 0xff, number >> 8 & 0xff) } else { (0, *number) };
        if count == 0 || from + count > 32 {
            return None;
        }
        let value = self.integer(current, value)?;
        let function = Function::Integer(Operation::ExtractBits, ty);
        Some(self.intermediate(current, function, &[value, Argument::Number(from), Argument::Number(count)]))
    }

    /// `PRMT R0, R1, 0x5410, R2`: each byte one of the eight of both.
    fn permuted(&mut self, current: &Current<'m>, sources: &[Operand<'m>]) -> Option<Argument> {
        let [low, Operand { kind: Kind::Number(selector), .. }, high] = sources else { return None };
        if *selector == ELSEWHERE && self.has_clusters() {
            return self.elsewhere(current, low, high);
        }
        let signs = (0..4).any(|byte| selector >> (4 * byte) & 8 != 0);
        if !current.parts.is_empty() || *selector > 0xffff || signs {
            return None;
        }
        let sources = [self.integer(current, low)?, self.integer(current, high)?];
        let mut whole = Argument::Number(0);
        for byte in 0..4 {
            let from = selector >> (4 * byte) & 7;
            let source = sources[(from / 4) as usize];
            let place = Argument::Number(from % 4 * 8);
            let part = self.word(current, Operation::ExtractBits, &[source, place, Argument::Number(8)]);
            let part = self.word(current, Operation::ShiftLeft, &[part, Argument::Number(8 * byte)]);
            whole = self.word(current, Operation::Or, &[whole, part]);
        }
        Some(whole)
    }

    /// `IMAD.WIDE R2, R4, R5, R6`: 64 bits in two registers, of which the low ones are followed.
    fn wide(&mut self, current: &Current<'m>, sources: &[Operand<'m>]) -> Option<Vec<Argument>> {
        let [a, b, c] = sources else { return None };
        let low = self.product(current, &[a.clone(), b.clone()])?;
        let addend = self.integer(current, c)?;
        let low = self.sum(current, &[low, addend]);
        let high = match addend {
            Argument::Number(0) => self.high_product(current, &[a.clone(), b.clone()])?,
            _ => self.pure_value(current, sources, 1)?,
        };
        Some(vec![low, high])
    }

    /// The upper half of a product, without a sign if the opcode says so.
    fn high_product(&mut self, current: &Current<'m>, factors: &[Operand<'m>]) -> Option<Argument> {
        let [a, b] = factors else { return None };
        let cut = |argument| match argument {
            Argument::Number(number) => Argument::Number(number & u64::from(u32::MAX)),
            register => register,
        };
        let (a, b) = (cut(self.integer(current, a)?), cut(self.integer(current, b)?));
        let ty = if current.has("U32") { WORD } else { SIGNED };
        Some(self.intermediate(current, Function::Integer(Operation::MultiplyHigh, ty), &[a, b]))
    }

    /// An instruction that is not followed, but has equal results for equal operands.
    pub(super) fn pure(&mut self, current: &Current<'m>, results: &Results) {
        let sources = &current.operands[results.behind..];
        let mut values = Vec::new();
        let mut number = 0;
        for result in &results.all {
            for (behind, cell) in self.cells(*result).into_iter().enumerate() {
                if behind > 0 && !result.carries && !opcodes::is_pair_for_certain(current.statement.opcode) {
                    values.push((cell, self.intermediate(current, Function::Unknown, &[]), false));
                    continue;
                }
                let Some(value) = self.pure_value(current, sources, number) else {
                    return self.write(current, &results.all, Function::Unknown);
                };
                let value =
                    if result.register.file.is_predicate() { self.truth(current, value) } else { value };
                values.push((cell, value, result.register.file.is_predicate()));
                number += 1;
            }
        }
        for (cell, value, is_predicate) in values {
            self.compute(current, cell, copy(if is_predicate { BIT } else { WORD }), &[value]);
        }
    }

    /// One of the results of an instruction as a function of its sources; `None` if some source is not known.
    pub(super) fn pure_value(
        &mut self,
        current: &Current<'m>,
        sources: &[Operand<'m>],
        number: u32,
    ) -> Option<Argument> {
        let is_double = current.root.starts_with('D') || current.root.ends_with("ADD2");
        let is_pair = is_double
            || current.has("64")
            || ["FFMA2", "FMUL2"].contains(&current.root)
            || current.parts.iter().any(|part| part.ends_with("64"));
        let mut shapes = Vec::new();
        let mut arguments = Vec::new();
        for (at, source) in sources.iter().enumerate() {
            // Of a wide product only what is added is wide.
            let is_pair = is_pair || current.has("WIDE") && at == 2;
            let mut name = String::new();
            for (is, sign) in
                [(source.sign.negated, "-"), (source.sign.inverted, "~"), (source.sign.absolute, "|")]
            {
                name.push_str(if is { sign } else { "" });
            }
            match source.kind {
                Kind::Register(register, suffix) => {
                    name.push_str(suffix);
                    arguments.push(self.register(current, register, 0));
                    let is_last = register.number.is_none_or(|number| number >= 254);
                    if is_pair && !is_last && !register.file.is_predicate() {
                        arguments.push(self.register(current, register, 1));
                    }
                }
                Kind::Address(_) => return None,
                Kind::Number(number) => arguments.push(Argument::Number(number)),
                Kind::Constant(..) => {
                    arguments.push(self.raw(current, source, 0)?);
                    if is_pair {
                        arguments.push(self.raw(current, source, 1)?);
                    }
                }
                Kind::Label(text) | Kind::Other(text) => {
                    // A name that stands for a register nobody has told about.
                    if text.starts_with(|c: char| c.is_ascii_lowercase()) {
                        return None;
                    }
                    name.push_str(text);
                }
            }
            shapes.push(name);
        }
        let mut name = current.statement.opcode.to_owned();
        if shapes.iter().any(|shape| !shape.is_empty()) {
            name = format!("{name}<{}>", shapes.join(","));
        }
        if number > 0 {
            name = format!("{name}#{number}");
        }
        let is_predicate = |operand: &Operand<'_>| operand.plain().is_some_and(|r| r.file.is_predicate());
        // Chips before sm_70 have a flag for what is carried, and do not name it.
        let is_flag = match self.function().chip {
            Some(chip) => chip < 70,
            None => current.root == "ISETP" || !sources.iter().any(is_predicate),
        };
        if current.has("X") && is_flag {
            arguments.push(Argument::Register(self.carry()));
        }
        let name = self.name(&name);
        Some(self.intermediate(current, Function::Pure(name), &arguments))
    }
}

/// The same bits, cut to the width of a type.
pub(super) fn copy(ty: Type) -> Function {
    Function::Integer(Operation::Convert(ty), ty)
}

pub(super) fn compares(comparison: Comparison, ty: Type) -> Function {
    Function::Integer(Operation::Compare(comparison), ty)
}
