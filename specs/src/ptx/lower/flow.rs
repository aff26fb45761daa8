//! Jumps, ends and barriers.

use crate::kernel::code::{
    Action, Argument, Awaited, Comparison, Function, Guard, Operation, Synchronisation, Type,
};
use crate::ptx::syntax::Operand;

use super::state::{Current, Lowerer};

impl<'m> Lowerer<'m> {
    pub(super) fn flow(&mut self, current: &Current<'m>) {
        match current.parts[0] {
            "bra" => match current.operands() {
                [Operand::Label(label)] => self.jump(current, *label),
                _ => self.beyond(current, "a jump without a label"),
            },
            "brx" => self.table(current),
            "call" => self.call(current),
            "ret" if self.frames.len() > 1 => {
                let at = self.code.instructions.len();
                self.emit(current, Action::Jump(usize::MAX));
                self.frame().returns.push(at);
            }
            "ret" | "exit" => self.emit(current, Action::Exit),
            _ => self.emit(current, Action::Abort),
        }
    }

    pub(super) fn beyond(&mut self, current: &Current<'m>, what: &str) {
        self.emit(current, Action::Beyond(what.to_owned()));
    }

    fn jump(&mut self, current: &Current<'m>, label: u32) {
        let at = self.code.instructions.len();
        self.emit(current, Action::Jump(usize::MAX));
        let frame = self.frame();
        let to = frame.body.labels.get(label as usize).copied().unwrap_or_default();
        frame.jumps.push((at, to));
    }

    /// `brx.idx index, table;`: one comparison for each target, the last for what is left.
    fn table(&mut self, current: &Current<'m>) {
        let [index, Operand::Name(table)] = current.operands() else {
            return self.beyond(current, "`brx.idx` without a table");
        };
        let table = self.text(*table);
        let Some(targets) =
            self.frame().body.tables.get(table).cloned().filter(|targets| !targets.is_empty())
        else {
            return self.beyond(current, "`brx.idx` without a table of labels");
        };
        if current.guard.is_some() {
            return self.beyond(current, "`brx.idx` under a guard");
        }
        let index = self.argument(current, index);
        let equal = Operation::Compare(Comparison::Equal);
        let equal = Function::Integer(equal, Type { bits: 32, signed: false });
        let last = targets.len() - 1;
        for (number, label) in targets.into_iter().enumerate() {
            let mut guarded = Current { guard: None, parts: current.parts.clone(), ..*current };
            if number < last {
                let is_it = self.intermediate(current, equal, &[index, Argument::Number(number as u64)]);
                let Argument::Register(register) = is_it else { return };
                guarded.guard = Some(Guard { register, negated: false });
            }
            self.jump(&guarded, label);
        }
    }

    /// `bar`, `barrier`, with or without `.cta`; barriers of warps and clusters.
    pub(super) fn barrier(&mut self, current: &Current<'m>) {
        let parts: Vec<&str> = current.parts.iter().copied().filter(|part| *part != "cta").collect();
        let aligned = parts[0] == "bar" || parts.contains(&"aligned");
        match parts.get(1) {
            // Lanes of one warp meet: that concerns no other warp.
            Some(&"warp") => return self.emit(current, Action::Nothing),
            Some(&"cluster") => return self.cluster_barrier(current),
            _ => {}
        }
        let operands = current.operands();
        let done = match parts.get(1) {
            Some(&"sync") | None => self.plain(current, "sync", aligned, operands),
            Some(&"arrive") => self.plain(current, "arrive", aligned, operands),
            Some(&"red") => self.reduction(current, &parts, aligned),
            _ => None,
        };
        if done.is_none() {
            self.beyond(current, &format!("`{}`, as it is written here", current.opcode));
        }
    }

    fn plain(
        &mut self,
        current: &Current<'m>,
        kind: &str,
        aligned: bool,
        operands: &'m [Operand],
    ) -> Option<()> {
        let (id, count) = match operands {
            [id] => (id, None),
            [id, count] => (id, Some(count)),
            _ => return None,
        };
        let id = self.argument(current, id);
        let count = count.map(|count| self.argument(current, count));
        let places = if count.is_some() { "{}, {}" } else { "{}" };
        let statement = format!("{}.{kind} {places}", word(aligned));
        let mut barrier = synchronisation(statement, id, count);
        if kind == "arrive" {
            barrier.awaited = Awaited::Nobody;
        }
        self.emit(current, Action::Synchronise(barrier));
        Some(())
    }

    /// `bar.red.popc.u32 d, a, b, p`: the result is the same for all who take part. Where these need not be
    /// all threads, others may have another result of the same instruction.
    fn reduction(&mut self, current: &Current<'m>, parts: &[&str], aligned: bool) -> Option<()> {
        let op = match *parts.get(2)? {
            "popc" => "popc.u32",
            "and" => "and.pred",
            "or" => "or.pred",
            _ => return None,
        };
        let (to, id, count) = match current.operands() {
            [to, id, _] => (to, id, None),
            [to, id, count, _] => (to, id, Some(count)),
            _ => return None,
        };
        let id = self.argument(current, id);
        let count = count.map(|count| self.argument(current, count));
        let places = if count.is_some() { "{}, {}" } else { "{}" };
        let statement = format!("{}.red.{op} _, {places}, ?", word(aligned));
        self.emit(current, Action::Synchronise(synchronisation(statement, id, count)));
        if let Operand::Register(to, _) = to {
            let takes_all = match count {
                None => true,
                Some(Argument::Number(count)) => count >= u64::from(self.launch.count()),
                Some(_) => false,
            };
            let to = self.register(*to);
            self.compute(current, to, if takes_all { Function::Shared } else { Function::OfWarp }, &[]);
        }
        Some(())
    }
}

/// What protocols call the instruction.
fn word(aligned: bool) -> &'static str {
    if aligned { "bar" } else { "barrier" }
}

/// A barrier that waits for as many threads as it is given, or for all.
fn synchronisation(statement: String, id: Argument, count: Option<Argument>) -> Synchronisation {
    let count_of = count.map(|count| (count, "thread count"));
    Synchronisation {
        statement,
        operands: std::iter::once((id, "number")).chain(count_of).collect(),
        awaited: count.map_or(Awaited::Group, Awaited::Threads),
    }
}
