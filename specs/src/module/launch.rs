//! What is known of a launch: the size of the group and values of parameters, as options give them by name.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::diagnostic::Diagnostic;
use crate::common::span::Span;

use super::entry::Entry;

/// The names under which the size of the group is given, in three directions.
const SIZE: [&str; 3] = ["cta.x", "cta.y", "cta.z"];
/// The name under which the position of an entry among the entries is given.
pub(super) const ENTRY: &str = "entry.index";
/// What the names of parameters begin with; a number or the parameter's own name follows.
const PARAM: &str = "param.";

/// Threads in three directions, as a module gives them, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) size: [u32; 3],
    pub(crate) span: Span,
}

/// What a module says of the size of a group, and what its notation calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// It is launched so and not otherwise.
    pub(crate) required: Option<Extent>,
    /// It is launched with no more.
    pub(crate) most: Option<Extent>,
    /// What requires, and what bounds it, in the words of the notation: `.reqntid`, `.maxntid`.
    pub(crate) words: [&'static str; 2],
    /// The group: `CTA`.
    pub(crate) group: &'static str,
    /// Its members: `threads`.
    pub(crate) unit: &'static str,
    /// The option that gives its size: `--cta`.
    pub(crate) option: &'static str,
    /// The most members that a group can have.
    pub(crate) largest: i64,
}

/// A launch.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The members of the group in three directions.
    pub(crate) size: [u32; 3],
    /// The size is an upper bound that the kernel gives, and nobody has said that it is launched so.
    pub(super) is_bound: bool,
    params: BTreeMap<String, i64>,
}

impl Launch {
    /// The launch of a kernel with these definitions.
    pub(super) fn of(
        entry: &Entry,
        sizes: &Sizes,
        defines: &BTreeMap<String, i64>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let given = defines.get(SIZE[0]).map(|x| {
            let of = |name: &str| defines.get(name).copied().unwrap_or(1);
            [*x, of(SIZE[1]), of(SIZE[2])]
        });
        let params = defines
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(PARAM)?.to_owned(), *value)))
            .collect();
        let error = |message: String, span: Span| vec![Diagnostic::error("group-size", message, span)];
        let ([required_by, bounded_by], option, group) = (sizes.words, sizes.option, sizes.group);
        let (size, span, is_bound) = match (sizes.required, given, sizes.most) {
            (Some(required), Some(given), _) if required.size.map(i64::from) != given => {
                let message = format!("{option} {} is not what `{required_by}` says", shown(&given));
                return Err(error(message, required.span));
            }
            (Some(required), ..) => (required.size.map(i64::from), required.span, false),
            (None, Some(given), Some(most)) if product(&given) > product(&most.size.map(i64::from)) => {
                let message = format!("{option} {} is more than `{bounded_by}` allows", shown(&given));
                return Err(error(message, most.span));
            }
            (None, Some(given), _) => (given, entry.span, false),
            (None, None, Some(most)) => (most.size.map(i64::from), most.span, true),
            (None, None, None) => {
                let message = format!("the size of the {group} is not known: the kernel is launched with it");
                let help = format!("say it by {option} X, or {option} X,Y,Z");
                return Err(vec![Diagnostic::error("group-size", message, entry.span).help(help)]);
            }
        };
        let count = product(&size);
        if !(1..=sizes.largest).contains(&count) || size.iter().any(|length| *length < 1) {
            let (most, unit) = (sizes.largest, sizes.unit);
            let message =
                format!("a {group} has 1 to {most} {unit}, and this one would have {}", shown(&size));
            return Err(error(message, span));
        }
        let size = size.map(|length| u32::try_from(length).unwrap_or(1));
        Ok(Self { size, is_bound, params })
    }

    /// The members of the whole group.
    pub(crate) fn count(&self) -> u32 {
        self.size.iter().fold(1, |product, length| product.saturating_mul(*length))
    }

    /// The value of a parameter, if it is given: by its name or position (that is the parameter from its
    /// beginning on), or as protocols call it or the part of it.
    pub(crate) fn param(&self, whole: Option<(usize, &str)>, shown: &str) -> Option<i64> {
        if self.params.is_empty() {
            return None;
        }
        let whole = || {
            let (position, name) = whole?;
            self.params.get(name).or_else(|| self.params.get(&position.to_string()))
        };
        self.params.get(shown).or_else(whole).copied()
    }

    /// The names among the definitions that concern a launch of an entry.
    pub(super) fn used(entry: &Entry, defines: &BTreeMap<String, i64>) -> BTreeSet<String> {
        let concerns = |name: &&String| {
            let param = name.strip_prefix(PARAM);
            SIZE.contains(&name.as_str())
                || name.as_str() == ENTRY
                || param.is_some_and(|given| entry.has_param(given))
        };
        defines.keys().filter(concerns).cloned().collect()
    }
}

fn product(size: &[i64; 3]) -> i64 {
    size.iter().fold(1, |product: i64, length| product.saturating_mul(*length))
}

fn shown(size: &[i64; 3]) -> String {
    match size {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x},{y}"),
        [x, y, z] => format!("{x},{y},{z}"),
    }
}
