//! Instructions about asynchronous copies that concern no barrier: how they are spelled, and what they lower
//! to.

use barcheck_model::program::{Expr, Fence, Op, ProxyOp, Space, Transfer, Window};

use crate::bar::ast::{Instruction, Operand};
use crate::bar::lower::{RoleLowerer, name_of};
use crate::bar::meaning_error::MeaningError;

/// What such an instruction does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Proxy {
    /// A copy begins: out of shared memory, or a `cp.async` into it.
    Begin(Transfer),
    /// Copies become a group.
    Commit(Transfer),
    /// Waits for all groups but the newest ones.
    Wait(Transfer),
    /// Waits for all copies.
    WaitAll,
    /// `fence.proxy.async`.
    Fence(Window),
    /// `fence.proxy.tensormap`, which orders what is not modelled; the flag says that it acquires.
    TensorMap(bool),
}

/// Calls `add` with all spellings, and whether each is an alias.
// clause: ptx.proxy-syntax
pub(super) fn spellings(mut add: impl FnMut(Proxy, String, bool)) {
    for copy in ["cp.async.bulk", "cp.reduce.async.bulk"] {
        for tensor in ["", ".tensor"] {
            for from in ["", ".shared::cta", ".shared::cta.bulk_group"] {
                let is_alias = !(tensor.is_empty() && from.is_empty());
                add(Proxy::Begin(Transfer::Store), format!("{copy}{tensor}.global{from}"), is_alias);
            }
        }
    }
    // clause: ptx.cp-async
    for cached in ["", ".ca", ".cg"] {
        for from in ["", ".shared.global", ".shared::cta.global"] {
            let is_alias = !(cached.is_empty() && from.is_empty());
            add(Proxy::Begin(Transfer::Fill), format!("cp.async{cached}{from}"), is_alias);
        }
    }
    add(Proxy::Commit(Transfer::Fill), "cp.async.commit_group".to_owned(), false);
    add(Proxy::Wait(Transfer::Fill), "cp.async.wait_group".to_owned(), false);
    add(Proxy::WaitAll, "cp.async.wait_all".to_owned(), false);
    add(Proxy::Commit(Transfer::Store), "cp.async.bulk.commit_group".to_owned(), false);
    add(Proxy::Wait(Transfer::Store), "cp.async.bulk.wait_group".to_owned(), false);
    add(Proxy::Wait(Transfer::Store), "cp.async.bulk.wait_group.read".to_owned(), false);
    for scope in ["cta", "cluster", "gpu", "sys"] {
        for (order, acquires) in [("release", false), ("acquire", true)] {
            let text = format!("fence.proxy.tensormap::generic.{order}.{scope}");
            add(Proxy::TensorMap(acquires), text, scope != "gpu");
        }
    }
    let windows = [
        ("", Window::All),
        (".shared::cta", Window::OwnCta),
        (".shared::cluster", Window::Cluster),
        (".global", Window::Global),
    ];
    for (text, window) in windows {
        add(Proxy::Fence(window), format!("fence.proxy.async{text}"), !text.is_empty());
    }
}

impl<'a> RoleLowerer<'_, 'a> {
    /// What such an instruction lowers to.
    pub(super) fn proxy(&mut self, instruction: &'a Instruction, operation: Proxy) -> Option<Op> {
        let op = match (operation, instruction.operands.as_slice()) {
            (Proxy::Begin(transfer), [at]) => self.begun(transfer, at)?,
            (Proxy::Begin(transfer), [at, bytes]) => self.begun_of(transfer, at, bytes)?,
            // The other side is global memory.
            (Proxy::Begin(Transfer::Store), [other, at, bytes]) if name_of(other) == Some("_") => {
                self.begun_of(Transfer::Store, at, bytes)?
            }
            (Proxy::Begin(Transfer::Fill), [at, other, bytes]) if name_of(other) == Some("_") => {
                self.begun_of(Transfer::Fill, at, bytes)?
            }
            (Proxy::Commit(transfer), []) => ProxyOp::Commit(transfer),
            (Proxy::Wait(transfer), [newest]) => {
                ProxyOp::Wait(transfer, Some(self.newest(transfer, newest)?))
            }
            (Proxy::WaitAll, []) => ProxyOp::Wait(Transfer::Fill, None),
            (Proxy::Fence(window), []) => {
                if window != Window::Global {
                    self.context.fences.fence();
                }
                ProxyOp::Fence(window)
            }
            // clause: ptx.tensor-map-proxy
            (Proxy::TensorMap(false), []) => return Some(Op::Fence(Fence::Nothing)),
            (Proxy::TensorMap(true), [map, bytes]) if name_of(map) == Some("_") => {
                self.number(bytes)?;
                return Some(Op::Fence(Fence::Nothing));
            }
            _ => return self.wrong_count(instruction, takes(operation)),
        };
        Some(Op::Proxy(op))
    }

    /// The same with the bytes of a copy, which nothing depends on.
    fn begun_of(&mut self, transfer: Transfer, at: &'a Operand, bytes: &'a Operand) -> Option<ProxyOp> {
        let begun = self.begun(transfer, at);
        self.number(bytes)?;
        begun
    }

    /// The location that a copy reads, or writes.
    // clause: ptx.bulk-store, ptx.cp-async
    fn begun(&mut self, transfer: Transfer, at: &'a Operand) -> Option<ProxyOp> {
        let (of_others, help) = match transfer {
            Transfer::Store => (
                "a copy to global memory reads what its own CTA shares",
                "it is the source that is written here, `cp.async.bulk.global buf[0];` with `shared buf[4];`; where \
                 the copy goes is left out",
            ),
            Transfer::Fill => (
                "a `cp.async` writes what its own CTA shares",
                "it is the destination that is written here, `cp.async buf[0];` with `shared buf[4];`; where the copy \
                 comes from is left out",
            ),
        };
        if let Some(cta) = &at.cta {
            let expected = "a location of the own CTA".to_owned();
            let help = Some(of_others.to_owned());
            self.report(&MeaningError::Operand { expected, span: cta.span, help });
            return None;
        }
        let (array, index) = self.place(at)?;
        if self.space_of(array) != Space::Shared {
            return self.wrong_operand(at, "a location in shared memory", Some(help));
        }
        Some(ProxyOp::Begin(transfer, array, index))
    }

    /// How many of the newest groups may not have finished.
    // clause: ptx.bulk-wait-group, ptx.cp-async-wait-group
    fn newest(&mut self, transfer: Transfer, operand: &'a Operand) -> Option<u32> {
        let help = match transfer {
            Transfer::Store => {
                "how many of the newest groups may not have finished: `cp.async.bulk.wait_group.read 0;`"
            }
            Transfer::Fill => "how many of the newest groups may not have finished: `cp.async.wait_group 0;`",
        };
        match self.number(operand)? {
            Expr::Int(newest) if u32::try_from(newest).is_ok() => u32::try_from(newest).ok(),
            _ => self.wrong_operand(operand, "a constant that is not negative", Some(help)),
        }
    }
}

/// What the operands of an instruction are.
fn takes(operation: Proxy) -> &'static [&'static str] {
    match operation {
        Proxy::Begin(_) => &["location[, bytes]"],
        Proxy::Wait(_) => &["groups"],
        Proxy::TensorMap(true) => &["_, bytes"],
        Proxy::Commit(_) | Proxy::WaitAll | Proxy::Fence(_) | Proxy::TensorMap(false) => &[],
    }
}
