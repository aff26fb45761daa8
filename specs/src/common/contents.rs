//! What a reader is told, and what it makes of what it reads.

use std::collections::{BTreeMap, BTreeSet};

use barcheck_model::program::{Place, Program};

use super::diagnostic::Diagnostic;
use super::lint::{Check, Linted};
use super::span::Span;

/// What may be set from outside a protocol.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Values for `param`s by name; names that the protocol does not declare are ignored, see
    /// [`Contents::params`].
    pub defines: BTreeMap<String, i64>,
}

/// The definition of a kernel by which its accesses to memory of the group are followed.
pub const MEMORY: &str = "memory.followed";
/// The definition by which they are not, whatever else is asked.
pub const WITHOUT_MEMORY: &str = "memory.none";

/// Names that a protocol declares with `param`.
pub type Params = BTreeSet<String>;

/// A rule or lint that is not to be reported of a protocol. No violation of the rule ends its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The rule or lint.
    pub check: Check,
    /// Why it may be, as the file says it; not empty.
    pub reason: String,
    /// Where the file says so.
    pub span: Span,
}

/// What a reader makes of a protocol.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The protocol.
    pub program: Program,
    /// The names that it declares with `param`.
    pub params: Params,
    /// What it says is not to be reported of it, each once.
    pub allows: Vec<Allow>,
    /// The places of branches and loops whose condition is the name of a constant alone, or its negation:
    /// which way they go was set on purpose.
    pub switches: BTreeSet<Place>,
    /// What looks unintended without being wrong, in the order of the text.
    pub lints: Vec<Linted>,
    /// What is taken for true of a kernel.
    pub warnings: Vec<Diagnostic>,
    /// Where the protocol was not written but extracted from a kernel, how.
    pub extracted: Option<Extracted>,
}

/// A protocol that was extracted from a compiled kernel.
#[derive(Clone, Debug, Default)]
pub struct Extracted {
    /// The protocol as `.bar`.
    pub text: String,
    /// The name of the kernel.
    pub entry: String,
    /// Its position among the entries of the module.
    pub index: usize,
    /// Branches whose outcome is unknown and need not be the same for the whole group, by their places in the
    /// kernel: both outcomes are explored.
    pub private: Vec<Place>,
    /// For each decision that the whole group shares, by its name, what it is about: parameters by names
    /// without that of the kernel, and loads. Decisions about one thing need not go together in every way.
    pub about: BTreeMap<String, BTreeSet<String>>,
    /// What goes together with some of these decisions in every way, though it is about the same things: an
    /// unknown number is one of those that it may be, however far it reaches.
    pub beside: BTreeMap<String, BTreeSet<String>>,
    /// What these decisions ask, by their names: `param_1 == 0`.
    pub words: BTreeMap<String, String>,
    /// The parameters of the kernel that may be given, as [`LoadOptions::defines`] names them without
    /// `param.`: those that are about something.
    pub parameters: BTreeSet<String>,
    /// Those of them by which each warp, or each lane, decides for itself.
    pub own: BTreeSet<String>,
    /// What some of them are at least, as definitions say.
    pub least: BTreeMap<String, i64>,
    /// What some of them are multiples of, likewise.
    pub multiples: BTreeMap<String, i64>,
    /// Which lines of the source the kernel's lines come from, in the order of the kernel's text.
    pub origins: Vec<Origin>,
    /// Where it ends, if it does.
    pub end: Option<Place>,
    /// What was followed of its accesses to memory of the group, where that was asked for.
    pub memory: Option<Accesses>,
    /// With what it was taken to be launched.
    pub launch: Launched,
    /// Instructions of the kernel that can be reached.
    pub instructions: usize,
    /// Those among them that concern its barriers.
    pub kept: usize,
    /// Instructions of the kernel on barriers, by what they are called in the protocol.
    pub barriers: BTreeMap<String, usize>,
}

/// What a kernel was taken to be launched with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launched {
    /// Members of the group in three directions.
    pub size: [u32; 3],
    /// What these are, in the words of the notation: `threads`.
    pub unit: &'static str,
    /// Groups of a cluster in three directions.
    pub cluster: [u32; 3],
    /// Who says the size of the group.
    pub from: SizeFrom,
}

/// Who says how many members a group has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeFrom {
    /// The kernel, which is launched so and not otherwise.
    #[default]
    Kernel,
    /// Whoever asks.
    Option,
    /// The kernel, as the most that there may be; nobody says that there are as many.
    Most,
}

impl SizeFrom {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Option => "option",
            Self::Most => "most",
        }
    }
}

/// Accesses of a kernel to memory of the group, by their places in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// How many are followed.
    pub followed: usize,
    /// Those that are not: where they go is not known.
    pub others: Vec<Place>,
    /// Why nothing is said of them, if so.
    pub undecided: Option<String>,
}

/// Two decisions that are about one thing, so that no run need have both outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excluding<'d> {
    /// The one that is made first.
    pub one: &'d str,
    /// The other.
    pub other: &'d str,
    /// What both are about.
    pub about: &'d str,
}

impl Excluding<'_> {
    /// What is doubtful, in words.
    #[must_use]
    pub fn shown(&self) -> String {
        let Self { one, other, .. } = self;
        if one == other {
            format!("`{one}`, of which not every outcome need come about")
        } else {
            format!("`{one}` and `{other}`, which may exclude one another")
        }
    }
}

/// Begins what a decision is about of which not every outcome need come about, whatever else it is about.
pub(crate) const BOUNDED: &str = "@bounded ";
/// Begins how a decision is about a word of memory: `POINTERS|TERMS|OFFSET`, the last with [`VARIES`] before
/// it if the terms may change.
pub(crate) const PLACE: &str = "@place ";
/// Says that terms may change from one iteration of a loop to the next.
pub(crate) const VARIES: &str = "~";

fn parts(place: &str) -> Option<[&str; 3]> {
    let mut parts = place.strip_prefix(PLACE)?.splitn(3, '|');
    Some([parts.next()?, parts.next()?, parts.next()?])
}

/// Whether two words of memory may be one, although their addresses are not the same in words: those of one
/// array whose distance is not known, or is, in iterations of their own.
fn may_be_one(one: &str, other: &str) -> bool {
    let (Some([array, terms, offset]), Some([other_array, other_terms, other_offset])) =
        (parts(one), parts(other))
    else {
        return false;
    };
    let is_apart = terms == other_terms && !offset.starts_with(VARIES) && !other_offset.starts_with(VARIES);
    !array.is_empty() && array == other_array && !is_apart
}

impl Extracted {
    /// Those of these decisions that may exclude one another; of what is about one thing the first two. One
    /// of which not every outcome need come about excludes itself.
    #[must_use]
    pub fn excluding<'d>(&'d self, made: impl IntoIterator<Item = &'d str>) -> Vec<Excluding<'d>> {
        let goes_beside =
            |one: &str, other: &str| self.beside.get(one).is_some_and(|beside| beside.contains(other));
        let mut seen: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut found: Vec<Excluding<'d>> = Vec::new();
        for name in made {
            let about = || self.about.get(name).into_iter().flatten().map(String::as_str);
            let counts = |index: &str| index.strip_prefix('%').map(|index| format!("%n{index}"));
            let is_below = |index: &str| counts(index).is_some_and(|count| about().any(|one| one == count));
            if about().any(|one| one.starts_with(BOUNDED) || is_below(one)) {
                let known = |about: &str| found.iter().any(|known| known.about == about);
                let own: Vec<_> = about().filter(|one| !one.starts_with('@') && !known(one)).collect();
                // What is about known numbers alone is about itself.
                let own = if about().all(|one| one.starts_with('@')) { vec![name] } else { own };
                found.extend(own.into_iter().map(|about| Excluding { one: name, other: name, about }));
            }
            let excludes =
                |other: &&str| *other != name && !goes_beside(name, other) && !goes_beside(other, name);
            for about in about() {
                let is_other = |(known, _): &(&&str, _)| **known != about && may_be_one(known, about);
                let one = if about.starts_with(PLACE) {
                    let others = seen.iter().filter(is_other).flat_map(|(_, names)| names.iter().copied());
                    others.into_iter().find(excludes)
                } else {
                    seen.get(about).and_then(|names| names.iter().copied().find(excludes))
                };
                if let Some(one) = one
                    && found.iter().all(|known| known.about != about)
                {
                    found.push(Excluding { one, other: name, about });
                }
                seen.entry(about).or_default().insert(name);
            }
        }
        found
    }
}

/// From a line of a kernel on, the line of the source that it was compiled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The line of the kernel, from 1.
    pub from: u32,
    /// The file of the source.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
    /// Where the function that holds the line was inlined, if it was: a file and a line.
    pub inlined_at: Option<(String, u32)>,
}

impl Origin {
    /// The place in the function that was compiled: where the line was inlined, or the line itself.
    #[must_use]
    pub fn outermost(&self) -> (&str, u32) {
        match &self.inlined_at {
            Some((file, line)) => (file, *line),
            None => (&self.file, self.line),
        }
    }
}

impl Extracted {
    /// The line of the source that a line of the kernel comes from, if the kernel says so.
    #[must_use]
    pub fn origin(&self, line: u32) -> Option<&Origin> {
        let after = self.origins.partition_point(|origin| origin.from <= line);
        self.origins[..after].last()
    }
}
