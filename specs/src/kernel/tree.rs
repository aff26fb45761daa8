//! The residual program of a warp: what remains of its code once all that is known has been worked in, as a
//! tree of statements.

use std::collections::BTreeSet;

use crate::common::span::Span;

use super::access::Touch;
use super::code::Comparison;
use super::counts::Formula;
use super::value::ValueId;

/// Statements in their order.
pub(super) type Statements = Vec<Statement>;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Statement {
    /// An instruction on a barrier, as protocols write it, without the semicolon.
    Barrier {
        text: String,
        span: Span,
    },
    /// An access to memory of the group.
    Access(Box<Accessed>),
    /// Bytes are announced on an mbarrier object, perhaps with an arrival, which may be relaxed.
    Announce {
        object: String,
        /// `None` if the kernel does not say how many, which is only so until copies are measured.
        bytes: Option<i64>,
        arrives: Option<bool>,
        /// The variable that keeps what the arrival yields.
        token: Option<String>,
        span: Span,
    },
    /// A copy that completes bytes on an mbarrier object; `None` if the kernel does not say how many.
    Copy {
        object: String,
        bytes: Option<i64>,
        /// The groups of the cluster to which it goes, as bits; `None` if it is one.
        mask: Option<String>,
        /// What it writes, as accesses, where memory is followed; once they are located, the location.
        to: Statements,
        span: Span,
    },
    /// A variable gets a value.
    Set {
        local: String,
        value: Amount,
        span: Span,
    },
    If {
        condition: Condition,
        then: Statements,
        otherwise: Statements,
        span: Span,
    },
    /// For ever, or until it is left. The node at which it begins is known until numbers are counted.
    Loop {
        body: Statements,
        header: usize,
        span: Span,
    },
    /// A known number of iterations.
    For {
        variable: String,
        from: i64,
        to: i64,
        body: Statements,
        span: Span,
    },
    /// An unknown number is counted.
    Count(Box<Counted>),
    Break,
    Continue,
    Exit {
        span: Span,
    },
}

/// An access to memory of the group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Accessed {
    pub(super) touch: Touch,
    /// What it touches, if that is known.
    pub(super) bytes: Option<Footprint>,
    /// It may touch more than that.
    pub(super) is_partial: bool,
    /// Branches of which it is known in `bytes` how they go.
    pub(super) known: BTreeSet<Span>,
    /// Branches that bring all lanes of `bytes` to it, or none.
    pub(super) exact: BTreeSet<Span>,
    /// As protocols write it, once that is known.
    pub(super) text: String,
    pub(super) span: Span,
}

/// How much of its bytes an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Extent {
    All,
    /// Some, and which depends on data that is not known.
    Some,
    /// Likewise, and they reach to the end of their memory since no more is known.
    Rest,
}

/// What an access of a warp touches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Footprint {
    /// What addresses are counted from: the symbol, and what is added that is the same for all.
    pub(super) base: Vec<ValueId>,
    /// From where to where, in order and apart from one another.
    pub(super) parts: Vec<(i64, i64)>,
    pub(super) extent: Extent,
    /// What is written, if it is one value for all lanes: which, its bytes, and how far it is from a
    /// multiple of these.
    pub(super) value: Option<(ValueId, u32, i64)>,
}

/// A value as protocols write it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Amount {
    pub(super) text: String,
    /// It is this number.
    pub(super) number: Option<i64>,
    /// It is the variable itself and this number.
    pub(super) step: Option<i64>,
}

/// What an `if` asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Condition {
    /// An expression; where it compares a variable with a number, which.
    Value { text: String, compares: Option<(String, Comparison, i64)>, decided: Decided },
    /// A decision of a sequence that all agents share.
    Uniform { decision: Decision, negated: bool },
    /// Each warp decides for itself.
    OfWarp,
    /// Each lane decides for itself.
    OfLane,
}

/// What an expression rests on besides known numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Decided {
    /// Decisions that are made once.
    pub(super) decisions: Vec<Decision>,
    /// It need not be the same for all warps at the same iteration.
    pub(super) is_private: bool,
    /// The decision in whose place it stands, and whether as its negation.
    pub(super) stands_for: Option<(String, bool)>,
    /// What has to be taken for true.
    pub(super) assumes: BTreeSet<Assumption>,
}

/// Something unknown that is the same for the whole group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Decision {
    /// What it is: equal keys are equal decisions.
    pub(super) key: String,
    /// What it is called, where it stands in an expression.
    pub(super) name: Option<String>,
    /// It is decided anew whenever it is asked.
    pub(super) varies: bool,
    /// What has to be taken for true.
    pub(super) assumes: BTreeSet<Assumption>,
    /// What it is about: names of what is the same for the whole group, and what is loaded.
    pub(super) about: BTreeSet<String>,
    /// Numbers that it is about may be any, until these are counted.
    pub(super) counts: bool,
    /// What it says of unknown numbers, until these are counted.
    pub(super) formula: Option<Formula>,
    /// The same of each of two numbers, where it is about the lesser or the greater of them.
    pub(super) apart: Option<Box<Formula>>,
    /// How it is computed of unknown numbers, until these are counted.
    pub(super) computed: Option<Computed>,
    /// Which term is asked, until answers are kept.
    pub(super) asked: Option<Asked>,
}

/// A term that is asked in a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    pub(super) term: u32,
    pub(super) node: usize,
    /// The nodes in which what it is made of gets its values.
    pub(super) made: BTreeSet<usize>,
}

impl Decision {
    /// Forgets what is only needed to count numbers, so that programs that are alike are equal.
    pub(super) fn forget(&mut self) {
        (self.formula, self.apart, self.computed, self.counts) = (None, None, None, true);
    }
}

/// A condition on unknown numbers as an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Computed {
    pub(super) text: String,
    /// How much of the numbers in it has to be known: see [`numbers`](super::numbers).
    pub(super) exact: i64,
    pub(super) period: i64,
}

/// How an unknown number is counted, of which more is in [`counts`](super::counts).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Counted {
    /// The number, in words.
    pub(super) key: String,
    pub(super) counting: Counting,
    /// The number changes with the iterations of a loop.
    pub(super) varies: bool,
    /// Each warp has a number of its own.
    pub(super) is_private: bool,
    /// How many answers are asked for where it begins, and the variable that holds how many were yes.
    pub(super) fixed: i64,
    pub(super) count: String,
    /// They are known, since another number has the same.
    pub(super) goes_on: bool,
    /// How many answers are known ahead, and the variable that holds how many of them are yes.
    pub(super) ahead: i64,
    pub(super) left: String,
    /// So many are yes whatever the number is.
    pub(super) given: i64,
    /// So many are known to be yes, and are not asked for.
    pub(super) known: i64,
    /// Its low bits are asked for.
    pub(super) has_rest: bool,
    /// Not every outcome need come about.
    pub(super) is_bounded: bool,
    /// Something is computed of the number.
    pub(super) residue: Option<Residue>,
    pub(super) about: BTreeSet<String>,
    pub(super) span: Span,
}

impl Counted {
    /// Whether anybody reads the variables that are set here.
    pub(super) fn is_read(&self, read: &BTreeSet<String>) -> bool {
        let number = || self.residue.as_ref().is_some_and(|residue| read.contains(&residue.number));
        read.contains(&self.left) || !self.goes_on && (read.contains(&self.count) || number())
    }

    /// The variables from which it goes on.
    pub(super) fn reads(&self) -> impl Iterator<Item = &String> {
        let from = self.residue.iter().flat_map(|residue| &residue.from);
        self.goes_on.then_some(&self.count).into_iter().chain(from)
    }

    /// Whether what is done here sets a variable.
    pub(super) fn assigns(&self, variable: &str) -> bool {
        self.variables().any(|local| local == variable)
    }

    /// The variables that are set here.
    pub(super) fn variables(&self) -> impl Iterator<Item = &String> {
        let number = self.residue.iter().map(|residue| &residue.number).chain([&self.count]);
        let asked = self.residue.iter().map(|residue| &residue.asked).chain([&self.left]);
        asked.chain(number.filter(|_| !self.goes_on))
    }
}

/// What stands for an unknown number of which something is computed: a number that is equal to it if it is
/// below `exact`, and else leaves the same when both are divided by `period`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Residue {
    /// The variable that holds it, and the one that holds what it is if the next answer is no. They are one
    /// where it is not asked for before all answers are known.
    pub(super) number: String,
    pub(super) asked: String,
    /// The variable that the latter begins with, if another number has the same first answers.
    pub(super) from: Option<String>,
    pub(super) exact: i64,
    pub(super) period: i64,
    /// What the number is if the first answer is no.
    pub(super) first: i64,
    /// It is at least this.
    pub(super) least: i64,
    /// It is a multiple of this.
    pub(super) multiple: i64,
    /// Which it is is decided once, before all.
    pub(super) is_once: bool,
}

impl Residue {
    /// The same for another pass over the number, which goes on from its first answers.
    pub(super) fn go_on(&mut self, pass: usize) {
        let own = format!("{}_{pass}", self.asked);
        self.from = Some(std::mem::replace(&mut self.asked, own));
    }
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Counting {
    /// The number begins, where `again` is said: after another.
    Begin { again: bool },
    /// So many are passed.
    Pass(i64),
    /// All that is left is asked for: the number is known then.
    Finish,
    /// It is decided which of the numbers that it may be it is.
    Choose,
}

/// What is taken for true without proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Assumption {
    /// Nobody writes what is loaded here while the kernel runs.
    Unwritten(Span),
    /// All threads load the same here, since one has told the others through shared memory.
    Told(Span),
    /// This loads what was stored before: copies go elsewhere, and stores by pointers of which nothing is
    /// known.
    Forwarded(Span),
    /// The sums and products compared here do not overflow.
    Unwrapped(Span),
    /// What is asked here has been written, though there are ways on which it is not.
    Written(Span),
    /// The number that is computed with here is not negative.
    Natural(Span),
    /// The copies on an mbarrier object complete what is announced here, in equal parts.
    Bytes(Span),
    /// As many bytes are announced here as copies that say how many complete.
    Announced(Span),
    /// A copy that only some of the ways have: nothing of what is announced is left for it.
    Aside(Span),
    /// This copy completes its part of what others announce for its object.
    Theirs(Span),
    /// What a loop without a barrier that is left here asks for, again and again, comes about.
    Awaited(Span),
    /// What is announced here is not what the copies for it complete, going by what is announced for the same
    /// tensor maps elsewhere.
    Otherwise {
        span: Span,
        announced: i64,
        /// At least so many.
        completed: i64,
    },
    /// Lanes that mean different objects here come to them one after the other, in their order.
    InOrder(Span),
    /// Threads that go to the end of the kernel here have exited when others of their warp come to a barrier.
    Exited(Span),
    /// An operation of a warpgroup is complete for its four warps together: here, and wherever they commit.
    Collective(Span),
    /// The addresses in the memories of a pair of groups differ in one bit, which is cleared here.
    Pair(Span),
}

impl Condition {
    /// Whether the threads of a warp may go different ways.
    pub(super) fn parts(&self) -> bool {
        match self {
            Self::OfLane => true,
            Self::Value { decided, .. } => decided.is_private,
            Self::Uniform { .. } | Self::OfWarp => false,
        }
    }

    /// The same with the other outcome, if it can be said.
    pub(super) fn negated(self) -> Option<Self> {
        match self {
            Self::Value { text, compares, mut decided } => {
                if let Some((_, negated)) = &mut decided.stands_for {
                    *negated = !*negated;
                }
                let compares =
                    compares.map(|(local, comparison, number)| (local, comparison.negated(), number));
                let of_lanes = text.strip_prefix("lane ").and_then(other_lanes);
                let text = match &compares {
                    Some((local, comparison, number)) => format!("{local} {} {number}", comparison.text()),
                    None if of_lanes.is_some() => of_lanes.unwrap_or_default(),
                    None => match text.strip_prefix("!(").and_then(|rest| rest.strip_suffix(')')) {
                        Some(inner) if is_whole(inner) => inner.to_owned(),
                        _ => format!("!({text})"),
                    },
                };
                Some(Self::Value { text, compares, decided })
            }
            Self::Uniform { decision, negated } => Some(Self::Uniform { decision, negated: !negated }),
            // Either outcome may come.
            other => Some(other),
        }
    }
}

/// The lanes other than those up to, from or but for one: `>= 1` is about all but `lane == 0`.
fn other_lanes(text: &str) -> Option<String> {
    let (comparison, number) = text.split_once(' ')?;
    let number: u8 = number.parse().ok()?;
    Some(match comparison {
        ">=" if number == 1 => "lane == 0".to_owned(),
        ">=" => format!("lane < {number}"),
        "<" => format!("lane >= {number}"),
        "==" => format!("lane != {number}"),
        "!=" => format!("lane == {number}"),
        _ => return None,
    })
}

/// Whether parentheses close what they open.
pub(super) fn is_whole(text: &str) -> bool {
    let mut depth = 0_i32;
    text.bytes().all(|byte| {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        depth >= 0
    })
}

/// Whether control never goes on behind these statements.
pub(super) fn ends(statements: &[Statement]) -> bool {
    match statements.last() {
        Some(Statement::Break | Statement::Continue | Statement::Exit { .. }) => true,
        Some(Statement::If { then, otherwise, .. }) => ends(then) && ends(otherwise),
        Some(Statement::Loop { body, .. }) => !breaks(body),
        _ => false,
    }
}

/// Whether the kernel ends among these statements.
pub(super) fn exits(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Exit { .. } => true,
        Statement::If { then, otherwise, .. } => exits(then) || exits(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => exits(body),
        Statement::Barrier { .. } | Statement::Announce { .. } | Statement::Copy { .. } => false,
        Statement::Access(_) => false,
        Statement::Set { .. } | Statement::Count(_) | Statement::Break | Statement::Continue => false,
    })
}

/// Whether there are barriers among these statements.
pub(super) fn synchronises(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Barrier { .. } | Statement::Announce { .. } | Statement::Copy { .. } => true,
        Statement::If { then, otherwise, .. } => synchronises(then) || synchronises(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => synchronises(body),
        Statement::Set { .. } | Statement::Count(_) | Statement::Break | Statement::Continue => false,
        Statement::Exit { .. } | Statement::Access(_) => false,
    })
}

/// Whether a loop with this body may be left by `break`.
pub(super) fn breaks(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Break => true,
        Statement::If { then, otherwise, .. } => breaks(then) || breaks(otherwise),
        _ => false,
    })
}

/// Whether a loop with this body may go on by `continue`.
pub(super) fn continues(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Continue => true,
        Statement::If { then, otherwise, .. } => continues(then) || continues(otherwise),
        _ => false,
    })
}
