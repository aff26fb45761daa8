//! Copies into and out of memory of the group for which their thread waits, their groups, and fences.

use super::code::{Action, Argument, Awaited, Synchronisation};
use super::tree::{Statement, Statements};

/// How a copy into memory begins in protocols; what is done to groups of them begins with it.
pub(super) const FILL: &str = "cp.async";

/// The same of a copy out of it.
pub(super) const DRAIN: &str = "cp.async.bulk.global";
const DRAINS: &str = "cp.async.bulk";

/// Who is to see what threads have written: copies.
const FENCE: &str = "fence.proxy.async";

/// Whether groups are of copies into memory, or out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    Fills,
    Drains,
}

impl Groups {
    fn word(self) -> &'static str {
        match self {
            Self::Fills => FILL,
            Self::Drains => DRAINS,
        }
    }

    /// The copies of a thread become a group.
    pub(crate) fn commit(self) -> Action {
        done(format!("{}.commit_group", self.word()), Vec::new())
    }

    /// A thread waits until at most so many of its groups are pending.
    pub(crate) fn wait(self, newest: Argument) -> Action {
        done(format!("{}.wait_group {{}}", self.word()), vec![(newest, "number of groups")])
    }
}

/// A thread waits for all its copies into memory.
pub(crate) fn wait_all() -> Action {
    done(format!("{FILL}.wait_all"), Vec::new())
}

/// Copies see what a thread knows of.
pub(crate) fn fence() -> Action {
    done(FENCE.to_owned(), Vec::new())
}

/// What a thread knows goes with its later arrivals that are relaxed, as far as the scope reaches.
pub(crate) fn release(scope: &str) -> Action {
    done(format!("fence.acq_rel.{scope}"), Vec::new())
}

/// The same of what it knows to be initialised.
pub(crate) fn initialised() -> Action {
    done("fence.mbarrier_init.release.cluster".to_owned(), Vec::new())
}

fn done(statement: String, operands: Vec<(Argument, &'static str)>) -> Action {
    Action::Synchronise(Synchronisation { statement, operands, awaited: Awaited::Nobody })
}

/// Which copies a step is about that is about groups, as it is written.
fn about(text: &str) -> Option<Groups> {
    let is_on_groups = |what: &str| what.starts_with(".commit_group") || what.starts_with(".wait_");
    let of = |groups: Groups| text.strip_prefix(groups.word()).is_some_and(is_on_groups).then_some(groups);
    of(Groups::Fills).or_else(|| of(Groups::Drains))
}

/// The copies that programs make.
#[derive(Default)]
struct Copies {
    groups: Vec<Groups>,
    /// Some write memory and complete on objects.
    land: bool,
}

impl Copies {
    /// Whether a step, as it is written, is about copies that there are not.
    fn lack(&self, text: &str) -> bool {
        if text == FENCE {
            return !self.land && !self.groups.contains(&Groups::Drains);
        }
        about(text).is_some_and(|groups| !self.groups.contains(&groups))
    }
}

/// Leaves out of programs what is done to groups of copies that are not in them.
pub(super) fn without_groups(programs: &mut [Statements]) {
    let mut left = Copies::default();
    programs.iter().for_each(|statements| note(statements, &mut left));
    for statements in programs {
        *statements = without(std::mem::take(statements), &left);
    }
}

/// Notes which copies are in a program.
fn note(statements: &[Statement], found: &mut Copies) {
    for statement in statements {
        match statement {
            Statement::Access(access) if access.text.starts_with(DRAIN) => found.groups.push(Groups::Drains),
            Statement::Access(access) if access.text.starts_with(FILL) => found.groups.push(Groups::Fills),
            Statement::Copy { to, .. } => found.land |= !to.is_empty(),
            Statement::If { then, otherwise, .. } => {
                note(then, found);
                note(otherwise, found);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => note(body, found),
            _ => {}
        }
    }
}

/// A program with what is done to groups of these copies alone.
fn without(statements: Statements, left: &Copies) -> Statements {
    let kept = |statement: Statement| match statement {
        Statement::Barrier { text, .. } if left.lack(&text) => None,
        Statement::If { condition, then, otherwise, span } => {
            let was_empty = then.is_empty() && otherwise.is_empty();
            let (then, otherwise) = (without(then, left), without(otherwise, left));
            let is_empty = then.is_empty() && otherwise.is_empty() && !was_empty;
            (!is_empty).then_some(Statement::If { condition, then, otherwise, span })
        }
        Statement::Loop { body, header, span } => {
            Some(Statement::Loop { body: without(body, left), header, span })
        }
        Statement::For { variable, from, to, body, span } => {
            Some(Statement::For { variable, from, to, body: without(body, left), span })
        }
        other => Some(other),
    };
    statements.into_iter().filter_map(kept).collect()
}
