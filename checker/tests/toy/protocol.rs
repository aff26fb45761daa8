//! Protocols of the toy barrier system, as data and as text.

use std::fmt::Write;
use std::ops::Range;

/// The statement that says how many threads there are.
const GROUP: &str = "thread_group";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum AccessKind {
    Read,
    Write,
    Atomic,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stmt {
    /// An arrival; one that blocks is a `toy.sync`.
    Arrive { barrier: i64, count: i64, blocks: bool },
    /// An access to the location of this number.
    Access(AccessKind, usize),
    /// A private choice.
    If(Vec<Stmt>, Vec<Stmt>),
    /// For ever.
    Loop(Vec<Stmt>),
    /// So many times.
    For(usize, Vec<Stmt>),
    /// As long as a private choice says so.
    While(Vec<Stmt>),
}

impl Stmt {
    /// The lists of statements inside.
    pub(crate) fn arms(&self) -> Vec<&Vec<Stmt>> {
        match self {
            Stmt::Arrive { .. } | Stmt::Access(..) => Vec::new(),
            Stmt::If(then, other) => vec![then, other],
            Stmt::Loop(body) | Stmt::For(_, body) | Stmt::While(body) => vec![body],
        }
    }

    /// The same lists, to be changed.
    pub(crate) fn arms_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::Arrive { .. } | Stmt::Access(..) => Vec::new(),
            Stmt::If(then, other) => vec![then, other],
            Stmt::Loop(body) | Stmt::For(_, body) | Stmt::While(body) => vec![body],
        }
    }

    /// Whether whoever executes it makes a step in any case.
    fn makes_a_step(&self) -> bool {
        match self {
            Stmt::Arrive { .. } | Stmt::Access(..) | Stmt::If(..) | Stmt::While(_) => true,
            Stmt::Loop(body) => makes_a_step(body),
            Stmt::For(times, body) => *times > 0 && makes_a_step(body),
        }
    }

    fn well_formed(&self) -> bool {
        let is_idle_for_ever = matches!(self, Stmt::Loop(body) if !makes_a_step(body));
        !is_idle_for_ever && self.arms().into_iter().flatten().all(Stmt::well_formed)
    }
}

fn makes_a_step(list: &[Stmt]) -> bool {
    list.iter().any(Stmt::makes_a_step)
}

/// Threads that run one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Role {
    pub(crate) threads: Range<usize>,
    pub(crate) body: Vec<Stmt>,
}

/// Each thread has exactly one role, and the roles stand in the order of their threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Protocol {
    pub(crate) locations: usize,
    pub(crate) roles: Vec<Role>,
}

impl Protocol {
    pub(crate) fn threads(&self) -> usize {
        self.roles.last().map_or(0, |role| role.threads.end)
    }

    /// Whether no thread can go round for ever without a step.
    pub(crate) fn well_formed(&self) -> bool {
        self.roles.iter().flat_map(|role| &role.body).all(Stmt::well_formed)
    }

    /// The protocol's source text.
    pub(crate) fn text(&self) -> String {
        let mut out = format!("target toy;\n{GROUP} {};\n", self.threads());
        for location in 0..self.locations {
            let _ = writeln!(out, "shared x{location};");
        }
        for role in &self.roles {
            let Range { start, end } = role.threads;
            let threads =
                if end - start == 1 { format!("thread {start}") } else { format!("threads {start}..{end}") };
            let _ = writeln!(out, "{threads} {{");
            let mut printer = Printer { out: &mut out, depth: 1, counters: 0 };
            printer.list(&role.body);
            out.push_str("}\n");
        }
        out
    }
}

struct Printer<'a> {
    out: &'a mut String,
    depth: usize,
    /// How many loops count around here: each has a variable of its own.
    counters: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", 4 * self.depth);
    }

    fn list(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.stmt(stmt);
        }
    }

    fn inside(&mut self, list: &[Stmt]) {
        self.depth += 1;
        self.list(list);
        self.depth -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Arrive { barrier, count, blocks } => {
                let word = if *blocks { "toy.sync" } else { "toy.arrive" };
                self.line(&format!("{word} {}, {};", number(*barrier), number(*count)));
            }
            Stmt::Access(kind, location) => {
                let word = match kind {
                    AccessKind::Read => "read",
                    AccessKind::Write => "write",
                    AccessKind::Atomic => "atomic",
                };
                self.line(&format!("{word} x{location};"));
            }
            Stmt::If(then, other) => {
                self.line("if ? {");
                self.inside(then);
                if !other.is_empty() {
                    self.line("} else {");
                    self.inside(other);
                }
                self.line("}");
            }
            Stmt::Loop(body) => self.block("loop", body),
            Stmt::While(body) => self.block("while ?", body),
            Stmt::For(times, body) => {
                let head = format!("for i{} in 0..{times}", self.counters);
                self.counters += 1;
                self.block(&head, body);
                self.counters -= 1;
            }
        }
    }

    fn block(&mut self, head: &str, body: &[Stmt]) {
        self.line(&format!("{head} {{"));
        self.inside(body);
        self.line("}");
    }
}

/// An operand; a sign does not stand by itself.
fn number(n: i64) -> String {
    if n < 0 { format!("({n})") } else { n.to_string() }
}

// Short ways to write protocols.

/// `toy.arrive barrier, count`.
pub(crate) fn arrive(barrier: i64, count: i64) -> Stmt {
    Stmt::Arrive { barrier, count, blocks: false }
}

/// `toy.sync barrier, count`.
pub(crate) fn sync(barrier: i64, count: i64) -> Stmt {
    Stmt::Arrive { barrier, count, blocks: true }
}

pub(crate) fn read(location: usize) -> Stmt {
    Stmt::Access(AccessKind::Read, location)
}

pub(crate) fn write(location: usize) -> Stmt {
    Stmt::Access(AccessKind::Write, location)
}

pub(crate) fn atomic(location: usize) -> Stmt {
    Stmt::Access(AccessKind::Atomic, location)
}

/// A protocol of roles that have so many threads.
pub(crate) fn of_roles(locations: usize, sizes_and_bodies: Vec<(usize, Vec<Stmt>)>) -> Protocol {
    let mut roles = Vec::new();
    let mut start = 0;
    for (size, body) in sizes_and_bodies {
        roles.push(Role { threads: start..start + size, body });
        start += size;
    }
    Protocol { locations, roles }
}
