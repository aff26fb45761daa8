//! mbarrier objects: `SYNCS`, and the copies and commits that arrive at them.
//!
//! No specification says what these instructions do. What is followed is what compilers make of one PTX
//! instruction each: of a kernel that has nothing but this instruction, for sm_90a and sm_100a. Everything
//! else is named, and not followed.

use crate::kernel::code::{
    Action, Argument, Comparison, Function, Guard, Instruction, ObjectKind, ObjectStep, Operation,
};
use crate::sass::opcodes::{self, Effect};
use crate::sass::operand::{self, File, Kind, Operand, Register};
use crate::sass::syntax::Statement;

use super::answers;
use super::arithmetic::{compares, copy};
use super::results::{Result, results};
use super::state::{BIT, Current, Lowerer, WORD};

/// What `SYNCS.EXCH` puts into an object that expects as many arrivals: this, less their number, from bit 1
/// and from bit 43 on.
const ARRIVALS: u64 = 0x10_0000;
/// Instructions between a question and the branch on its answer.
const NEAR: usize = 256;

/// Whether a statement asks whether a phase is complete.
pub(super) fn asks(statement: &Statement<'_>) -> bool {
    statement.opcode.starts_with("SYNCS.PHASECHK")
}

impl<'m> Lowerer<'m> {
    pub(super) fn object(&mut self, current: &Current<'m>) {
        if self.object_step(current).is_none() {
            self.beyond(current, &format!("`{}`, as it is written here", current.statement.opcode));
        }
    }

    fn object_step(&mut self, current: &Current<'m>) -> Option<()> {
        let operands = current.operands.as_slice();
        match (current.root, current.parts.as_slice()) {
            ("SYNCS", ["EXCH", "64"]) => self.init(current),
            ("SYNCS", ["CCTL", "IVALL"]) => self.stored_before(current.at).then(|| {
                self.emit(current, Action::Nothing);
            }),
            ("SYNCS", ["CCTL", "IV"]) => self.step(current, ObjectKind::Inval, operands.first()?, None),
            ("SYNCS", ["ARRIVE", "TRANS64", rest @ ..]) => self.arrive(current, rest),
            ("SYNCS", ["PHASECHK", "TRANS64"] | ["PHASECHK", "TRANS64", "TRYWAIT"]) => self.question(current),
            // A byte is announced by the `SYNCS.ARRIVE.TRANS64.RED.A0T1` before it.
            ("ARRIVES", ["LDGSTSBAR", "64", "TRANSCNT"]) => {
                self.step(current, ObjectKind::Copy, operands.first()?, Some(Argument::Number(1)))
            }
            ("ARRIVES", ["LDGSTSBAR", "64", "ARVCNT"]) => {
                self.step(current, ObjectKind::CopiesArrive, operands.first()?, None)
            }
            ("UTMALDG" | "UBLKCP" | "UTCBAR" | "STAS" | "REDAS", _) => self.copy_or_commit(current),
            ("UCGABAR_ARV" | "UCGABAR_WAIT", []) => self.cluster_barrier(current),
            _ => None,
        }
    }

    /// `SYNCS.EXCH.64 URZ, [UR6], UR4`: two words that hold twice how many arrivals are awaited.
    fn init(&mut self, current: &Current<'m>) -> Option<()> {
        let [was, object, state] = current.operands.as_slice() else { return None };
        was.plain().filter(|register| *register == Register { file: File::Uniform, number: None })?;
        let state = state.plain().filter(|register| register.file == File::Uniform)?;
        let object = self.object_address(current, object)?;
        let count = self.arrivals(current, state);
        self.at_once(current, ObjectKind::Init, object, Some(count), None)
    }

    /// `STS.64 [R5], R2; FENCE.VIEW.ASYNC.S; SYNCS.CCTL.IVALL`: the same by each lane. Whether it was that.
    pub(super) fn stored_init(&mut self, current: &Current<'m>) -> Option<()> {
        let [object, state] = current.operands.as_slice() else { return None };
        let is_one = current.root == "STS" && current.parts == ["64"] && self.is_behind(current.at);
        let state = state.plain().filter(|register| is_one && register.file == File::General)?;
        let object = self.object_address(current, object)?;
        let count = self.arrivals(current, state);
        self.emit(
            current,
            Action::Object(ObjectStep {
                kind: ObjectKind::Init,
                address: object,
                amount: Some(count),
                mask: None,
                to: None,
            }),
        );
        Some(())
    }

    /// Whether a statement that stores leads to `SYNCS.CCTL.IVALL` with nothing between but others of them.
    fn is_behind(&self, at: usize) -> bool {
        let function = self.function();
        let behind = (at + 1..function.statements.len()).take(NEAR);
        let mut behind =
            behind.take_while(|at| !function.entered.contains(at)).map(|at| &function.statements[at]);
        let last = behind.find(|statement| !prepares(statement));
        last.is_some_and(|statement| statement.opcode == "SYNCS.CCTL.IVALL" && statement.guard.is_none())
    }

    /// Whether objects have been initialised right before a statement.
    fn stored_before(&self, at: usize) -> bool {
        let mut before = self.before(at).take_while(|statement| prepares(statement));
        !self.function().entered.contains(&at) && before.any(|statement| statement.opcode == "STS.64")
    }

    /// The arrivals that two registers say an object awaits, where they agree.
    fn arrivals(&mut self, current: &Current<'m>, state: Register) -> Argument {
        let [low, high] = [self.register(current, state, 0), self.register(current, state, 1)];
        let left = self.word(current, Operation::ShiftRight, &[low, Argument::Number(1)]);
        let count = self.word(current, Operation::Subtract, &[Argument::Number(ARRIVALS), left]);
        let same = self.word(current, Operation::ShiftLeft, &[low, Argument::Number(10)]);
        let agrees = self.intermediate(current, compares(Comparison::Equal, WORD), &[high, same]);
        let unknown = self.intermediate(current, Function::OfWarp, &[]);
        self.word(current, Operation::Select, &[count, unknown, agrees])
    }

    /// `SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ`: A and T say how many arrivals and bytes, R that a register
    /// does.
    fn arrive(&mut self, current: &Current<'m>, parts: &[&str]) -> Option<()> {
        let [state, object, amount] = current.operands.as_slice() else { return None };
        let relaxed = false;
        // That the object may be that of another CTA is said by its address too.
        let parts = parts.strip_prefix(&["RED"]).unwrap_or(parts);
        let (kind, takes) = match parts {
            [] => (ObjectKind::ArriveExpectTx { relaxed }, true),
            ["A1T0"] => (ObjectKind::Arrive { relaxed }, false),
            ["ART0"] => (ObjectKind::Arrive { relaxed }, true),
            ["OPTOUT", "A1T0"] => (ObjectKind::ArriveDrop { relaxed }, false),
            ["OPTOUT", "ART0"] => (ObjectKind::ArriveDrop { relaxed }, true),
            ["A0TR"] => (ObjectKind::ExpectTx, true),
            ["A0T1"] => (ObjectKind::ExpectTx, false),
            ["A0TX"] => (ObjectKind::CompleteTx, true),
            _ => return None,
        };
        let nothing = amount.plain().is_some_and(|register| register.number.is_none());
        let amount = match (takes, kind) {
            (true, _) => Some(self.integer(current, amount)?),
            (false, _) if !nothing => return None,
            (false, ObjectKind::ExpectTx) => Some(Argument::Number(1)),
            (false, _) => None,
        };
        let register = state.plain().filter(|register| !register.file.is_predicate())?;
        self.step(current, kind, object, amount)?;
        // Who waits with the state that this returns is not followed.
        let state = Result { register, width: 2, in_part: false, carries: false };
        self.write(current, &[state], Function::Unknown);
        Some(())
    }

    /// `SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R0`: the parity stands in the highest bit.
    fn question(&mut self, current: &Current<'m>) -> Option<()> {
        let answer = current.operands.first()?.plain().filter(|register| register.file == File::Predicate)?;
        let answer = self.cell(answer.file, answer.number?);
        if self.asks_again_at_once(current) {
            self.emit(current, Action::Nothing);
            return Some(());
        }
        if let Some(guard) = current.guard {
            // Lanes for which it does not hold go past it.
            let around = self.code.instructions.len();
            let (guard, span) = (Some(Guard { negated: !guard.negated, ..guard }), current.span());
            self.code.instructions.push(Instruction { guard, action: Action::Nothing, span });
            let plain = Current { guard: None, ..current.clone() };
            self.asked(&plain, answer)?;
            self.code.instructions[around].action = Action::Jump(self.code.instructions.len());
            self.emit(&plain, Action::Nothing);
            return Some(());
        }
        self.asked(current, answer)
    }

    /// `SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R0], R1; @!P0 NANOSLEEP.SYNCS 0x989680;
    /// @!P0 SYNCS.PHASECHK.TRANS64 P0, [R0], R1`: where the answer was no, the same is asked once more. It is
    /// one question, to which the answer may come later.
    fn asks_again_at_once(&self, current: &Current<'m>) -> bool {
        let asked = current.statement;
        let Some(answer) = asked.guard.and_then(|guard| guard.strip_prefix('!')) else { return false };
        let idles = |before: &&&'m Statement<'m>| before.opcode.starts_with("NANOSLEEP");
        let first = self.before(current.at).find(|before| !idles(&before));
        first.is_some_and(|first| {
            first.opcode.starts_with("SYNCS.PHASECHK.TRANS64")
                && first.guard.is_none()
                && asked.operands.first() == Some(&answer)
                && first.operands == asked.operands
                && !self.function().entered.contains(&current.at)
        })
    }

    fn asked(&mut self, current: &Current<'m>, answer: u32) -> Option<()> {
        let [_, object, parity] = current.operands.as_slice() else { return None };
        let address = self.object_address(current, object)?;
        let parity = self.integer(current, parity)?;
        let parity = self.word(current, Operation::ShiftRight, &[parity, Argument::Number(31)]);
        if current.statement.guard.is_none() && self.waits(current) {
            let (kind, amount) = (ObjectKind::Wait, Some(parity));
            self.emit(current, Action::Object(ObjectStep { kind, address, amount, mask: None, to: None }));
            self.compute(current, answer, copy(BIT), &[Argument::Number(1)]);
            return Some(());
        }
        let name = current.statement.opcode.to_owned();
        self.emit(current, Action::Test { address, parity, name });
        self.compute(current, answer, Function::OfWarp, &[]);
        Some(())
    }

    /// Whether the answer no leads to a loop elsewhere that asks the same until it holds and comes back, with
    /// nothing but computations before: compilers lay out the first round of a waiting loop by itself.
    fn waits(&self, current: &Current<'m>) -> bool {
        let function = self.function();
        let statements = &function.statements;
        let answer = current.statement.operands[0];
        for (at, here) in statements.iter().enumerate().skip(current.at + 1).take(NEAR) {
            if function.entered.contains(&at) {
                return false;
            }
            if here.opcode != "BRA" {
                if self.disturbs(at, here, &current.statement.operands) {
                    return false;
                }
                continue;
            }
            let to = here.operands.first().and_then(|to| function.target(to));
            return is_unless(here, answer) && to.is_some_and(|to| self.asks_again(current, to, at + 1));
        }
        false
    }

    /// Whether the code at a place asks a question until it holds, and then goes back.
    fn asks_again(&self, current: &Current<'m>, to: usize, back: usize) -> bool {
        let function = self.function();
        let idles = |s: &&Statement<'_>| ["YIELD", "NOP"].contains(&s.opcode) && s.guard.is_none();
        let first = to + function.statements[to..].iter().take_while(idles).count();
        let Some([again, round, last]) = function.statements.get(first..first + 3) else { return false };
        let leads = |from: &Statement<'_>, to: usize| {
            from.opcode == "BRA" && from.operands.len() == 1 && function.target(from.operands[0]) == Some(to)
        };
        let asked = current.statement;
        let ([first_answer, question @ ..], [answer, same @ ..]) =
            (asked.operands.as_slice(), again.operands.as_slice())
        else {
            return false;
        };
        let is_one_answer =
            first_answer == answer || answers::are_forgotten(function, back, &[first_answer, answer]);
        (again.opcode, again.guard, question) == (asked.opcode, None, same)
            && is_one_answer
            && is_unless(round, answer)
            && (leads(round, to) || leads(round, first))
            && last.guard.is_none()
            && leads(last, back)
    }

    /// Whether an instruction does more than to compute, or writes what a question asks with.
    fn disturbs(&self, at: usize, statement: &'m Statement<'m>, question: &[&str]) -> bool {
        let computes = matches!(
            opcodes::effect(statement.opcode),
            Some(Effect::Pure | Effect::Predicates | Effect::Predicate | Effect::Loads | Effect::Special)
                | Some(Effect::Lanes | Effect::OfWarp | Effect::Reads)
        );
        if !computes || statement.trouble.is_some() {
            return true;
        }
        if opcodes::effect(statement.opcode) == Some(Effect::Reads) {
            return false;
        }
        let Some(results) = results(&self.current(at, statement)) else { return true };
        let asked: Vec<Register> = question
            .iter()
            .flat_map(|text| text.split(['[', ']', '+', '-', '.', ' ', '!']))
            .filter_map(operand::register)
            .collect();
        let predicates = statement.operands.iter().take(2).filter_map(|text| Operand::of(text).plain());
        let mut predicates = predicates.filter(|register| register.file.is_predicate());
        let is_written = |asked: &Register, first: Register, width: u32| {
            let written = first.number.zip(asked.number).filter(|_| first.file == asked.file);
            written.is_some_and(|(first, asked)| (first..first + width).contains(&asked))
        };
        predicates.any(|first| asked.iter().any(|asked| is_written(asked, first, 1)))
            || results.all.iter().any(|one| asked.iter().any(|a| is_written(a, one.register, one.width)))
    }

    /// A step that each lane does that comes there.
    fn step(
        &mut self,
        current: &Current<'m>,
        kind: ObjectKind,
        object: &Operand<'m>,
        amount: Option<Argument>,
    ) -> Option<()> {
        let address = self.object_address(current, object)?;
        self.emit(current, Action::Object(ObjectStep { kind, address, amount, mask: None, to: None }));
        Some(())
    }

    /// A step that the warp does once, or each lane of a loop over lanes.
    pub(super) fn at_once(
        &mut self,
        current: &Current<'m>,
        kind: ObjectKind,
        address: Argument,
        amount: Option<Argument>,
        mask: Option<Argument>,
    ) -> Option<()> {
        if self.of_lanes.is_none() {
            self.code.once.insert(self.code.instructions.len());
        }
        self.emit(current, Action::Object(ObjectStep { kind, address, amount, mask, to: None }));
        Some(())
    }

    pub(super) fn object_address(&mut self, current: &Current<'m>, object: &Operand<'m>) -> Option<Argument> {
        let Kind::Address(text) = object.kind else { return None };
        self.shared(current, text)
    }
}

/// Whether a statement is a jump that is taken where a predicate does not hold.
fn is_unless(statement: &Statement<'_>, predicate: &str) -> bool {
    let guard = statement.guard.and_then(|guard| guard.strip_prefix('!'));
    statement.opcode == "BRA" && statement.operands.len() == 1 && guard == Some(predicate)
}

/// Whether a statement stores what may be the state of an object, computes, or orders such stores.
fn prepares(statement: &Statement<'_>) -> bool {
    let orders = ["STS.64", "FENCE.VIEW.ASYNC.S", "NOP"].contains(&statement.opcode);
    orders || matches!(opcodes::effect(statement.opcode), Some(Effect::Pure | Effect::Predicates))
}
