//! Why a protocol could not be decided, and what the user can do about it, in words.

use crate::numbers::{bytes, counted};
use crate::tried::Tried;
use barcheck_engine::{Budgets, Inconclusive, ReachedFault};
use barcheck_model::agent::{Fault, FaultKind};
use barcheck_model::machine::CutReason;
use barcheck_model::program::{AgentId, Code, LocalId, LocalKind, Op, Pc, Place, Program};
use barcheck_specs::Diagnostic;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Bytes of memory that the reading of a byte of text takes, about: measured on texts of short statements,
/// which take most.
const BYTES_OF_TEXT: u64 = 64;

/// Bytes that may be taken for reading whatever the budget: it is one for states.
const ALWAYS_READ: u64 = 8 << 20;

/// What kind of reason it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The kernel does what is not followed.
    NotFollowed,
    /// What was found rests on data, or on outcomes of which nobody knows whether they go together.
    Data,
    /// Time, memory or states are used up.
    Budget,
    /// Anything else.
    Other,
}

/// A reason and the way out: options are named as the command line has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What happened, one sentence without a full stop.
    pub what: String,
    /// What to do about it, likewise.
    pub remedy: Option<String>,
    /// Where in the text.
    pub place: Option<Place>,
    /// What kind of reason it is.
    pub cause: Cause,
}

impl Reason {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: Some(remedy.into()), place: None, cause: Cause::Other }
    }

    fn of(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }

    /// A reason without a way out.
    pub(crate) fn plain(what: String) -> Self {
        Self { what, remedy: None, place: None, cause: Cause::Other }
    }

    /// The user has interrupted before the file's turn came.
    pub(crate) fn interrupted_before() -> Self {
        Self::new("interrupted before the search began", "run it again to decide it")
    }

    /// Time was up before all of the text had come.
    pub(crate) fn late(limit: Duration) -> Self {
        let seconds = limit.as_secs_f64();
        Self::new(
            format!("gave up after {seconds} s, before all of its text had come"),
            "see who is to write it, or raise --timeout",
        )
        .of(Cause::Budget)
    }

    /// Time was up, or the user has interrupted, before the text was read to its end.
    pub(crate) fn late_in_reading(budgets: Budgets, started: Instant) -> Self {
        match budgets.timeout.filter(|limit| started.elapsed() >= *limit) {
            Some(limit) => Self::new(
                format!("gave up after {} s, while it was read", limit.as_secs_f64()),
                "raise --timeout, or make the protocol shorter",
            )
            .of(Cause::Budget),
            None => Self::interrupted_before(),
        }
    }

    /// The text is too long to be read in the memory that there is, if it is.
    pub(crate) fn no_room_to_read(text: usize, budgets: Budgets) -> Option<Self> {
        let needed = text as u64 * BYTES_OF_TEXT;
        let most = budgets.max_memory.filter(|most| needed > (*most).max(ALWAYS_READ))?;
        Some(Self::new(
            format!("to read it takes about {} of memory, more than its {}", bytes(needed), bytes(most)),
            "raise --max-memory, or make the protocol shorter",
        ))
    }

    /// The kernel does something that is not followed.
    pub(crate) fn not_followed(diagnostic: &Diagnostic, place: Place) -> Self {
        let remedy = diagnostic.help.first().cloned().or_else(|| Some(NOT_FOLLOWED_REMEDY.to_owned()));
        let what = diagnostic.message.clone();
        Self { what, remedy, place: Some(place), cause: Cause::NotFollowed }
    }

    /// Not all accesses of a kernel to memory are followed, which they are to be.
    pub(crate) fn of_memory(what: String, place: Option<Place>) -> Self {
        let remedy = "without --require-memory the verdict is about what is followed".to_owned();
        Self { what, remedy: Some(remedy), place, cause: Cause::NotFollowed }
    }

    /// All violations that were found come along with outcomes of which nobody knows that they go together.
    ///
    /// `in_question` are the parameters that these outcomes are about, some of which were tried.
    pub(crate) fn unseen(rule: &str, in_question: &BTreeSet<String>, tried: &Tried) -> Self {
        let names: Vec<&str> = in_question.iter().map(String::as_str).collect();
        let (tried, remedy) = if names.is_empty() {
            let remedy = "`--deny data-dependent` shows how it comes about; if it cannot, make one decision of \
                          those that exclude one another in what `barcheck extract` writes";
            (String::new(), remedy.to_owned())
        } else {
            let values: Vec<String> = match tried.verified.last() {
                Some(values) => {
                    values.iter().map(|(name, value)| format!("--param {name}={value}")).collect()
                }
                None => names.iter().map(|name| format!("--param {name}=8")).collect(),
            };
            let verified = match tried.verified.len() {
                0 => String::new(),
                some if some == tried.count => format!(": with all {some} it is verified"),
                some => format!(": with {some} of {} it is verified", tried.count),
            };
            (
                format!("; no value tried for {} shows it{verified}", names.join(", ")),
                format!(
                    "give the values of a launch: `{}`; `--deny data-dependent` shows how it comes about",
                    values.join(" ")
                ),
            )
        };
        let what = format!("`{rule}` comes along with outcomes that may exclude one another{tried}");
        Self::new(what, remedy).of(Cause::Data)
    }

    /// All violations that were found rest on unknown data.
    ///
    /// `parameters` are those by which threads decide for themselves.
    pub(crate) fn data_dependent<'p>(rule: &str, parameters: impl Iterator<Item = &'p String>) -> Self {
        let given: Vec<String> = parameters.map(|name| format!("--param {name}=0")).collect();
        let remedy = match given.as_slice() {
            [] => "see whether they do; --deny data-dependent makes an error of it".to_owned(),
            given => format!(
                "see whether they do, or say what a launch is given: `{}`; --deny data-dependent makes an error of it",
                given.join(" ")
            ),
        };
        let what = format!(
            "`{rule}` depends on data that is not known: it comes about with some values that threads may see"
        );
        Self::new(what, remedy).of(Cause::Data)
    }

    /// The text is malformed: its first error, and how many there are.
    pub(crate) fn malformed(first: Option<(&str, Place)>, errors: usize) -> Self {
        let Some((message, place)) = first else { return Self::plain("malformed".to_owned()) };
        let more = match errors {
            0 | 1 => String::new(),
            2 => " (and 1 more error)".to_owned(),
            _ => format!(" (and {} more errors)", errors - 1),
        };
        let what = format!("{message}{more}");
        Self { what, remedy: None, place: Some(place), cause: Cause::Other }
    }

    /// It keeps a protocol that is violated from being searched to the end.
    pub(crate) fn for_more(self) -> Self {
        Self { what: format!("more rules may be violated than are shown: {}", self.what), ..self }
    }

    /// The same, where a kernel was read so that it comes to what has no value.
    pub(crate) fn of_a_kernel(self) -> Self {
        let remedy = "look at the address there: it is that of no object, or of one that is not found; what comes \
                      behind is not followed";
        Self { remedy: Some(remedy.to_owned()), cause: Cause::NotFollowed, ..self }
    }

    /// All of it in one line: `3:5: what happened; what to do`.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = match self.place {
            Some(place) if place.line > 0 => format!("{}:{}: {}", place.line, place.column, self.what),
            _ => self.what.clone(),
        };
        if let Some(remedy) = &self.remedy {
            line.push_str("; ");
            line.push_str(remedy);
        }
        line
    }
}

/// Why a search is inconclusive.
pub(crate) fn inconclusive(program: &Program, why: &Inconclusive) -> Reason {
    let growth = |grew: &Option<String>| match grew {
        Some(what) => format!("; what grew: {what}"),
        None => String::new(),
    };
    match why {
        Inconclusive::States(limit, grew) => Reason::new(
            format!("gave up after {}{}", counted(*limit, "state"), growth(grew)),
            "raise --max-states, or make the protocol smaller",
        )
        .of(Cause::Budget),
        Inconclusive::Memory(limit, grew) => Reason::new(
            format!("the search needs more than its {} of memory{}", bytes(*limit), growth(grew)),
            "raise --max-memory, try --compact, or make the protocol smaller",
        )
        .of(Cause::Budget),
        Inconclusive::Time(limit, grew) => Reason::new(
            format!("gave up after {} s{}", limit.as_secs_f64(), growth(grew)),
            "raise --timeout, or make the protocol smaller",
        )
        .of(Cause::Budget),
        Inconclusive::Undecided(why) => {
            Reason::new(why.clone(), "leave --reduction out: a search then decides")
        }
        Inconclusive::Endless(why) => Reason::new(
            why.clone(),
            "give decisions that agents make at different rates names of their own, or let a barrier hold back who is ahead",
        ),
        Inconclusive::Disk(error) => {
            Reason::new(error.clone(), "choose a folder with more room by --spill, or raise --max-memory")
        }
        Inconclusive::Forgotten => Reason::new(
            "some agents may run for ever, and whether others are then stuck cannot be told from hashes of states",
            "leave --compact out",
        ),
        Inconclusive::Interrupted => Reason::new("interrupted", "run it again to decide it"),
        Inconclusive::Lowered(rule) => Reason::new(
            format!(
                "some path violates `{rule}`, which was lowered below error, and nothing is known of what follows"
            ),
            format!("leave `{rule}` an error, or fix what it is about"),
        ),
        Inconclusive::Cut { agent, at, reason, .. } => {
            let place = program.code(*agent).places.get(at.index()).copied();
            let who = agent_name(program, *agent);
            let (what, remedy) = match reason {
                CutReason::NotModelled(what) => (what.describe().to_owned(), None),
                CutReason::Endless(local) => (endless(local.as_deref()), Some(ENDLESS_REMEDY.to_owned())),
            };
            Reason {
                what: format!("{who} could not be followed: {what}"),
                remedy,
                place,
                cause: Cause::NotFollowed,
            }
        }
    }
}

/// Why not every rule that is violated need be among those that are shown.
pub(crate) fn uncovered(program: &Program, why: &Inconclusive) -> Reason {
    inconclusive(program, why).for_more()
}

const NOT_FOLLOWED_REMEDY: &str = "`barcheck doctor` shows what is found in the kernel; what it does at its barriers can be written down as a \
     protocol, which `barcheck new` begins";

const ENDLESS_REMEDY: &str = "make the loop shorter, or keep what it counts in a range with `%`";

fn endless(local: Option<&str>) -> String {
    match local {
        Some(name) => format!("it computes without end or for too long, and `{name}` takes ever new values"),
        None => "it computes without end or for too long".to_owned(),
    }
}

/// What does not fit, and into what.
fn overflow(code: &Code, at: Pc) -> String {
    let most = "the result does not fit into a signed 64-bit integer, or a shift is outside 0..=63";
    let target = match code.ops.get(at.index()) {
        Some(Op::Set(local, _) | Op::Any(local, ..)) => code.locals.get(local.index()),
        _ => None,
    };
    match target.map(|local| (local.kind, &local.name)) {
        Some((LocalKind::Register, name)) => {
            format!("the result does not fit into the 32 bits, unsigned, of `{name}`")
        }
        Some((LocalKind::Predicate, name)) => {
            format!("the result is not 0 or 1, which is all that `{name}` holds")
        }
        _ => most.to_owned(),
    }
}

/// What went wrong in an evaluation, and where.
pub(crate) fn fault(program: &Program, reached: &ReachedFault) -> Reason {
    let Fault { kind, at } = &reached.fault;
    let code = program.code(reached.agent);
    let name = |local: &LocalId| code.locals.get(local.index()).map_or("?", |l| l.name.as_str());
    let what = match kind {
        FaultKind::DivisionByZero => "division by zero".to_owned(),
        FaultKind::Overflow => overflow(code, *at),
        FaultKind::IndexOutside { index, length } => {
            format!("index {index} is outside an array of {}", counted(u64::from(*length), "element"))
        }
        FaultKind::Unset(local) => format!("`{}` is read before it is set", name(local)),
        FaultKind::NotANumber(local) => format!("`{}` is used as a number and holds none", name(local)),
        FaultKind::EmptyRange => "`any` over an empty range".to_owned(),
        FaultKind::Endless(local) => endless(local.as_ref().map(name)),
    };
    let who = agent_name(program, reached.agent);
    let place = code.places.get(at.index()).copied();
    Reason { what: format!("{what} (in {who})"), remedy: None, place, cause: Cause::Other }
}

/// `warp 3`.
pub(crate) fn agent_name(program: &Program, agent: AgentId) -> String {
    program.agent_name(agent)
}
