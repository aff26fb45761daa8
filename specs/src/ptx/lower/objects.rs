//! mbarrier objects: their own instructions, and the copies and commits that arrive at them.

use crate::kernel::code::{Action, Argument, Function, ObjectKind, ObjectStep};
use crate::ptx::syntax::{Base, Operand};

use super::addresses::Fixed;
use super::state::{Current, Lowerer};
use super::types;

/// A number of bytes.
static ONE: Operand = Operand::Number(1);
/// The bytes of the answer to a request for the work of a CTA that has not begun.
const ANSWER: u64 = 16;

impl<'m> Lowerer<'m> {
    pub(super) fn object(&mut self, current: &Current<'m>) {
        if self.object_step(current).is_none() {
            self.beyond(current, &format!("`{}`", current.opcode));
        }
    }

    fn object_step(&mut self, current: &Current<'m>) -> Option<()> {
        // Two CTAs do it together.
        let takes_two = current.has("cta_group::2") && self.launch.groups() == 1;
        if takes_two {
            return None;
        }
        match current.parts.as_slice() {
            ["mbarrier", rest @ ..] => self.mbarrier(current, rest),
            ["cp", "async", "mbarrier", "arrive", "noinc", ..] => {
                let [object] = current.operands() else { return None };
                self.step(current, ObjectKind::CopiesArrive, object, None)
            }
            // The phase expects an arrival more, which comes when the copies have landed: so it is with a
            // byte.
            ["cp", "async", "mbarrier", "arrive", ..] => {
                let [object] = current.operands() else { return None };
                self.step(current, ObjectKind::ExpectTx, object, Some(&ONE))?;
                self.step(current, ObjectKind::Copy, object, Some(&ONE))
            }
            ["cp", "async", "bulk", "tensor", ..] => self.tensor(current),
            ["cp", "async", "bulk", ..] => {
                let [_, _, bytes, object, behind @ ..] = current.operands() else { return None };
                // What starts in shared memory goes to that of another CTA.
                self.code.is_written_from_elsewhere |= !current.has("global") && self.launch.groups() > 1;
                self.step_of(current, (ObjectKind::Copy, behind), object, Some(bytes))
            }
            ["st" | "red", "async", ..] => {
                let [_, value, object] = current.operands() else { return None };
                self.code.is_written_from_elsewhere |= self.launch.groups() > 1;
                let count = match value {
                    Operand::Group(parts) => parts.len() as u64,
                    _ => 1,
                };
                let bytes = u64::try_from(types::bytes(current.parts.last()?)?).ok()? * count;
                let address = self.object_address(current, object)?;
                let amount = Some(Argument::Number(bytes));
                let step = ObjectStep { kind: ObjectKind::Copy, address, amount, mask: None, to: None };
                self.emit(current, Action::Object(step));
                Some(())
            }
            ["clusterlaunchcontrol", "try_cancel", ..] => {
                let [_, object] = current.operands() else { return None };
                self.cancel(current, object)
            }
            ["tcgen05", "commit", ..] => {
                let [object, behind @ ..] = current.operands() else { return None };
                self.step_of(current, (ObjectKind::Commit, behind), object, None)
            }
            _ => None,
        }
    }

    /// `cp.async.bulk.tensor… [to], [map, {…}], [object]`: how many bytes is said by the map alone, and by
    /// how it is read.
    fn tensor(&mut self, current: &Current<'m>) -> Option<()> {
        let [Operand::Address(..), Operand::Within(map, offset), object @ Operand::Address(..), behind @ ..] =
            current.operands()
        else {
            return None;
        };
        if let Some(map) = self.fixed(*map, *offset) {
            let is_mode = |part: &&&str| part.starts_with("tile") || part.starts_with("im2col");
            let mode: Vec<&str> = current.parts.iter().filter(is_mode).copied().collect();
            let map = self.name(&format!("tensor map {map} {}", mode.join(".")));
            self.code.maps.insert(current.instruction.span, map);
        }
        self.step_of(current, (ObjectKind::Copy, behind), object, None)
    }

    /// `clusterlaunchcontrol.try_cancel… [answer], [object]`: the answer lands as a copy does, in one CTA or
    /// in all of the cluster.
    fn cancel(&mut self, current: &Current<'m>, object: &'m Operand) -> Option<()> {
        let groups = self.launch.groups();
        let mask = current.has("multicast::cluster::all").then(|| {
            self.is_about_clusters(current);
            Argument::Number((1 << groups) - 1)
        });
        let address = self.object_address(current, object)?;
        let amount = Some(Argument::Number(ANSWER));
        let to = self.written_by_copy(current);
        self.emit(current, Action::Object(ObjectStep { kind: ObjectKind::Copy, address, amount, mask, to }));
        Some(())
    }

    fn mbarrier(&mut self, current: &Current<'m>, parts: &[&str]) -> Option<()> {
        let relaxed = current.has("relaxed");
        let (state, operands) = match current.operands() {
            [state @ (Operand::Sink | Operand::Register(..)), rest @ ..] => (Some(state), rest),
            rest => (None, rest),
        };
        let (object, amount) = match operands {
            [object] => (object, None),
            [object, amount, ..] => (object, Some(amount)),
            [] => return None,
        };
        let expects = parts.get(1) == Some(&"expect_tx");
        let no_complete = parts.get(1) == Some(&"noComplete");
        // It is for objects of the own CTA, and releases.
        let is_elsewhere = current.has("cluster") || current.has("shared::cluster");
        if no_complete != current.has("noComplete") || no_complete && (relaxed || is_elsewhere) {
            return None;
        }
        let (kind, needs) = match parts.first()? {
            &"init" => (ObjectKind::Init, true),
            &"inval" => (ObjectKind::Inval, false),
            &"arrive" if no_complete => (ObjectKind::ArriveNoComplete, true),
            &"arrive_drop" if no_complete => (ObjectKind::ArriveDropNoComplete, true),
            &"arrive" if expects => (ObjectKind::ArriveExpectTx { relaxed }, true),
            &"arrive" => (ObjectKind::Arrive { relaxed }, false),
            &"arrive_drop" if !expects => (ObjectKind::ArriveDrop { relaxed }, false),
            &"expect_tx" => (ObjectKind::ExpectTx, true),
            &"complete_tx" => (ObjectKind::CompleteTx, true),
            &"test_wait" | &"try_wait" => {
                return self.test(current, state?, object, amount?, parts.get(1) == Some(&"parity"));
            }
            _ => return None,
        };
        let takes =
            usize::from(needs || matches!(kind, ObjectKind::Arrive { .. } | ObjectKind::ArriveDrop { .. }));
        if operands.len() > 1 + takes || needs && amount.is_none() {
            return None;
        }
        self.step(current, kind, object, amount)?;
        if let Some(Operand::Register(register, false)) = state {
            let to = self.register(*register);
            self.code.states.insert(self.code.instructions.len() - 1, to);
            self.compute(current, to, Function::Unknown, &[]);
        }
        Some(())
    }

    fn step(
        &mut self,
        current: &Current<'m>,
        kind: ObjectKind,
        object: &'m Operand,
        amount: Option<&'m Operand>,
    ) -> Option<()> {
        self.step_of(current, (kind, &[]), object, amount)
    }

    /// A step; `behind` are the operands behind the object, where one may say to which CTAs it goes.
    fn step_of(
        &mut self,
        current: &Current<'m>,
        (kind, behind): (ObjectKind, &'m [Operand]),
        object: &'m Operand,
        amount: Option<&'m Operand>,
    ) -> Option<()> {
        let mask = self.mask(current, behind)?;
        let address = self.object_address(current, object)?;
        let amount = amount.map(|amount| self.argument(current, amount));
        if kind == ObjectKind::Copy && mask.is_some() && current.has("cta_group::2") {
            self.code.by_pairs.insert(self.code.instructions.len());
        }
        let to = (kind == ObjectKind::Copy).then(|| self.written_by_copy(current)).flatten();
        self.emit(current, Action::Object(ObjectStep { kind, address, amount, mask, to }));
        Some(())
    }

    /// `mbarrier.try_wait.parity p, [object], parity {, hint};`, under a guard or not; without `.parity` it
    /// is a state.
    fn test(
        &mut self,
        current: &Current<'m>,
        answer: &'m Operand,
        object: &'m Operand,
        phase: &'m Operand,
        is_parity: bool,
    ) -> Option<()> {
        let Operand::Register(to, false) = answer else { return None };
        let address = self.object_address(current, object)?;
        let parity = self.argument(current, phase);
        let to = self.register(*to);
        let name = current.opcode.to_owned();
        if let Argument::Register(state) = parity
            && !is_parity
        {
            self.code.states.insert(self.code.instructions.len(), state);
        } else if !is_parity {
            return None;
        }
        self.emit(current, Action::Test { address, parity, name });
        self.compute(current, to, Function::OfWarp, &[]);
        Some(())
    }

    /// An address that is the same while the kernel runs, in words.
    fn fixed(&mut self, base: Base, offset: i64) -> Option<String> {
        let Base::Register(register) = base else { return None };
        let fixed = self.frame().addresses.get(&register)?;
        Some(match fixed {
            Fixed::Param((name, from)) => format!("{name}+{}", from.wrapping_add(offset)),
            Fixed::Loaded((name, at), from) => format!("[{name}+{at}]+{}", from.wrapping_add(offset)),
        })
    }

    fn object_address(&mut self, current: &Current<'m>, object: &'m Operand) -> Option<Argument> {
        let Operand::Address(base, offset) = object else { return None };
        Some(self.address(current, *base, *offset))
    }
}
