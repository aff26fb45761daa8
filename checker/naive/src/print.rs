//! The protocol as `.bar` text.

use super::protocol::*;
use std::fmt::Write;

impl Protocol {
    /// The protocol's source text.
    pub fn text(&self) -> String {
        let mut out = format!("target {};\n", self.target.name());
        let size = match self.target {
            Target::Ptx | Target::Bcu => "cta",
            Target::Nbarrier => "thread_group",
            Target::Split | Target::Xegpu => "workgroup",
        };
        if self.cluster > 1 {
            let _ = writeln!(out, "cluster {};", self.cluster);
        }
        let _ = writeln!(out, "{size} {};", self.size);
        out.extend(self.registers.map(|n| format!("maxnreg {n};\n")));
        if self.repeats {
            out.push_str("repeated_arrivals count;\n");
        }
        let whole = (self.target == Target::Split).then_some(self.size);
        if let Some(n) = self.subgroup_size.or(whole) {
            let _ = writeln!(out, "subgroup_size {n};");
        }
        for array in &self.arrays {
            let space = match array.space {
                Space::Shared => "shared",
                Space::Global => "global",
            };
            let len = array.len.map(|n| format!("[{n}]")).unwrap_or_default();
            let _ = writeln!(out, "{space} {}{len};", array.name);
        }
        for objects in &self.objects {
            let len = objects.len.map(|n| format!("[{n}]")).unwrap_or_default();
            let count = objects.count.map(|n| format!(" count {n}")).unwrap_or_default();
            let _ = writeln!(out, "mbarrier {}{len}{count};", objects.name);
        }
        for block in &self.blocks {
            let (one, own) = unit(self.target);
            let r = &block.agents;
            let range = if r.len() == 1 {
                format!("{one} {}", r.start)
            } else {
                format!("{own} {}..{}", r.start, r.end)
            };
            let role = block.role.as_ref().map(|n| format!(" as {n}"));
            let _ = writeln!(out, "{range}{} {{", role.unwrap_or_default());
            let mut p = Printer { protocol: self, out: &mut out, depth: 1 };
            p.stmts(&block.body);
            out.push_str("}\n");
        }
        out
    }
}

/// The word for one agent and for several.
fn unit(target: Target) -> (&'static str, &'static str) {
    match target {
        Target::Ptx | Target::Bcu => ("warp", "warps"),
        Target::Nbarrier => ("thread", "threads"),
        Target::Split => ("invocation", "invocations"),
        Target::Xegpu => ("subgroup", "subgroups"),
    }
}

/// A name as the text shows it.
pub fn shown(name: &str) -> &str {
    name.split('#').next().unwrap_or(name)
}

pub struct Printer<'a> {
    pub protocol: &'a Protocol,
    out: &'a mut String,
    depth: usize,
}

impl Printer<'_> {
    pub fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn block(&mut self, head: &str, body: &[Stmt]) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.stmts(body);
        self.depth -= 1;
        self.line("}");
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            Kind::For { var, from, to, body } => {
                let head = format!("for {} in {}..{}", shown(var), self.e(from), self.e(to));
                self.block(&head, body);
            }
            Kind::Loop(body) => self.block("loop", body),
            Kind::While(cond, body) => {
                let head = format!("while {}", self.cond(cond));
                self.block(&head, body);
            }
            Kind::If(cond, then, other) => self.branch(cond, then, other),
            Kind::Guard { negated, name, instr } => {
                if let Kind::Instr(i) = &instr.kind {
                    let bang = if *negated { "!" } else { "" };
                    let text = format!("@{bang}{} {};", shown(name), self.instr(i));
                    self.line(&text);
                }
            }
            Kind::Instr(Instr::Mbarrier(on @ Mbarrier { act: Act::AskUntil(asking, _), .. })) => {
                self.ask_until(stmt.id, on, *asking);
            }
            simple => {
                let text = format!("{};", self.simple(simple));
                self.line(&text);
            }
        }
    }

    fn branch(&mut self, cond: &Cond, then: &[Stmt], other: &[Stmt]) {
        let head = format!("if {} {{", self.cond(cond));
        self.line(&head);
        self.depth += 1;
        self.stmts(then);
        self.depth -= 1;
        if !other.is_empty() {
            self.line("} else {");
            self.depth += 1;
            self.stmts(other);
            self.depth -= 1;
        }
        self.line("}");
    }

    fn simple(&self, kind: &Kind) -> String {
        match kind {
            Kind::Let(name, rhs) => format!("let {} = {}", shown(name), self.rhs(rhs)),
            Kind::Assign(name, rhs) => format!("{} = {}", shown(name), self.rhs(rhs)),
            Kind::Access { kind, array, index, cta } => {
                let word = match kind {
                    AccessKind::Read => "read",
                    AccessKind::Write => "write",
                    AccessKind::Atomic => "atomic",
                    AccessKind::Copy | AccessKind::Fill | AccessKind::Reduction | AccessKind::Source => {
                        unreachable!("no statement is a copy's access")
                    }
                };
                let place = self.place(&self.protocol.arrays[*array].name, index.as_ref());
                format!("{word} {place}{}", self.at(cta.as_ref()))
            }
            Kind::Break => "break".into(),
            Kind::Continue => "continue".into(),
            Kind::Exit => "exit".into(),
            Kind::Assert(e) => format!("assert {}", self.e(e)),
            Kind::Instr(i) => self.instr(i),
            _ => unreachable!("compound statements are printed as blocks"),
        }
    }

    /// A location or object.
    pub fn place(&self, name: &str, index: Option<&Expr>) -> String {
        let index = index.map(|e| format!("[{}]", self.e(e)));
        format!("{name}{}", index.unwrap_or_default())
    }

    fn cond(&self, cond: &Cond) -> String {
        match cond {
            Cond::Expr(e) => self.e(e),
            Cond::Choice => "?".into(),
            Cond::Ask { negated, on } => {
                let bang = if *negated { "!" } else { "" };
                format!("{bang}{}", self.mbarrier(on))
            }
            Cond::Uniform(None) => "uniform ?".into(),
            Cond::Uniform(Some(n)) => format!("uniform {n} ?"),
        }
    }

    fn rhs(&self, rhs: &Rhs) -> String {
        match rhs {
            Rhs::Expr(e) => self.e(e),
            Rhs::Any(a, b) => format!("any {}..{}", self.e(a), self.e(b)),
            Rhs::On(on) => self.mbarrier(on),
        }
    }

    pub fn e(&self, expr: &Expr) -> String {
        self.expr(expr, 0)
    }

    /// An expression, in parentheses if it binds less tightly than its surroundings.
    fn expr(&self, expr: &Expr, outer: u8) -> String {
        match expr {
            Expr::Int(n) if *n < 0 => format!("({n})"),
            Expr::Int(n) => n.to_string(),
            Expr::Var(name) => shown(name).to_string(),
            Expr::Own => unit(self.protocol.target).0.to_string(),
            Expr::Lane => "lane".into(),
            Expr::Rank => "cluster_ctarank".into(),
            Expr::Neg(e) => format!("-{}", self.expr(e, 11)),
            Expr::Not(e) => format!("!{}", self.expr(e, 11)),
            Expr::Bin(op, a, b) => {
                let (sign, level) = binary(*op);
                // Comparisons do not chain, so neither side may be another one.
                let left = if level == 3 { 4 } else { level };
                let text = format!("{} {sign} {}", self.expr(a, left), self.expr(b, level + 1));
                if level < outer { format!("({text})") } else { text }
            }
        }
    }

    fn with_count(&self, id: &Expr, count: Option<&Expr>) -> String {
        match count {
            None => self.e(id),
            Some(n) => format!("{}, {}", self.e(id), self.e(n)),
        }
    }

    fn pred(&self, pred: &Pred) -> String {
        match pred {
            Pred::Any => "?".into(),
            Pred::Expr { negated, expr } => {
                let bang = if *negated { "!" } else { "" };
                format!("{bang}{}", self.expr(expr, if *negated { 11 } else { 0 }))
            }
        }
    }

    fn instr(&self, instr: &Instr) -> String {
        match self.protocol.target {
            Target::Ptx => self.ptx(instr),
            Target::Bcu => self.bcu(instr),
            Target::Nbarrier => self.nbarrier(instr),
            Target::Split => self.split(instr),
            Target::Xegpu => self.xegpu(instr),
        }
    }

    fn ptx(&self, instr: &Instr) -> String {
        let word = |aligned: &bool| if *aligned { "bar" } else { "barrier" };
        match instr {
            Instr::Sync { id, count, aligned } => {
                format!("{}.sync {}", word(aligned), self.with_count(id, count.as_ref()))
            }
            Instr::Arrive { id, count, aligned } => {
                let operands = self.with_count(id, count.as_ref());
                format!("{}.arrive {operands}", word(aligned))
            }
            Instr::Red { op, dest, id, count, pred, aligned } => {
                let (name, kind) = match op {
                    RedOp::And => ("and", "pred"),
                    RedOp::Or => ("or", "pred"),
                    RedOp::Popc => ("popc", "u32"),
                };
                let dest = dest.as_ref().map_or("_", |d| shown(d));
                let operands = self.with_count(id, count.as_ref());
                let (word, pred) = (word(aligned), self.pred(pred));
                format!("{word}.red.{name}.{kind} {dest}, {operands}, {pred}")
            }
            Instr::Own(own) => own.text(&|count| self.e(count)),
            Instr::PtxFence(fence) => fence.text(),
            Instr::Mbarrier(on) => self.mbarrier(on),
            Instr::Store(store) => {
                store.text(|array, index| self.place(&self.protocol.arrays[array].name, index))
            }
            Instr::Fill(fill) => {
                fill.text(|array, index| self.place(&self.protocol.arrays[array].name, index))
            }
            Instr::ClusterArrive { relaxed, aligned } => {
                let order = if *relaxed { ".relaxed" } else { "" };
                let aligned = if *aligned { ".aligned" } else { "" };
                format!("barrier.cluster.arrive{order}{aligned}")
            }
            Instr::ClusterWait { aligned: true } => "barrier.cluster.wait.aligned".into(),
            Instr::ClusterWait { aligned: false } => "barrier.cluster.wait".into(),
            other => unreachable!("not an instruction of ptx: {other:?}"),
        }
    }

    /// The CTA that is meant, if it is said.
    pub fn at(&self, cta: Option<&Expr>) -> String {
        cta.map(|cta| format!(" @ cta {}", self.e(cta))).unwrap_or_default()
    }

    fn bcu(&self, instr: &Instr) -> String {
        let red = |op: &RedOp| match op {
            RedOp::And => "AND",
            RedOp::Or => "OR",
            RedOp::Popc => "POPC",
        };
        match instr {
            Instr::BarSync { id, count } => {
                format!("BAR.SYNC {}", self.with_count(id, count.as_ref()))
            }
            Instr::BarArv { id, count } => format!("BAR.ARV {}", self.with_count(id, Some(count))),
            Instr::BarRed { op, id, count, pred } => {
                let operands = self.with_count(id, count.as_ref());
                format!("BAR.RED.{} {operands}, {}", red(op), self.pred(pred))
            }
            Instr::BarRedPacked { op, packed, pred } => {
                format!("BAR.RED.{} {packed}, {}", red(op), self.pred(pred))
            }
            Instr::B2rResult { rd, pu: None } => format!("B2R.RESULT {rd}"),
            Instr::B2rResult { rd, pu: Some(pu) } => format!("B2R.RESULT {rd}, {pu}"),
            Instr::B2rBar { rd, id } => format!("B2R.BAR {rd}, {}", self.e(id)),
            Instr::B2rWarp { rd, id: None } => format!("B2R.WARP {rd}"),
            Instr::B2rWarp { rd, id: Some(id) } => format!("B2R.WARP {rd}, {}", self.e(id)),
            Instr::R2bBar { id, ra } => format!("R2B.BAR {}, {ra}", self.e(id)),
            Instr::R2bWarp { id: None, ra } => format!("R2B.WARP {ra}"),
            Instr::R2bWarp { id: Some(id), ra } => format!("R2B.WARP {}, {ra}", self.e(id)),
            other => unreachable!("not an instruction of bcu: {other:?}"),
        }
    }

    fn nbarrier(&self, instr: &Instr) -> String {
        match instr {
            Instr::SignalAll { id, threads } => {
                format!("nbarrier.signal {}, {}", self.e(id), self.e(threads))
            }
            Instr::Signal { id, kind, producers, consumers } => {
                let parts = [id, kind, producers, consumers].map(|e| self.e(e));
                format!("nbarrier.signal {}", parts.join(", "))
            }
            Instr::Wait { id } => format!("nbarrier.wait {}", self.e(id)),
            Instr::Fence(None) => "fence".into(),
            Instr::Fence(Some(Space::Shared)) => "fence.slm".into(),
            Instr::Fence(Some(Space::Global)) => "fence.ugm".into(),
            other => unreachable!("not an instruction of nbarrier: {other:?}"),
        }
    }

    fn split(&self, instr: &Instr) -> String {
        let operands = |scope: &Scope, memory: &Scope, semantics: &Semantics| {
            format!("{scope:?}, {memory:?}, {}", semantics_text(semantics))
        };
        match instr {
            Instr::SplitArrive { scope, memory, semantics } => {
                let operands = operands(scope, memory, semantics);
                format!("OpControlBarrierArriveINTEL {operands}")
            }
            Instr::SplitWait { scope, memory, semantics } => {
                let operands = operands(scope, memory, semantics);
                format!("OpControlBarrierWaitINTEL {operands}")
            }
            Instr::ControlBarrier { scope, memory, semantics } => {
                format!("OpControlBarrier {}", operands(scope, memory, semantics))
            }
            Instr::MemoryBarrier { memory, semantics } => {
                format!("OpMemoryBarrier {memory:?}, {}", semantics_text(semantics))
            }
            other => unreachable!("not an instruction of split_barrier: {other:?}"),
        }
    }

    fn xegpu(&self, instr: &Instr) -> String {
        match instr {
            Instr::Alloc(n) => format!("xegpu.alloc_nbarrier {}", self.e(n)),
            Instr::Init { handle, id, threads } => {
                format!("%{} = xegpu.init_nbarrier {}, {}", shown(handle), self.e(id), self.e(threads))
            }
            Instr::HandleArrive(h) => format!("xegpu.nbarrier_arrive %{}", shown(h)),
            Instr::HandleWait(h) => format!("xegpu.nbarrier_wait %{}", shown(h)),
            Instr::Mfence(None) => "xegpu.mfence".into(),
            Instr::Mfence(Some(space)) => {
                let kind = match space {
                    Space::Shared => "slm",
                    Space::Global => "ugm",
                };
                format!(
                    "xegpu.mfence {{memory_kind = \"{kind}\", fence_op = \"none\", \
                     fence_scope = \"local\"}}"
                )
            }
            Instr::CompileHint => "xegpu.compile_hint {hint = schedule_barrier}".into(),
            other => unreachable!("not an instruction of xegpu: {other:?}"),
        }
    }
}

fn semantics_text(s: &Semantics) -> String {
    let mut parts = Vec::new();
    if let Some(order) = s.order {
        parts.push(format!("{order:?}"));
    }
    if s.workgroup_memory {
        parts.push("WorkgroupMemory".into());
    }
    if s.cross_workgroup_memory {
        parts.push("CrossWorkgroupMemory".into());
    }
    if s.image_memory {
        parts.push("ImageMemory".into());
    }
    if parts.is_empty() { "None".into() } else { parts.join("|") }
}

/// An operator's sign and how tightly it binds, as in Rust.
fn binary(op: Op) -> (&'static str, u8) {
    match op {
        Op::Mul => ("*", 9),
        Op::Div => ("/", 9),
        Op::Rem => ("%", 9),
        Op::Add => ("+", 8),
        Op::Sub => ("-", 8),
        Op::Shl => ("<<", 7),
        Op::Shr => (">>", 7),
        Op::BitAnd => ("&", 6),
        Op::BitXor => ("^", 5),
        Op::BitOr => ("|", 4),
        Op::Eq => ("==", 3),
        Op::Ne => ("!=", 3),
        Op::Lt => ("<", 3),
        Op::Le => ("<=", 3),
        Op::Gt => (">", 3),
        Op::Ge => (">=", 3),
        Op::And => ("&&", 2),
        Op::Or => ("||", 1),
    }
}
