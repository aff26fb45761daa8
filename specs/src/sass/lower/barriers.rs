//! `BAR`, `B2R`, `R2B`: the barriers of a CTA.
//!
//! Source: BCU instruction set, `BAR`, `BAR_RED`, `B2R`, `B2R_RESULT`, `R2B`.

use barcheck_model::program::Target;

use crate::kernel::code::{Action, Argument, Awaited, Function, Operation, Synchronisation};
use crate::sass::operand::{File, Kind, Operand};
use crate::sass::syntax;

use super::results::Result;
use super::state::{Current, Lowerer};

/// What is said about operands.
const NUMBER: &str = "number";
const COUNT: &str = "thread count";

/// Instructions before `R2B` that are looked at.
const NEAR: usize = 64;

/// The number and the count of a barrier.
struct Place {
    id: Argument,
    count: Option<Argument>,
}

/// Whether all reductions of a function are of all threads: their results are the same for all of them.
pub(super) fn reduces_all(function: &syntax::Function<'_>, threads: u32) -> bool {
    let mut reductions =
        function.statements.iter().filter(|statement| statement.opcode.starts_with("BAR.RED"));
    reductions.all(|statement| match statement.operands.as_slice() {
        [id, _] => matches!(Operand::of(id).kind, Kind::Number(_)),
        [_, count, _] => match Operand::of(count).kind {
            Kind::Number(count) => count == 0 || count >= u64::from(threads),
            _ => false,
        },
        _ => false,
    })
}

impl<'m> Lowerer<'m> {
    pub(super) fn barrier(&mut self, current: &Current<'m>) {
        // How a warp is treated that waits says nothing about who is waited for.
        let is_mode = |part: &&&str| **part != "DEFER_BLOCKING";
        let parts: Vec<&str> = current.parts.iter().filter(is_mode).copied().collect();
        let done = match (current.root, parts.as_slice()) {
            ("BAR", ["SYNC"]) => self.plain(current, "SYNC"),
            ("BAR", ["ARV"]) => self.plain(current, "ARV"),
            ("BAR", ["RED", op @ ("POPC" | "AND" | "OR")]) => self.reduction(current, op),
            ("B2R", ["RESULT"]) | ("BAR", ["RESULT"]) => self.result(current),
            ("B2R" | "R2B", _) if self.target != Target::Bcu => None,
            ("B2R", [] | ["BAR"]) => self.state(current, "B2R.BAR"),
            ("B2R", ["WARP"]) => self.state(current, "B2R.WARP"),
            ("R2B", [] | ["BAR"]) => self.restored(current, "R2B.BAR"),
            ("R2B", ["WARP"]) => self.restored(current, "R2B.WARP"),
            _ => None,
        };
        if done.is_none() {
            self.beyond(current, &format!("`{}`, as it is written here", current.statement.opcode));
        }
    }

    fn synchronise(&mut self, current: &Current<'m>, statement: String, place: &Place, awaited: Awaited) {
        let count = place.count.map(|count| (count, COUNT));
        let operands = std::iter::once((place.id, NUMBER)).chain(count).collect();
        self.emit(current, Action::Synchronise(Synchronisation { statement, operands, awaited }));
    }

    fn plain(&mut self, current: &Current<'m>, mode: &str) -> Option<()> {
        let place = match current.operands.as_slice() {
            [id] if mode == "SYNC" => Place { id: self.id(current, id)?, count: None },
            [id, count] => self.both(current, id, count)?,
            _ => return None,
        };
        let awaited = match (mode, place.count) {
            ("ARV", _) => Awaited::Nobody,
            (_, None | Some(Argument::Number(0))) => Awaited::Group,
            (_, Some(count)) => Awaited::Threads(count),
        };
        let places = if place.count.is_some() { "{}, {}" } else { "{}" };
        let word = match (self.target, mode) {
            (Target::Ptx, "SYNC") => "bar.sync",
            (Target::Ptx, _) => "bar.arrive",
            (_, "SYNC") => "BAR.SYNC",
            _ => "BAR.ARV",
        };
        self.synchronise(current, format!("{word} {places}"), &place, awaited);
        Some(())
    }

    /// Of a register the lowest 4 bits count.
    // clause: bcu.operand-low-bits
    fn id(&mut self, current: &Current<'m>, operand: &Operand<'m>) -> Option<Argument> {
        match operand.kind {
            Kind::Number(number) => Some(Argument::Number(number)),
            _ => self.low_bits(current, operand, 0, 4),
        }
    }

    /// Of a register the lowest 12 bits count.
    fn count(&mut self, current: &Current<'m>, operand: &Operand<'m>) -> Option<Argument> {
        match operand.kind {
            Kind::Number(number) => Some(Argument::Number(number)),
            _ => self.low_bits(current, operand, 0, 12),
        }
    }

    fn low_bits(
        &mut self,
        current: &Current<'m>,
        operand: &Operand<'m>,
        from: u64,
        bits: u64,
    ) -> Option<Argument> {
        let is_register =
            matches!(operand.kind, Kind::Register(register, _) if !register.file.is_predicate());
        let value = self.integer(current, operand).filter(|_| is_register)?;
        if let Argument::Number(number) = value {
            return Some(Argument::Number(number >> from & ((1 << bits) - 1)));
        }
        let shifted = match from {
            0 => value,
            from => self.word(current, Operation::ShiftRight, &[value, Argument::Number(from)]),
        };
        Some(self.word(current, Operation::And, &[shifted, Argument::Number((1 << bits) - 1)]))
    }

    /// One register for both holds the count above 16 bits, as chips since sm_70 have it: the number below.
    /// Where nothing stands up there, both are the lowest bits.
    fn both(&mut self, current: &Current<'m>, id: &Operand<'m>, count: &Operand<'m>) -> Option<Place> {
        let number = self.id(current, id)?;
        let low = self.count(current, count)?;
        if id != count || !matches!(id.kind, Kind::Register(..)) {
            return Some(Place { id: number, count: Some(low) });
        }
        let high = self.low_bits(current, count, 16, 12)?;
        if self.function().chip.is_some_and(|chip| chip >= 70) {
            return Some(Place { id: number, count: Some(high) });
        }
        let is_high = self.truth(current, high);
        let count = self.word(current, Operation::Select, &[high, low, is_high]);
        Some(Place { id: number, count: Some(count) })
    }

    /// `BAR.RED.OR 0x1, 0x40, P0`. What each thread brings is not followed, nor what comes of it.
    fn reduction(&mut self, current: &Current<'m>, op: &str) -> Option<()> {
        let (place, brought) = match current.operands.as_slice() {
            [id, brought] if matches!(id.kind, Kind::Number(_)) => {
                (Place { id: self.id(current, id)?, count: None }, brought)
            }
            // clause: bcu.red-packed
            [both, brought] => {
                let (id, count) = (self.id(current, both)?, self.low_bits(current, both, 4, 12)?);
                (Place { id, count: Some(count) }, brought)
            }
            [id, count, brought] => (self.both(current, id, count)?, brought),
            _ => return None,
        };
        self.predicate(current, brought)?;
        let awaited = match place.count {
            None | Some(Argument::Number(0)) => Awaited::Group,
            Some(count) => Awaited::Threads(count),
        };
        let places = if place.count.is_some() { "{}, {}" } else { "{}" };
        let statement = match (self.target, op) {
            (Target::Ptx, "POPC") => format!("bar.red.popc.u32 _, {places}, ?"),
            (Target::Ptx, op) => format!("bar.red.{}.pred _, {places}, ?", op.to_ascii_lowercase()),
            _ => format!("BAR.RED.{op} {places}, PT"),
        };
        self.synchronise(current, statement, &place, awaited);
        Some(())
    }

    /// What protocols write for a barrier that takes no number from registers.
    fn verbatim(&mut self, current: &Current<'m>, statement: String) {
        let operands = Vec::new();
        let awaited = Awaited::Nobody;
        self.emit(current, Action::Synchronise(Synchronisation { statement, operands, awaited }));
    }

    fn general(operand: &Operand<'m>) -> Option<String> {
        let register = operand.plain().filter(|register| register.file == File::General)?;
        Some(register.number.map_or("RZ".to_owned(), |number| format!("R{number}")))
    }

    /// `B2R.RESULT R0, P0`: the same for all who took part.
    fn result(&mut self, current: &Current<'m>) -> Option<()> {
        let function = if self.reduces_all { Function::Shared } else { Function::OfWarp };
        let (first, second) = match current.operands.as_slice() {
            [register] => (register, None),
            [register, predicate] => (register, Some(predicate)),
            _ => return None,
        };
        let register = Self::general(first)?;
        let predicate = match second {
            None => String::new(),
            Some(predicate) => {
                let predicate = predicate.plain().filter(|register| register.file == File::Predicate)?;
                format!(", {}", predicate.number.map_or("PT".to_owned(), |number| format!("P{number}")))
            }
        };
        if self.target == Target::Bcu {
            self.verbatim(current, format!("B2R.RESULT {register}{predicate}"));
        }
        for operand in [Some(first), second].into_iter().flatten() {
            let register = operand.plain()?;
            let result = Result { register, width: 1, in_part: false, carries: false };
            for cell in self.cells(result) {
                self.compute(current, cell, function, &[]);
            }
        }
        Some(())
    }

    /// `B2R.BAR R0, 0x1`: the state of a barrier, to be put back by `R2B`.
    fn state(&mut self, current: &Current<'m>, word: &str) -> Option<()> {
        let (to, id) = match current.operands.as_slice() {
            [to] if word == "B2R.WARP" => (to, String::new()),
            [to, Operand { kind: Kind::Number(id), .. }] => (to, format!(", {id}")),
            _ => return None,
        };
        let name = Self::general(to)?;
        self.verbatim(current, format!("{word} {name}{id}"));
        let result = Result { register: to.plain()?, width: 1, in_part: false, carries: false };
        self.write(current, &[result], Function::OfWarp);
        Some(())
    }

    /// `R2B.BAR 0x1, R0`: followed only if R0 certainly holds what a `B2R` before has put there.
    fn restored(&mut self, current: &Current<'m>, word: &str) -> Option<()> {
        let (id, from) = match current.operands.as_slice() {
            [from] if word == "R2B.WARP" => (String::new(), from),
            [Operand { kind: Kind::Number(id), .. }, from] => (format!("{id}, "), from),
            _ => return None,
        };
        let name = Self::general(from)?;
        if name != "RZ" && !self.holds_a_state(current, &name) {
            return None;
        }
        self.verbatim(current, format!("{word} {id}{name}"));
        Some(())
    }

    /// Whether the last instruction that may write a register, with no way into between, is a `B2R`.
    fn holds_a_state(&self, current: &Current<'m>, name: &str) -> bool {
        let function = self.function();
        for at in (0..current.at).rev().take(NEAR) {
            if function.named.contains_key(&(at + 1)) || function.entered.contains(&(at + 1)) {
                return false;
            }
            let before = &function.statements[at];
            if before.opcode.starts_with("B2R") && before.operands.first() == Some(&name) {
                return before.guard.is_none();
            }
            let harmless = ["BAR.", "NOP", "B2R", "R2B", "MEMBAR", "EXIT"];
            if !harmless.iter().any(|start| before.opcode.starts_with(start)) {
                return false;
            }
        }
        false
    }
}
