//! Statements to which no agent ever comes.

use barcheck_model::machine::{Coverage, Reach};
use barcheck_model::program::{Code, ConstructId, ConstructKind, Op, Pc, Place, Program};
use barcheck_specs::{Diagnostic, LineIndex, Lint, Linted, Span, limits};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a statement that a message shows.
const SHOWN: usize = 60;

/// What nobody comes to in any role whose coverage is known: the outermost of statements inside one another,
/// in the order of the text. What stands behind the end of a path is not among it, since whatever ends the
/// path is told anyway; nor is what one of the `switches` turns off, conditions that were set on purpose.
pub(crate) fn unreached(
    program: &Program,
    coverage: &[Coverage],
    (lines, switches): (&LineIndex<'_>, &BTreeSet<Place>),
) -> Vec<Linted> {
    let known = program.roles.iter().zip(coverage).filter(|(_, coverage)| coverage.complete);
    let roles: Vec<_> = known.map(|(role, coverage)| Unreached::new(&role.code, coverage, lines)).collect();
    let reached = reached(program, coverage);
    let except = Except { switches, reached: &reached };
    let found = roles.iter().flat_map(|role| role.find(&except).into_iter().map(move |found| (role, found)));
    let mut found: Vec<_> = found.collect();
    let mut told = BTreeSet::new();
    found.retain(|(role, (pc, ..))| told.insert(role.code.places[pc.index()]));
    // Words are made of as many as are shown: to find places in long lines takes long.
    let mut linted: Vec<_> = found
        .iter()
        .take(limits::ERRORS)
        .map(|(role, (pc, end, cause))| role.linted(*pc, *end, cause))
        .collect();
    if let (Some(last), more @ 1..) = (linted.last_mut(), found.len().saturating_sub(limits::ERRORS)) {
        let plural = if more == 1 { "" } else { "s" };
        last.diagnostic.notes.push(format!("and {more} more finding{plural} of `unreached`"));
    }
    linted
}

/// Where somebody comes, or may come, in some role: a block that roles share stands in each of them.
fn reached(program: &Program, coverage: &[Coverage]) -> BTreeSet<Place> {
    let mut reached = BTreeSet::new();
    for (role, coverage) in program.roles.iter().zip(coverage) {
        let places = role.code.places.iter().zip(&role.code.texts).zip(&coverage.reach);
        let come_to = |((_, text), reach): &((&Place, &String), &Reach)| {
            !text.is_empty() && (**reach != Reach::Never || !coverage.complete)
        };
        reached.extend(places.filter(come_to).map(|((place, _), _)| *place));
    }
    reached
}

/// What is not told of.
struct Except<'a> {
    /// Conditions that were set on purpose.
    switches: &'a BTreeSet<Place>,
    /// Statements to which somebody comes elsewhere.
    reached: &'a BTreeSet<Place>,
}

/// Why nobody comes to an operation.
enum Cause {
    /// The condition of this branch never holds.
    NeverHolds(Pc),
    /// It always does.
    AlwaysHolds(Pc),
    /// The loop with this test makes no round.
    NoRound(Pc),
    /// The operation before goes elsewhere, or nowhere.
    NothingGoesOn,
}

impl Cause {
    /// The operation whose condition it is about, if it is about one.
    fn condition(&self) -> Option<Pc> {
        match self {
            Self::NeverHolds(at) | Self::AlwaysHolds(at) | Self::NoRound(at) => Some(*at),
            Self::NothingGoesOn => None,
        }
    }
}

/// A role to be looked through.
struct Unreached<'r> {
    code: &'r Code,
    coverage: &'r Coverage,
    lines: &'r LineIndex<'r>,
    /// The branch whose other arm begins at an operation.
    other_arms: BTreeMap<Pc, Pc>,
}

impl<'r> Unreached<'r> {
    fn new(code: &'r Code, coverage: &'r Coverage, lines: &'r LineIndex<'r>) -> Self {
        let mut other_arms = BTreeMap::new();
        for (pc, op) in code.ops.iter().enumerate() {
            if let Op::Branch { construct, otherwise, .. } = op
                && *otherwise != code.constructs[construct.index()].end
            {
                other_arms.insert(*otherwise, Pc::from_index(pc));
            }
        }
        Self { code, coverage, lines, other_arms }
    }

    /// The first operation of each stretch to which nobody comes, one past its last, and why.
    fn find(&self, except: &Except<'_>) -> Vec<(Pc, Pc, Cause)> {
        let mut found = Vec::new();
        let mut pc = 0;
        // The last operation is the end of the block, which is no statement.
        while pc + 1 < self.code.ops.len() {
            let here = Pc::from_index(pc);
            pc += 1;
            let place = &self.code.places[here.index()];
            if self.never(here) && self.is_statement(here) && !except.reached.contains(place) {
                let cause = self.cause(here);
                let end = self.end(here, &cause);
                if !cause
                    .condition()
                    .is_some_and(|at| except.switches.contains(&self.code.places[at.index()]))
                {
                    found.push((here, end, cause));
                }
                pc = end.index().max(pc);
            }
        }
        found
    }

    fn never(&self, pc: Pc) -> bool {
        self.coverage.reach[pc.index()] == Reach::Never
    }

    fn is_reached(&self, pc: Pc) -> bool {
        self.coverage.reach[pc.index()] == Reach::Reached
    }

    /// A statement begins at an operation, or at one of several that it has become.
    fn is_statement(&self, pc: Pc) -> bool {
        !self.code.texts[pc.index()].is_empty() || matches!(self.code.ops[pc.index()], Op::Enter(_))
    }

    fn cause(&self, pc: Pc) -> Cause {
        let before = pc.index().checked_sub(1).map(Pc::from_index).filter(|before| self.is_reached(*before));
        match before.map(|before| (before, &self.code.ops[before.index()])) {
            Some((branch, Op::Branch { .. })) => return Cause::NeverHolds(branch),
            Some((test, Op::Test { .. })) => return Cause::NoRound(test),
            _ => {}
        }
        match self.other_arms.get(&pc).filter(|branch| self.is_reached(**branch)) {
            Some(branch) => Cause::AlwaysHolds(*branch),
            None => Cause::NothingGoesOn,
        }
    }

    /// One past the last operation to which nobody comes for this cause.
    fn end(&self, pc: Pc, cause: &Cause) -> Pc {
        let end_of = |construct: &ConstructId| self.code.constructs[construct.index()].end;
        match cause {
            Cause::NeverHolds(at) | Cause::AlwaysHolds(at) | Cause::NoRound(at) => {
                match (&self.code.ops[at.index()], cause) {
                    (Op::Branch { otherwise, .. }, Cause::NeverHolds(_)) => *otherwise,
                    (Op::Branch { construct, .. } | Op::Test { construct, .. }, _) => end_of(construct),
                    _ => Pc(pc.0 + 1),
                }
            }
            Cause::NothingGoesOn => {
                let reached = (pc.index()..self.code.ops.len()).find(|pc| !self.never(Pc::from_index(*pc)));
                Pc::from_index(reached.unwrap_or(self.code.ops.len()))
            }
        }
    }

    fn linted(&self, pc: Pc, end: Pc, cause: &Cause) -> Linted {
        let nobody = "nobody comes here";
        let named = |at: &Pc| shown(&self.code.texts[at.index()]);
        let of_condition = |at: &Pc, message: String| {
            Lint::Unreached.says(message, self.span(*at)).also(self.span(pc), nobody)
        };
        let mut diagnostic = match cause {
            Cause::NeverHolds(at) => of_condition(at, format!("`{}` never holds", named(at))),
            Cause::AlwaysHolds(at) => {
                of_condition(at, format!("`{}` always holds: its `else` is never reached", named(at)))
            }
            Cause::NoRound(at) => of_condition(at, format!("`{}` makes no round", named(at))),
            Cause::NothingGoesOn => {
                let message = format!("nobody comes to `{}`", named(&pc));
                let here = Lint::Unreached.says(message, self.span(pc));
                self.and_what_stands_before(pc, here)
            }
        };
        let barriers = (pc.index()..end.index()).filter(|pc| matches!(self.code.ops[*pc], Op::Barrier(_)));
        diagnostic = match barriers.count() {
            0 => diagnostic,
            1 => diagnostic.note("the barrier instruction in it is executed by nobody"),
            n => diagnostic.note(format!("the {n} barrier instructions in it are executed by nobody")),
        };
        let subject = self.code.texts[cause.condition().unwrap_or(pc).index()].clone();
        let diagnostic = diagnostic.help("`barcheck explain unreached` says more");
        Linted { lint: Lint::Unreached, diagnostic, subject }
    }

    /// What keeps agents from an operation that only the one before it could lead to.
    fn and_what_stands_before(&self, pc: Pc, diagnostic: Diagnostic) -> Diagnostic {
        let Some(before) = pc.index().checked_sub(1) else { return diagnostic };
        let why = match &self.code.ops[before] {
            Op::End(construct) => match self.code.constructs[construct.index()].kind {
                ConstructKind::Loop => "nobody leaves this loop",
                ConstructKind::If => "whoever comes here does not come to its end",
            },
            Op::Exit => "everybody exits here",
            Op::Break(_) | Op::Continue(..) => "everybody goes elsewhere from here",
            _ => return diagnostic,
        };
        diagnostic.also(self.span(Pc::from_index(before)), why)
    }

    fn span(&self, pc: Pc) -> Span {
        let place: Place = self.code.places[pc.index()];
        self.lines.span(place)
    }
}

/// A statement as written, as much of it as a message shows.
fn shown(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let start: String = text.chars().take(SHOWN).collect();
    format!("{}...", start.trim_end())
}
