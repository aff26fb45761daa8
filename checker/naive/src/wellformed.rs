//! Whether a protocol's text is one that the language accepts: names are declared before they are
//! used, and jumps stand in loops. What mutation and shrinking make is checked by this.

use super::expr::is_register;
use super::print::shown;
use super::protocol::*;
use std::collections::BTreeSet;

/// The objects that are named by the rank of a CTA, or by a mask of them, by the number of their name.
pub fn named_by_rank(list: &[Stmt]) -> BTreeSet<usize> {
    let mut named = BTreeSet::new();
    for stmt in list {
        named.extend(stmt.on().filter(|on| is_by_rank(on)).map(|on| on.objects));
        named.extend(stmt.arms().into_iter().flat_map(named_by_rank));
    }
    named
}

fn is_by_rank(on: &Mbarrier) -> bool {
    let is_for_all =
        matches!(on.act, Act::Multicast(..) | Act::CommitAll(_) | Act::Cancel { everywhere: true, .. });
    on.cta.is_some() || is_for_all
}

/// Whether waits that acquire from the own CTA alone are on objects on which no other one arrives.
fn waits_are_wide(protocol: &Protocol) -> bool {
    let bodies = || protocol.blocks.iter().flat_map(|block| &block.body);
    let named: BTreeSet<usize> =
        protocol.blocks.iter().flat_map(|block| named_by_rank(&block.body)).collect();
    let is_narrow = |stmt: &Stmt| {
        let on = stmt.on().filter(|on| on.gains == Gains::AtFence(Some(Reach::Cta)));
        on.is_some_and(|on| named.contains(&on.objects))
    };
    !bodies().any(|stmt| stmt.any(&is_narrow))
}

pub fn well_formed(protocol: &Protocol) -> bool {
    waits_are_wide(protocol)
        && protocol.blocks.iter().all(|block| {
            let mut check = Check {
                target: protocol.target,
                ctas: protocol.cluster,
                scopes: Vec::new(),
                handles: BTreeSet::new(),
                loops: 0,
            };
            check.list(&block.body)
        })
}

struct Check {
    target: Target,
    ctas: usize,
    /// Names in scope, innermost last.
    scopes: Vec<Vec<Name>>,
    /// Handles that an instruction further up yields.
    handles: BTreeSet<Name>,
    loops: usize,
}

impl Check {
    fn list(&mut self, stmts: &[Stmt]) -> bool {
        self.scopes.push(Vec::new());
        let good = stmts.iter().all(|s| self.stmt(s));
        self.scopes.pop();
        good
    }

    fn body(&mut self, stmts: &[Stmt]) -> bool {
        self.loops += 1;
        let good = self.list(stmts);
        self.loops -= 1;
        good
    }

    /// Whether a name, as printed, is in scope and means what it should.
    fn known(&self, name: &Name) -> bool {
        if self.target == Target::Bcu && is_register(name) {
            return true;
        }
        let mut names = self.scopes.iter().rev().flat_map(|s| s.iter().rev());
        names.find(|n| shown(n) == shown(name)) == Some(name)
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            Kind::For { var, from, to, body } => {
                let nested = self.scopes.iter().flatten().any(|n| n == var);
                if nested || !self.expr(from) || !self.expr(to) {
                    return false;
                }
                self.scopes.push(vec![var.clone()]);
                let good = self.body(body);
                self.scopes.pop();
                good
            }
            Kind::Loop(body) => self.body(body),
            Kind::While(cond, body) => self.cond(cond) && self.body(body),
            Kind::If(cond, then, other) => self.cond(cond) && self.list(then) && self.list(other),
            Kind::Guard { name, instr, .. } => self.known(name) && self.stmt(instr),
            Kind::Let(name, rhs) => {
                let taken = self.scopes.iter().flatten().any(|n| shown(n) == shown(name));
                if taken || !self.rhs(rhs) {
                    return false;
                }
                let scope = self.scopes.last_mut().expect("inside a list");
                scope.push(name.clone());
                true
            }
            Kind::Assign(name, rhs) => self.known(name) && self.rhs(rhs),
            Kind::Access { index, cta, .. } => {
                self.rank(cta.as_ref()) && self.all([index.as_ref(), cta.as_ref()])
            }
            Kind::Break | Kind::Continue => self.loops > 0,
            Kind::Exit => true,
            Kind::Assert(e) => self.expr(e),
            Kind::Instr(i) => self.instr(i),
        }
    }

    fn cond(&self, cond: &Cond) -> bool {
        match cond {
            Cond::Expr(e) => self.expr(e),
            Cond::Choice | Cond::Uniform(_) => true,
            Cond::Ask { on, .. } => self.mbarrier(on),
        }
    }

    fn rhs(&self, rhs: &Rhs) -> bool {
        match rhs {
            Rhs::Expr(e) => self.expr(e),
            Rhs::Any(a, b) => self.expr(a) && self.expr(b),
            Rhs::On(on) => self.mbarrier(on) && on.cta.is_none(),
        }
    }

    fn expr(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Int(_) | Expr::Own | Expr::Rank => true,
            Expr::Lane => self.target.has_lanes(),
            Expr::Var(name) => self.known(name),
            Expr::Neg(e) | Expr::Not(e) => self.expr(e),
            Expr::Bin(_, a, b) => self.expr(a) && self.expr(b),
        }
    }

    fn pred(&self, pred: &Pred) -> bool {
        match pred {
            Pred::Any => true,
            Pred::Expr { expr, .. } => self.expr(expr),
        }
    }

    fn instr(&mut self, instr: &Instr) -> bool {
        match instr {
            Instr::Sync { id, count, .. }
            | Instr::Arrive { id, count, .. }
            | Instr::BarSync { id, count } => self.all([Some(id), count.as_ref()]),
            Instr::Red { dest, id, count, pred, .. } => {
                dest.as_ref().is_none_or(|d| self.known(d))
                    && self.all([Some(id), count.as_ref()])
                    && self.pred(pred)
            }
            Instr::Mbarrier(on) => self.mbarrier(on),
            Instr::Own(Own::Sync(n) | Own::Registers { count: n, .. }) => self.expr(n),
            Instr::Store(Store::Read { index, .. }) | Instr::Fill(Fill::Begin { index, .. }) => {
                self.all([index.as_ref()])
            }
            Instr::BarArv { id, count } => self.all([Some(id), Some(count)]),
            // A bare register without a count is the packed form.
            Instr::BarRed { id: Expr::Var(name), count: None, .. } if is_register(name) => false,
            Instr::BarRed { id, count, pred, .. } => self.all([Some(id), count.as_ref()]) && self.pred(pred),
            Instr::BarRedPacked { pred, .. } => self.pred(pred),
            Instr::SignalAll { id, threads } => self.all([Some(id), Some(threads)]),
            Instr::Signal { id, kind, producers, consumers } => {
                self.all([id, kind, producers, consumers].map(Some))
            }
            Instr::Wait { id } | Instr::B2rBar { id, .. } | Instr::R2bBar { id, .. } => self.expr(id),
            Instr::Alloc(n) => self.expr(n),
            Instr::Init { handle, id, threads } => {
                self.handles.insert(handle.clone());
                self.all([Some(id), Some(threads)])
            }
            Instr::HandleArrive(h) | Instr::HandleWait(h) => self.handles.contains(h),
            _ => true,
        }
    }

    fn mbarrier(&self, on: &Mbarrier) -> bool {
        let token = match &on.act {
            Act::WaitToken(name)
            | Act::AskUntil(_, Phase::Token(name))
            | Act::Ask { of: Phase::Token(name), .. } => self.known(name),
            _ => true,
        };
        if let Act::Multicast(_, _, mask) | Act::CommitAll(mask) = &on.act
            && !(1..1 << self.ctas).contains(mask)
        {
            return false;
        }
        if let Act::Arrive { count, bytes, no_complete: true, relaxed, scope, .. } = &on.act {
            // It has a count, is for the own CTA, and nothing else can be said of it.
            let is_plain = bytes.is_none() && !relaxed && *scope != Some(Reach::Cluster);
            if count.is_none() || !is_plain || on.cta.is_some() {
                return false;
            }
        }
        if on.gains != Gains::All && !on.act.is_for_a_phase() {
            return false;
        }
        let elsewhere = matches!(
            on.act,
            Act::Arrive { .. }
                | Act::ExpectTx(_)
                | Act::CompleteTx(_)
                | Act::Copy(..)
                | Act::Send(..)
                | Act::Between { .. }
                | Act::Commit
        );
        token
            && (on.cta.is_none() || elsewhere)
            && self.rank(on.cta.as_ref())
            && on.operands().iter().all(|e| self.expr(e))
    }

    /// Whether a rank that is written as a number is one of a CTA.
    fn rank(&self, cta: Option<&Expr>) -> bool {
        !matches!(cta, Some(Expr::Int(rank)) if !(0..self.ctas as i64).contains(rank))
    }

    fn all<const N: usize>(&self, exprs: [Option<&Expr>; N]) -> bool {
        exprs.iter().flatten().all(|e| self.expr(e))
    }
}
