//! Loops in which a warp does what it can only do once, for each of its lanes in turn.
//!
//! `L: @P0 ELECT P1, URZ, PT; UBLKCP …; @P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0;
//! PLOP3.LUT P1, PT, PT, PT, PT, 0x8, 0x0; @P0 BRA.U.ANY L`: in each round one of the lanes with P0 gives it
//! up. What stands inside is done by each lane that had it.

use crate::kernel::code::{Action, Argument, Function, Guard, Operation};
use crate::sass::opcodes::{self, Effect};
use crate::sass::operand::{self, File, Operand, Register};
use crate::sass::syntax::{Function as Listed, Statement};

use super::arithmetic::copy;
use super::state::{BIT, Current, Lowerer, OfLanes};

/// Instructions in such a loop.
const LONG: usize = 64;

impl<'m> Lowerer<'m> {
    /// Lays out an instruction that belongs to such a loop; whether it was one.
    pub(super) fn of_lanes(&mut self, current: &mut Current<'m>) -> bool {
        let Some(round) = self.of_lanes else { return self.begins(current) };
        if current.at == round.end {
            self.of_lanes = None;
            let none = self.code.register("");
            let no = Action::Compute { to: none, function: copy(BIT), arguments: vec![Argument::Number(0)] };
            current.guard = None;
            self.emit(current, no);
            for predicate in round.predicates {
                let Some(number) = predicate.number else { continue };
                let cell = self.cell(predicate.file, number);
                self.compute(current, cell, copy(BIT), &[Argument::Number(0)]);
            }
            return true;
        }
        if round.ends.contains(&current.at) {
            self.emit(current, Action::Nothing);
            return true;
        }
        if opcodes::effect(current.statement.opcode) == Some(Effect::Synchronises) {
            current.guard = Some(self.guarded_by(current, round.lanes));
        }
        false
    }

    /// The guard of an instruction, and another.
    fn guarded_by(&mut self, current: &Current<'m>, lanes: Guard) -> Guard {
        let Some(guard) = current.guard else { return lanes };
        let mut held = Argument::Register(guard.register);
        if guard.negated {
            held = self.intermediate(current, Function::Integer(Operation::LogicalNot, BIT), &[held]);
        }
        let both = [Argument::Register(lanes.register), held];
        match self.intermediate(current, Function::Integer(Operation::And, BIT), &both) {
            Argument::Register(register) => Guard { register, negated: false },
            _ => lanes,
        }
    }

    fn begins(&mut self, current: &Current<'m>) -> bool {
        let Some((end, ends, predicates)) = found(self.function(), current.at) else { return false };
        let Some(number) = predicates[0].number else { return false };
        let held = Argument::Register(self.cell(predicates[0].file, number));
        let Argument::Register(register) = self.intermediate(current, copy(BIT), &[held]) else {
            return false;
        };
        self.of_lanes = Some(OfLanes { end, ends, lanes: Guard { register, negated: false }, predicates });
        true
    }
}

/// The end of such a loop that begins at a statement, what gives it up, and its predicates.
fn found(function: &Listed<'_>, at: usize) -> Option<(usize, [usize; 2], [Register; 2])> {
    let statements = function.statements.get(at..)?;
    let first = statements.first()?;
    let plain =
        |text: &str| Operand::of(text).plain().filter(|r| r.file == File::Predicate && r.number.is_some());
    let (left, [turn, "URZ", "PT"]) = (first.guard?, first.operands.as_slice()) else { return None };
    let predicates = [plain(left)?, plain(turn)?];
    if first.opcode != "ELECT" {
        return None;
    }
    let length = statements.iter().take(LONG).position(|s| s.opcode == "BRA.U.ANY")?;
    let [body @ .., back] = statements.get(1..=length)? else { return None };
    let is = |statement: &Statement<'_>, guard: Option<&str>, operands: [&str; 6]| {
        statement.opcode == "PLOP3.LUT"
            && statement.guard == guard
            && statement.operands.len() == 7
            && statement.operands[..6] == operands
    };
    let gives_up = body.iter().position(|s| is(s, Some(turn), [left, "PT", turn, "PT", "PT", "0x8"]))?;
    let over = body.iter().position(|s| is(s, None, [turn, "PT", "PT", "PT", "PT", "0x8"]))?;
    let written = |text: &&str| Operand::of(text).plain();
    let copies = |statement: &Statement<'_>| {
        let to = statement.operands.first().and_then(written);
        let reads = |other: &Statement<'_>| other.operands.get(1).and_then(written) == to;
        statement.opcode == "UMOV" && statement.guard.is_none() && !body.iter().any(reads)
    };
    // What each lane has of its own is where a tensor is read, and not which object is meant.
    let broadcasts = |at: usize, statement: &Statement<'_>| {
        let to = statement.operands.first().and_then(written);
        statement.opcode == "R2UR.BROADCAST"
            && statement.guard == Some(turn)
            && at < over
            && !body.iter().any(|step| steps(step) && addresses(step, to))
    };
    let is_entered = |at: &usize| function.entered.contains(at);
    let holds = back.guard == Some(left)
        && function.target(back.operands.first()?) == Some(at)
        && gives_up < over
        && body.iter().enumerate().all(|(at, statement)| {
            let is_end = at == gives_up || at == over;
            let is_known = is_end || copies(statement) || steps(statement) || broadcasts(at, statement);
            statement.trouble.is_none() && is_known
        })
        && !(at + 1..=at + length).any(|at| is_entered(&at));
    holds.then_some((at + length, [at + 1 + gives_up, at + 1 + over], predicates))
}

fn steps(statement: &Statement<'_>) -> bool {
    ["UBLKCP", "UTMALDG", "UTCBAR"].contains(&statement.opcode.split('.').next().unwrap_or_default())
        && statement.guard.is_none_or(|guard| guard.trim_start_matches('!').starts_with("UP"))
}

/// Whether a step means its object, its mask or how much it copies by a register.
fn addresses(step: &Statement<'_>, register: Option<Register>) -> bool {
    let Some(register) = register else { return true };
    let is_copy = !step.opcode.starts_with("UTCBAR");
    step.operands.iter().enumerate().any(|(at, text)| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(operand::register);
        words.into_iter().any(|word| {
            let behind = word.number.map(|number| number + 1).filter(|_| at == 0 && is_copy);
            word == register || word.file == register.file && behind.is_some() && behind == register.number
        })
    })
}
