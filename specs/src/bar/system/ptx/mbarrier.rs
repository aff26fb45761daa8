//! Instructions on mbarrier objects: how they are spelled, and what they lower to.

use barcheck_model::program::{
    ArrayId, Awaited, Expr, LocalId, MbarrierKind, MbarrierOp, ObjectsId, Op, Spaces,
};

use crate::bar::ast::{Instruction, Operand};
use crate::bar::lower::{RoleLowerer, name_of};

/// What an instruction on an mbarrier object does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mbarrier {
    Init,
    Inval,
    Arrive {
        relaxed: bool,
        drops: bool,
    },
    ArriveExpectTx {
        relaxed: bool,
        drops: bool,
    },
    ExpectTx,
    CompleteTx,
    Wait {
        form: Form,
        /// For the phase of a parity, and not for that of a token.
        parity: bool,
    },
    Copy,
    Commit,
    /// Fences that concern the asynchronous proxy: one proxy is modelled.
    ProxyFence,
}

/// The forms of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A loop around `try_wait`.
    Wait,
    /// The same if nobody keeps the answer.
    TryWait,
    TestWait,
}

/// Calls `add` with all spellings of the instructions on mbarrier objects, and whether each is an alias.
// clause: ptx.mbarrier-syntax
pub(super) fn spellings(mut add: impl FnMut(Mbarrier, String, bool)) {
    let plain = [
        (Mbarrier::Init, "mbarrier.init"),
        (Mbarrier::Inval, "mbarrier.inval"),
        (Mbarrier::Commit, "cp.async.mbarrier.arrive.noinc"),
    ];
    let waits = [(Form::Wait, "wait"), (Form::TryWait, "try_wait"), (Form::TestWait, "test_wait")];
    let ordered = [
        ("mbarrier.arrive", false, false),
        ("mbarrier.arrive.expect_tx", true, false),
        ("mbarrier.arrive_drop", false, true),
        ("mbarrier.arrive_drop.expect_tx", true, true),
    ];
    for space in ["", ".shared", ".shared::cta"] {
        for width in ["", ".b64"] {
            let is_alias = !(space.is_empty() && width.is_empty());
            for (operation, name) in plain {
                add(operation, format!("{name}{space}{width}"), is_alias);
            }
            for (form, name) in waits {
                for (parity, of) in [(true, ".parity"), (false, "")] {
                    for acquire in ["", ".acquire", ".acquire.cta", ".acquire.cluster"] {
                        let is_alias = is_alias || !acquire.is_empty();
                        let text = format!("mbarrier.{name}{of}{acquire}{space}{width}");
                        add(Mbarrier::Wait { form, parity }, text, is_alias);
                    }
                }
            }
            for order in ["", ".release", ".release.cta", ".relaxed", ".relaxed.cta"] {
                let relaxed = order.starts_with(".relaxed");
                for (name, expects, drops) in ordered {
                    let operation = match expects {
                        true => Mbarrier::ArriveExpectTx { relaxed, drops },
                        false => Mbarrier::Arrive { relaxed, drops },
                    };
                    let is_alias = is_alias || !["", ".relaxed"].contains(&order);
                    add(operation, format!("{name}{order}{space}{width}"), is_alias);
                }
            }
            for order in ["", ".relaxed", ".relaxed.cta"] {
                let is_alias = is_alias || !order.is_empty();
                let counts = [(Mbarrier::ExpectTx, "expect_tx"), (Mbarrier::CompleteTx, "complete_tx")];
                for (operation, name) in counts {
                    add(operation, format!("mbarrier.{name}{order}{space}{width}"), is_alias);
                }
            }
        }
    }
    let copies = ["cp.async.bulk", "cp.async.bulk.tensor", "st.async", "red.async"];
    for name in copies {
        add(Mbarrier::Copy, name.to_owned(), name != copies[0]);
    }
    for space in ["shared::cluster", "shared::cta"] {
        let text = format!("cp.async.bulk.{space}.global.mbarrier::complete_tx::bytes");
        add(Mbarrier::Copy, text, true);
    }
    add(Mbarrier::Commit, "tcgen05.commit".to_owned(), false);
    for (fence, is_alias) in [
        ("fence.proxy.async", false),
        ("fence.proxy.async.shared::cta", true),
        ("fence.mbarrier_init.release.cluster", false),
    ] {
        add(Mbarrier::ProxyFence, fence.to_owned(), is_alias);
    }
}

impl<'a> RoleLowerer<'_, 'a> {
    /// What an instruction on an mbarrier object lowers to.
    pub(super) fn mbarrier(&mut self, instruction: &'a Instruction, operation: Mbarrier) -> Option<Op> {
        let (token, operands) = self.kept(instruction, operation);
        if let Mbarrier::Wait { form, parity } = operation {
            return self.wait(instruction, operands, (form, parity));
        }
        let takes: &'static [&'static str] = match (operation, operands) {
            (Mbarrier::ProxyFence, []) => {
                return Some(Op::Fence(Spaces { shared: true, global: true }));
            }
            (Mbarrier::Inval, [object]) => return self.on_object(MbarrierKind::Inval, object),
            (Mbarrier::Commit, [object]) => return self.on_object(MbarrierKind::Commit, object),
            (Mbarrier::Init, [object, count]) => {
                let count = self.number(count)?;
                return self.on_object(MbarrierKind::Init(count), object);
            }
            (Mbarrier::ExpectTx, [object, bytes]) => {
                let bytes = self.number(bytes)?;
                return self.on_object(MbarrierKind::ExpectTx(bytes), object);
            }
            (Mbarrier::CompleteTx, [object, bytes]) => {
                let bytes = self.number(bytes)?;
                return self.on_object(MbarrierKind::CompleteTx(bytes), object);
            }
            (Mbarrier::Arrive { relaxed, drops }, [object, count @ ..]) if count.len() < 2 => {
                let count = match count {
                    [count] => Some(self.number(count)?),
                    _ => None,
                };
                let kind = MbarrierKind::Arrive { count, bytes: None, drops, relaxed, token };
                return self.on_object(kind, object);
            }
            (Mbarrier::ArriveExpectTx { relaxed, drops }, [object, bytes]) => {
                let bytes = Some(self.number(bytes)?);
                let kind = MbarrierKind::Arrive { count: None, bytes, drops, relaxed, token };
                return self.on_object(kind, object);
            }
            (Mbarrier::Copy, [to, bytes, object]) => {
                let to = self.copied_to(to);
                let bytes = self.number(bytes)?;
                return self.on_object(MbarrierKind::Copy { bytes, to: to? }, object);
            }
            (Mbarrier::ProxyFence, _) => &[],
            (Mbarrier::Inval | Mbarrier::Commit, _) => &["object"],
            (Mbarrier::Init, _) => &["object, arrivals"],
            (Mbarrier::Wait { .. }, _) => &["object, parity"],
            (Mbarrier::ExpectTx | Mbarrier::CompleteTx | Mbarrier::ArriveExpectTx { .. }, _) => {
                &["object, bytes"]
            }
            (Mbarrier::Arrive { .. }, _) => &["object[, arrivals]"],
            (Mbarrier::Copy, _) => &["location, bytes, object"],
        };
        self.wrong_count(instruction, takes)
    }

    /// The local that keeps what an instruction yields, and its other operands. PTX has it for the first
    /// operand, `_` if nobody keeps it.
    fn kept(
        &mut self,
        instruction: &'a Instruction,
        operation: Mbarrier,
    ) -> (Option<LocalId>, &'a [Operand]) {
        let operands = instruction.operands.as_slice();
        if let Mbarrier::Arrive { .. } | Mbarrier::ArriveExpectTx { .. } = operation {
            if let Some(local) = self.result.take() {
                return (Some(local), operands);
            }
            if let [first, rest @ ..] = operands
                && let Some(name) = name_of(first)
            {
                if name == "_" {
                    return (None, rest);
                }
                if self.scopes.find(name).is_some() {
                    return (self.assigned(name, first.span), rest);
                }
            }
        }
        (None, operands)
    }

    /// A wait, or the question whether a phase is complete.
    fn wait(
        &mut self,
        instruction: &'a Instruction,
        operands: &'a [Operand],
        (form, parity): (Form, bool),
    ) -> Option<Op> {
        let asks = form != Form::Wait;
        let (dest, rest) = match operands {
            [dest, rest @ ..] if rest.len() == 2 && asks => (Some(self.destination(dest)?), rest),
            all => (if asks { self.result.take().map(Some) } else { None }, all),
        };
        let [object, of] = rest else {
            let takes: &'static [&'static str] = match (asks, parity) {
                (false, true) => &["object, parity"],
                (false, false) => &["object, token"],
                (true, true) => &["[answer,] object, parity"],
                (true, false) => &["[answer,] object, token"],
            };
            return self.wrong_count(instruction, takes);
        };
        let phase = if parity { Awaited::Parity(self.number(of)?) } else { Awaited::Token(self.token(of)?) };
        let kind = match (form, dest) {
            (Form::TestWait, dest) => MbarrierKind::Test { phase, gives_up: false, dest: dest.flatten() },
            (Form::TryWait, Some(dest)) => MbarrierKind::Test { phase, gives_up: true, dest },
            (Form::Wait | Form::TryWait, _) => MbarrierKind::Wait(phase),
        };
        self.on_object(kind, object)
    }

    /// The local that holds a token.
    fn token(&mut self, operand: &'a Operand) -> Option<LocalId> {
        let help = "a token comes from an arrival: `let t = mbarrier.arrive full[0];`";
        let expected = "a local that holds a token";
        let Some(name) = name_of(operand) else {
            return self.wrong_operand(operand, expected, Some(help));
        };
        match self.scopes.local(name) {
            Some(local) => Some(local),
            None => self.wrong_operand(operand, expected, Some(help)),
        }
    }

    fn on_object(&mut self, kind: MbarrierKind, operand: &'a Operand) -> Option<Op> {
        let (objects, index): (ObjectsId, Option<Expr>) = self.object(operand)?;
        Some(Op::from(MbarrierOp { kind, objects, index }))
    }

    /// The location that a copy writes, `None` for `_`.
    fn copied_to(&mut self, operand: &'a Operand) -> Option<Option<(ArrayId, Option<Expr>)>> {
        if name_of(operand) == Some("_") {
            return Some(None);
        }
        self.place(operand).map(Some)
    }
}
