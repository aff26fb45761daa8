//! Special registers, and the exchange of values between lanes.

use crate::kernel::code::{Action, Argument, Function, Index};
use crate::sass::operand::{File, Kind, Register};
use crate::sass::special::{Special, special};

use super::arithmetic::copy;
use super::results::{Result, results};
use super::state::{BIT, Current, Lowerer, WORD};

impl<'m> Lowerer<'m> {
    /// `S2R R0, SR_TID.X`
    pub(super) fn special(&mut self, current: &Current<'m>) {
        let results = results(current);
        let name = current.operands.get(1).map(|operand| &operand.kind);
        let (Some(results), Some(Kind::Other(name))) = (results, name) else {
            return self.opaque(current, Function::Unknown);
        };
        let value = match special(name, self.launch.size, self.launch.cluster) {
            Special::Is(argument) => Some(argument),
            Special::Same(name) => Some(self.place_in_grid(&name)),
            Special::OfWarp => return self.write(current, &results.all, Function::OfWarp),
            Special::Unknown => None,
            Special::InCluster(direction) => Some(self.in_grid(current, direction)),
        };
        let is_rank = value == Some(Argument::Index(Index::Rank));
        if is_rank && self.tells_groups_apart(current) {
            self.is_about_clusters(current);
        }
        let of_lanes = !is_rank && matches!(value, Some(Argument::Index(_)));
        if of_lanes && matches!(results.all[0].register.file, File::Uniform) {
            return self.write(current, &results.all, Function::OfWarp);
        }
        // What two registers get together is followed only where it is nothing.
        let Some(value) = value.filter(|value| results.all[0].width == 1 || *value == Argument::Number(0))
        else {
            return self.write(current, &results.all, Function::Unknown);
        };
        self.give(current, results.all[0], value);
    }

    fn give(&mut self, current: &Current<'m>, result: Result, value: Argument) {
        let ty = if result.register.file.is_predicate() { BIT } else { WORD };
        for cell in self.cells(result) {
            self.compute(current, cell, copy(ty), &[value]);
        }
    }

    pub(super) fn lanes(&mut self, current: &Current<'m>) {
        let done = match current.root {
            "SHFL" => self.broadcast(current),
            "ELECT" => self.elect(current),
            "R2UR" => self.spread(current),
            "VOTE" | "VOTEU" => self.vote(current),
            _ => None,
        };
        if done.is_some() {
            return;
        }
        // Whatever may be written among the first operands.
        let first: Vec<Result> = current
            .operands
            .iter()
            .take(match current.root {
                "R2UR" if !current.operands.first().is_some_and(|first| first.is_plain_predicate()) => 1,
                "SHFL" | "ELECT" | "R2UR" => 2,
                _ => 3,
            })
            .map_while(|operand| operand.target())
            .map(|register| Result { register, width: 1, in_part: false, carries: false })
            .collect();
        if first.is_empty() {
            return self.beyond(current, &format!("what `{}` writes here", current.statement.opcode));
        }
        let function = if current.root == "VOTE" { Function::OfWarp } else { Function::Unknown };
        self.write(current, &first, function);
    }

    fn target(&self, current: &Current<'m>, at: usize) -> Option<Register> {
        current.operands.get(at)?.target()
    }

    /// `SHFL.IDX P0, R0, R1, R2, 0x1f`: every lane gets the value of one; P0 says whether there is one.
    fn broadcast(&mut self, current: &Current<'m>) -> Option<()> {
        let (found, to) = (self.target(current, 0)?, self.target(current, 1)?);
        if current.parts != ["IDX"] || !found.file.is_predicate() || current.operands.len() != 5 {
            return None;
        }
        let value = self.integer(current, &current.operands[2])?;
        let lane = self.integer(current, &current.operands[3])?;
        let clamp = self.integer(current, &current.operands[4])?;
        // Lanes that a guard leaves out give no value.
        if current.guard.is_some() {
            return None;
        }
        if let Some(number) = to.number {
            let to = self.cell(to.file, number);
            self.compute(current, to, Function::Broadcast, &[value, lane, clamp]);
        } else {
            self.emit(current, Action::Nothing);
        }
        if let Some(number) = found.number {
            let found = self.cell(found.file, number);
            self.compute(current, found, Function::Unknown, &[]);
        }
        Some(())
    }

    /// `ELECT P0, UR4, PT`: one of the lanes that are here, and its number.
    fn elect(&mut self, current: &Current<'m>) -> Option<()> {
        let (leader, lane) = (self.target(current, 0)?, self.target(current, 1)?);
        let among = self.predicate(current, current.operands.get(2)?)?;
        if !leader.file.is_predicate() || among != Argument::Number(1) || current.guard.is_some() {
            return None;
        }
        let lane = Result { register: lane, width: 1, in_part: false, carries: false };
        self.write(current, &[lane], Function::OfWarp);
        let leader = self.cell(leader.file, leader.number?);
        self.compute(current, leader, Function::Elect, &[Argument::Number(0xffff_ffff)]);
        Some(())
    }

    /// `R2UR UR4, R0`: what the lanes have, if all have the same.
    fn spread(&mut self, current: &Current<'m>) -> Option<()> {
        let to = self.target(current, 0)?;
        let [_, value] = current.operands.as_slice() else { return None };
        if current.guard.is_some() || to.file.is_predicate() {
            return None;
        }
        let value = self.integer(current, value)?;
        let cell = self.cell(to.file, to.number?);
        self.compute(current, cell, Function::Vote, &[value]);
        Some(())
    }

    /// `VOTE.ALL P0, P1`, `VOTE.ANY R0, P0, P1`, `VOTEU.ANY UP0, P1`: the mask, and whether all or any have
    /// it.
    fn vote(&mut self, current: &Current<'m>) -> Option<()> {
        let first = self.target(current, 0)?;
        let (mask, to, at) = match first.file.is_predicate() {
            true => (None, first, 1),
            false => (Some(first), self.target(current, 1)?, 2),
        };
        let [value] = current.operands.get(at..)? else { return None };
        let is_known = matches!(current.parts.as_slice(), ["ALL" | "ANY"]);
        if !is_known || !to.file.is_predicate() || current.guard.is_some() {
            return None;
        }
        let value = self.predicate(current, value)?;
        let function = if current.parts == ["ALL"] { Function::All } else { Function::Any };
        if let Some(mask) = mask {
            let mask = Result { register: mask, width: 1, in_part: false, carries: false };
            self.write(current, &[mask], Function::OfWarp);
        }
        match to.number {
            Some(number) => {
                let cell = self.cell(to.file, number);
                self.compute(current, cell, function, &[value]);
            }
            None => self.emit(current, Action::Nothing),
        }
        Some(())
    }
}
