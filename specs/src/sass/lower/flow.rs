//! Regions of code, jumps and ends.

use crate::kernel::code::{Action, Argument, Comparison, Function, Guard, Instruction, Operation};
use crate::sass::opcodes::{Effect, effect};
use crate::sass::operand::Operand;
use crate::sass::syntax::Statement;

use super::arithmetic::compares;
use super::routes::{Route, index_of, reached, route};
use super::stacks::pops;
use super::state::{BIT, Current, Frame, Lowerer, WORD};

/// The most instructions that are laid out.
const INSTRUCTIONS: usize = 2_000_000;
/// Instructions that are looked at where lanes have parted.
const PATH: usize = 1_000;
const APART: &str = "a barrier where lanes have parted";

/// Whether a statement is about barriers, or may be.
fn matters(statement: &Statement<'_>) -> bool {
    matches!(effect(statement.opcode), None | Some(Effect::Barrier | Effect::Synchronises))
}

impl<'m> Lowerer<'m> {
    /// Lays out what is reached from an instruction of a function.
    pub(super) fn region(&mut self, function: usize, start: usize) {
        let listing = self.listing;
        let code = &listing.functions[function];
        let pops = pops(listing, function, start);
        let reached = reached(listing, function, start, &pops);
        self.frames.push(Frame { entered: (function, start), pops, ..Frame::default() });
        let first = self.code.instructions.len();
        let span = code.statements.get(start).map_or(code.span, |statement| statement.span);
        self.code.instructions.push(Instruction { guard: None, action: Action::Nothing, span });
        if let Some(frame) = self.frames.last_mut() {
            frame.jumps.push((first, start));
        }
        for at in reached {
            let here = self.code.instructions.len();
            if let Some(frame) = self.frames.last_mut() {
                frame.starts.insert(at, here);
            }
            if here > INSTRUCTIONS {
                let action = Action::Beyond("calls that come to too many instructions".to_owned());
                let span = code.statements[at].span;
                self.code.instructions.push(Instruction { guard: None, action, span });
                break;
            }
            self.statement(at, &code.statements[at]);
        }
        // Behind the last instruction.
        let end = self.code.instructions.len();
        let span = code.statements.last().map_or(code.span, |statement| statement.span);
        let action = match code.is_bare {
            true => Action::Exit,
            false => Action::Beyond("the listing ends here, and the kernel does not".to_owned()),
        };
        self.code.instructions.push(Instruction { guard: None, action, span });
        let back = self.code.instructions.len();
        let is_called = self.frames.len() > 1;
        let Some(frame) = self.frames.pop() else { return };
        for (at, to) in frame.jumps {
            let to = frame.starts.get(&to).copied().unwrap_or(end);
            self.code.instructions[at].action = Action::Jump(to);
        }
        for at in frame.returns {
            self.code.instructions[at].action = if is_called { Action::Jump(back) } else { Action::Exit };
        }
    }

    fn jump(&mut self, current: &Current<'m>, guard: Option<Guard>, to: usize) {
        let at = self.code.instructions.len();
        let (action, span) = (Action::Nothing, current.span());
        self.code.instructions.push(Instruction { guard, action, span });
        if let Some(frame) = self.frames.last_mut() {
            frame.jumps.push((at, to));
        }
    }

    pub(super) fn flow(&mut self, current: &Current<'m>) {
        match route(self.listing, self.here(), current.at) {
            Route::On if current.root == "BRA" => self.divided(current),
            Route::On | Route::Push(..) => self.emit(current, Action::Nothing),
            Route::Jump(to) => match self.condition(current) {
                Some(guard) => self.jump(current, guard, to),
                None => self.beyond(current, "a jump on what is not known"),
            },
            Route::Table(targets) => self.by_targets(current, &targets),
            Route::Call(function, to) => self.call(current, function, to),
            Route::Named(name) => self.named_call(current, &name),
            Route::Pop(_) => {
                let to = self.frames.last().and_then(|frame| frame.pops.get(&current.at)).copied();
                match (to, current.operands.is_empty()) {
                    (Some(to), true) => self.jump(current, current.guard, to),
                    _ => self.beyond(current, &format!("`{}` to where is not known", current.root)),
                }
            }
            Route::Return => self.back(current),
            Route::Exit => match self.condition_of(current, current.operands.len()) {
                Some(guard) => {
                    let (action, span) = (Action::Exit, current.span());
                    self.code.instructions.push(Instruction { guard, action, span });
                }
                None => self.beyond(current, "an exit on what is not known"),
            },
            Route::Abort => self.emit(current, Action::Abort),
            Route::Lost(why) => self.beyond(current, &why),
        }
    }

    /// The guard of a jump, with the predicates before its target: `BRA.U UP0, L`.
    fn condition(&mut self, current: &Current<'m>) -> Option<Option<Guard>> {
        let guard = self.condition_of(current, current.operands.len() - 1)?;
        let asked = if current.has("ANY") { Some(Function::Any) } else { None };
        let asked = asked.or(current.has("ALL").then_some(Function::All));
        let (Some(guard), Some(function)) = (guard, asked) else { return Some(guard) };
        // The warp jumps as a whole, by what its lanes say.
        let mut held = Argument::Register(guard.register);
        if guard.negated {
            held = self.intermediate(current, Function::Integer(Operation::LogicalNot, BIT), &[held]);
        }
        match self.intermediate(current, function, &[held]) {
            Argument::Register(register) => Some(Some(Guard { register, negated: false })),
            _ => None,
        }
    }

    /// The guard with as many of the first operands, all of which are predicates.
    fn condition_of(&mut self, current: &Current<'m>, count: usize) -> Option<Option<Guard>> {
        match &current.operands[..count] {
            [] => Some(current.guard),
            [one] => self.also(current, one).map(Some),
            _ => None,
        }
    }

    fn back(&mut self, current: &Current<'m>) {
        let at = self.code.instructions.len();
        self.emit(current, Action::Nothing);
        if let Some(frame) = self.frames.last_mut() {
            frame.returns.push(at);
        }
    }

    /// `BRA.DIV UR4, L`: where lanes have parted, L does for each part what stands here for all.
    fn divided(&mut self, current: &Current<'m>) {
        let Some(target) = self.leads_to(current.statement) else {
            return self.beyond(current, "a jump to what is not in this listing");
        };
        if self.is_same_barrier(target, current.at + 1) {
            return self.emit(current, Action::Nothing);
        }
        if self.path(target).any(matters) {
            return self.beyond(current, APART);
        }
        // On older chips a function brings the lanes together: the parts do not do it each for itself.
        let calls = self.path(target).filter(|statement| statement.opcode.starts_with("CALL"));
        let called: Vec<usize> = calls.filter_map(|statement| self.leads_to(statement)).collect();
        let is_together = called.into_iter().any(|place| self.path(place).any(matters));
        self.emit(current, if is_together { Action::Together(APART.to_owned()) } else { Action::Nothing });
    }

    /// Where a jump or a call of this function leads.
    fn leads_to(&self, statement: &Statement<'m>) -> Option<usize> {
        let operand = statement.operands.last()?;
        let function = self.function();
        let labelled = function.labels.get(operand.trim_start_matches("`(").trim_end_matches(')')).copied();
        labelled.or_else(|| function.addresses.get(&crate::sass::operand::number(operand)?).copied())
    }

    /// The statements from a place on, until control goes elsewhere.
    fn path(&self, place: usize) -> impl Iterator<Item = &'m Statement<'m>> {
        let ends = |opcode: &str| {
            ["BRA", "EXIT", "RET", "JMP"].contains(&opcode.split('.').next().unwrap_or_default())
        };
        let statements = self.function().statements.get(place..).unwrap_or_default().iter();
        statements
            .take_while(move |statement| !ends(statement.opcode) || statement.guard.is_some())
            .take(PATH)
    }

    /// One comparison for each target, the last for what is left. What the register holds is an address that
    /// a table says: which of the targets it is, is a function of it.
    fn by_targets(&mut self, current: &Current<'m>, targets: &[usize]) {
        let text = current.statement.operands.first().and_then(|text| index_of(text));
        let index = text.map(Operand::of).and_then(|operand| operand.plain());
        let (Some(index), None) = (index, current.guard) else {
            return self.beyond(current, "a jump by a table, as it is written here");
        };
        let arguments = [self.register(current, index, 0), self.register(current, index, 1)];
        let name = self.name(&format!("target of {}", current.root));
        let place = Argument::Number(current.at as u64);
        let which = self.intermediate(current, Function::Pure(name), &[arguments[0], arguments[1], place]);
        let mut different: Vec<usize> = Vec::new();
        for target in targets {
            if !different.contains(target) {
                different.push(*target);
            }
        }
        let last = different.len() - 1;
        for (number, target) in different.into_iter().enumerate() {
            let mut guard = None;
            if number < last {
                let equal = compares(Comparison::Equal, WORD);
                let is_it = self.intermediate(current, equal, &[which, Argument::Number(number as u64)]);
                let Argument::Register(register) = is_it else { return };
                guard = Some(Guard { register, negated: false });
            }
            self.jump(current, guard, target);
        }
    }
}
