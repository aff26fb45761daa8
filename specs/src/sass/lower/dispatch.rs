//! Which instruction is laid out by whom.

use barcheck_model::program::Target;

use crate::kernel::answers;
use crate::kernel::code::{
    Action, Argument, Collective, Function, Guard, Instruction, Memory, Operation, Written,
};
use crate::sass::opcodes::{self, Effect};
use crate::sass::operand::{Kind, Operand, Sign};
use crate::sass::syntax::Statement;

use super::results::results;
use super::state::{BIT, Current, Lowerer};

impl<'m> Lowerer<'m> {
    /// The code of an instruction.
    pub(super) fn statement(&mut self, at: usize, statement: &'m Statement<'m>) {
        let mut current = self.current(at, statement);
        if let Some(trouble) = statement.trouble {
            return self.beyond(&current, trouble);
        }
        match statement.guard.map(|guard| self.guard(&current, guard)) {
            None => {}
            Some(Some(Executes::Always)) => {}
            Some(Some(Executes::Never)) => return self.emit(&current, Action::Nothing),
            Some(Some(Executes::If(guard))) => current.guard = Some(guard),
            Some(None) => return self.beyond(&current, "a guard that is not known"),
        }
        if self.of_lanes(&mut current) {
            return;
        }
        if is_meeting(&current) {
            self.code.meetings.insert(self.code.instructions.len());
            self.emit(&current, Action::Nothing);
        }
        self.collective(&current);
        let begin = self.code.instructions.len();
        self.lay_out(&current);
        self.uses(&current, begin);
    }

    fn lay_out(&mut self, current: &Current<'m>) {
        let name = current.statement.opcode;
        match opcodes::effect(name) {
            None => self.beyond(current, &format!("`{name}`, which is not known")),
            Some(Effect::Synchronises) => self.object(current),
            Some(Effect::Barrier) => self.barrier(current),
            Some(Effect::Registers) => self.registers(current),
            Some(Effect::Flow) => self.flow(current),
            Some(Effect::Pure) => self.arithmetic(current),
            Some(Effect::Predicates) => self.predicates(current, 2),
            Some(Effect::Predicate) => self.predicates(current, 1),
            Some(Effect::Loads) => self.load(current),
            Some(Effect::Lanes) => self.lanes(current),
            Some(Effect::Special) => self.special(current),
            Some(Effect::OfWarp) => self.opaque(current, Function::OfWarp),
            Some(Effect::Unknown) => {
                if current.root.starts_with("ATOM") || current.root == "SUATOM" {
                    self.store(current);
                }
                self.opaque(current, Function::Unknown);
            }
            Some(Effect::Tiles) => self.tile(current),
            Some(Effect::AllPredicates) => self.all_predicates(current),
            Some(Effect::Stores) => self.store(current),
            Some(Effect::Reads) => self.emit(current, Action::Nothing),
        }
    }

    /// Notes the registers that an instruction reads and what it does with these is not followed, where
    /// answers to questions about phases may be among them.
    fn uses(&mut self, current: &Current<'m>, begin: usize) {
        if !self.asks {
            return;
        }
        let effect = opcodes::effect(current.statement.opcode);
        let stores = effect == Some(Effect::Stores);
        let wide = if current.has("128") { 4 } else { 1 + u32::from(current.has("64")) };
        let behind = if stores { 0 } else { results(current).map_or(1, |results| results.behind) };
        let mut read = Vec::new();
        for operand in current.operands.iter().skip(behind) {
            if let Kind::Register(register, _) = operand.kind
                && let Some(number) = register.number
            {
                read.extend((0..wide).map(|more| self.cell(register.file, number + more)));
            }
        }
        let uses = answers::uses(read, (current.guard, stores), &self.code.instructions[begin..]);
        // A hint tells nobody anything, and where a jump leads is set later.
        let is_idle = matches!(effect, Some(Effect::Reads | Effect::Flow));
        let Some(action) = uses.filter(|_| !is_idle) else { return };
        // A result may be in the register that is read.
        let is_plain = |instruction: &Instruction| {
            matches!(instruction.action, Action::Compute { .. } | Action::Store { .. } | Action::Nothing)
        };
        let is_before = self.code.instructions[begin..].iter().all(is_plain);
        let at = if is_before { begin } else { self.code.instructions.len() };
        self.code.instructions.insert(at, Instruction { guard: None, action, span: current.span() });
    }

    /// Notes what a warp does together with its warpgroup. The last operation of a group names the
    /// scoreboard `gsb0`, by which groups are waited for. Waits that leave the latest group out are over as
    /// they begin: see the kernel's warpgroups.
    fn collective(&mut self, current: &Current<'m>) {
        let step = match (current.root, current.statement.operands.as_slice()) {
            ("BGMMA" | "HGMMA" | "IGMMA" | "QGMMA", [.., "gsb0"]) => Collective::Commit,
            ("WARPGROUP", ["gsb0", "0x0"]) if current.has("DEPBAR") => Collective::Wait,
            _ => return,
        };
        if self.launch.is_apart || self.target != Target::Ptx {
            return;
        }
        self.code.collective.insert(self.code.instructions.len(), step);
        self.emit(current, Action::Nothing);
    }

    /// An instruction without its guard.
    pub(super) fn current(&self, at: usize, statement: &'m Statement<'m>) -> Current<'m> {
        let mut opcode = statement.opcode.split('.');
        let root = opcode.next().unwrap_or_default();
        let operands = statement.operands.iter().map(|text| self.operand(text)).collect();
        Current { at, statement, root, parts: opcode.collect(), operands, guard: None }
    }

    fn operand(&self, text: &'m str) -> Operand<'m> {
        let operand = Operand::of(text);
        match operand.kind {
            Kind::Other(name) => match self.named(name) {
                Some(named) => Operand { sign: operand.sign, kind: named.kind },
                None => operand,
            },
            _ => operand,
        }
    }

    fn guard(&mut self, current: &Current<'m>, text: &str) -> Option<Executes> {
        let operand = Operand::of(text);
        let Kind::Register(register, "") = operand.kind else { return None };
        if !register.file.is_predicate()
            || operand.sign != (Sign { negated: operand.sign.negated, ..Sign::default() })
        {
            return None;
        }
        let negated = operand.sign.negated;
        if register.number.is_none() {
            return Some(if negated { Executes::Never } else { Executes::Always });
        }
        let value = self.register(current, register, 0);
        let Argument::Register(register) = value else { return None };
        Some(Executes::If(Guard { register, negated }))
    }

    /// The guard that holds where this one and a predicate do.
    pub(super) fn also(&mut self, current: &Current<'m>, operand: &Operand<'m>) -> Option<Guard> {
        let wanted = self.predicate(current, operand)?;
        let all = match current.guard {
            None => wanted,
            Some(guard) => {
                let mut held = Argument::Register(guard.register);
                if guard.negated {
                    held = self.intermediate(current, Function::Integer(Operation::LogicalNot, BIT), &[held]);
                }
                self.intermediate(current, Function::Integer(Operation::And, BIT), &[held, wanted])
            }
        };
        let copy = Function::Integer(Operation::Convert(BIT), BIT);
        match self.intermediate(current, copy, &[all]) {
            Argument::Register(register) => Some(Guard { register, negated: false }),
            _ => None,
        }
    }

    /// Memory that an instruction may write anywhere.
    pub(super) fn writes_anywhere(&mut self, current: &Current<'m>) {
        for memory in [Memory::Global, Memory::Shared] {
            self.emit(current, Action::Store { address: None, memory, written: Written::Data });
        }
    }
}

/// Whether all lanes of a warp execute an instruction together.
fn is_meeting(current: &Current<'_>) -> bool {
    let is_all = current.root == "WARPSYNC" && current.has("ALL");
    let of_tiles = opcodes::effect(current.statement.opcode) == Some(Effect::Tiles);
    current.guard.is_none() && (is_all || of_tiles || ["LDSM", "STSM"].contains(&current.root))
}

/// When an instruction is executed.
enum Executes {
    Always,
    Never,
    If(Guard),
}
