//! Instructions of the asynchronous proxy that concern no barrier: how they are spelled, and what they lower
//! to.

use barcheck_model::program::{Expr, Op, ProxyOp, Space, Window};

use crate::bar::ast::{Instruction, Operand};
use crate::bar::lower::RoleLowerer;
use crate::bar::meaning_error::MeaningError;

/// What an instruction of the asynchronous proxy does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Proxy {
    /// A copy out of shared memory.
    Store,
    /// Copies become a group.
    Commit,
    /// Waits for all groups but the newest ones.
    Wait,
    /// `fence.proxy.async`.
    Fence(Window),
}

/// Calls `add` with all spellings, and whether each is an alias.
// clause: ptx.proxy-syntax
pub(super) fn spellings(mut add: impl FnMut(Proxy, String, bool)) {
    for copy in ["cp.async.bulk", "cp.reduce.async.bulk"] {
        for tensor in ["", ".tensor"] {
            for from in ["", ".shared::cta", ".shared::cta.bulk_group"] {
                let is_alias = !(tensor.is_empty() && from.is_empty());
                add(Proxy::Store, format!("{copy}{tensor}.global{from}"), is_alias);
            }
        }
    }
    add(Proxy::Commit, "cp.async.bulk.commit_group".to_owned(), false);
    add(Proxy::Wait, "cp.async.bulk.wait_group".to_owned(), false);
    add(Proxy::Wait, "cp.async.bulk.wait_group.read".to_owned(), false);
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
    /// What an instruction of the asynchronous proxy lowers to.
    pub(super) fn proxy(&mut self, instruction: &'a Instruction, operation: Proxy) -> Option<Op> {
        let op = match (operation, instruction.operands.as_slice()) {
            (Proxy::Store, [from]) => self.stored(from)?,
            (Proxy::Store, [from, bytes]) => {
                let from = self.stored(from);
                self.number(bytes)?;
                from?
            }
            (Proxy::Commit, []) => ProxyOp::Commit,
            (Proxy::Wait, [newest]) => ProxyOp::Wait(self.newest(newest)?),
            (Proxy::Fence(window), []) => {
                if window != Window::Global {
                    self.context.fences.fence();
                }
                ProxyOp::Fence(window)
            }
            _ => return self.wrong_count(instruction, takes(operation)),
        };
        Some(Op::Proxy(op))
    }

    /// The location that a copy reads.
    // clause: ptx.bulk-store
    fn stored(&mut self, from: &'a Operand) -> Option<ProxyOp> {
        if let Some(cta) = &from.cta {
            let expected = "a location of the own CTA".to_owned();
            let help = Some("a copy to global memory reads what its own CTA shares".to_owned());
            self.report(&MeaningError::Operand { expected, span: cta.span, help });
            return None;
        }
        let (array, index) = self.place(from)?;
        if self.space_of(array) != Space::Shared {
            let help = "it is the source that is written here, `cp.async.bulk.global buf[0];` with `shared buf[4];`; \
                        where the copy goes is left out";
            return self.wrong_operand(from, "a location in shared memory", Some(help));
        }
        Some(ProxyOp::Store(array, index))
    }

    /// How many of the newest groups may not have finished.
    // clause: ptx.bulk-wait-group
    fn newest(&mut self, operand: &'a Operand) -> Option<u32> {
        let help = "how many of the newest groups may not have finished: `cp.async.bulk.wait_group.read 0;`";
        match self.number(operand)? {
            Expr::Int(newest) if u32::try_from(newest).is_ok() => u32::try_from(newest).ok(),
            _ => self.wrong_operand(operand, "a constant that is not negative", Some(help)),
        }
    }
}

/// What the operands of an instruction are.
fn takes(operation: Proxy) -> &'static [&'static str] {
    match operation {
        Proxy::Store => &["location[, bytes]"],
        Proxy::Wait => &["groups"],
        Proxy::Commit | Proxy::Fence(_) => &[],
    }
}
