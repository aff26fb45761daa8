//! Instructions on mbarrier objects: how they are spelled, and what they lower to.

use barcheck_model::program::{ArrayId, Expr, MbarrierKind, MbarrierOp, ObjectsId, Op, Spaces};

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
    Wait,
    Copy,
    Commit,
    /// Fences that concern the asynchronous proxy: one proxy is modelled.
    ProxyFence,
}

/// Calls `add` with all spellings of the instructions on mbarrier objects, and whether each is an alias.
// clause: ptx.mbarrier-syntax
pub(super) fn spellings(mut add: impl FnMut(Mbarrier, String, bool)) {
    let plain = [
        (Mbarrier::Init, "mbarrier.init"),
        (Mbarrier::Inval, "mbarrier.inval"),
        (Mbarrier::Wait, "mbarrier.wait.parity"),
        (Mbarrier::Wait, "mbarrier.try_wait.parity"),
        (Mbarrier::Commit, "cp.async.mbarrier.arrive.noinc"),
    ];
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
                let is_alias = is_alias || name == "mbarrier.try_wait.parity";
                add(operation, format!("{name}{space}{width}"), is_alias);
            }
            for acquire in [".acquire", ".acquire.cta"] {
                let text = format!("mbarrier.try_wait.parity{acquire}{space}{width}");
                add(Mbarrier::Wait, text, true);
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
        // A state that nobody keeps.
        let operands = match (operation, instruction.operands.as_slice()) {
            (Mbarrier::Arrive { .. } | Mbarrier::ArriveExpectTx { .. }, [sink, rest @ ..])
                if name_of(sink) == Some("_") =>
            {
                rest
            }
            (_, all) => all,
        };
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
            (Mbarrier::Wait, [object, parity]) => {
                let parity = self.number(parity)?;
                return self.on_object(MbarrierKind::Wait(parity), object);
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
                return self.on_object(MbarrierKind::Arrive { count, bytes: None, drops, relaxed }, object);
            }
            (Mbarrier::ArriveExpectTx { relaxed, drops }, [object, bytes]) => {
                let bytes = Some(self.number(bytes)?);
                return self.on_object(MbarrierKind::Arrive { count: None, bytes, drops, relaxed }, object);
            }
            (Mbarrier::Copy, [to, bytes, object]) => {
                let to = self.copied_to(to);
                let bytes = self.number(bytes)?;
                return self.on_object(MbarrierKind::Copy { bytes, to: to? }, object);
            }
            (Mbarrier::ProxyFence, _) => &[],
            (Mbarrier::Inval | Mbarrier::Commit, _) => &["object"],
            (Mbarrier::Init, _) => &["object, arrivals"],
            (Mbarrier::Wait, _) => &["object, parity"],
            (Mbarrier::ExpectTx | Mbarrier::CompleteTx | Mbarrier::ArriveExpectTx { .. }, _) => {
                &["object, bytes"]
            }
            (Mbarrier::Arrive { .. }, _) => &["object[, arrivals]"],
            (Mbarrier::Copy, _) => &["location, bytes, object"],
        };
        self.wrong_count(instruction, takes)
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
