//! What is known of a launch: the size of the CTA and values of parameters, as options give them by name.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::limits;
use crate::common::span::Span;

use super::error::PtxError;
use super::syntax::Function;

/// The names under which the size of the CTA is given, in three directions.
pub(super) const SIZE: [&str; 3] = ["cta.x", "cta.y", "cta.z"];
/// The name under which the position of an entry among the entries is given.
pub(super) const ENTRY: &str = "entry.index";
/// What the names of parameters begin with; a number or the parameter's own name follows.
pub(super) const PARAM: &str = "param.";

/// A launch.
#[derive(Debug)]
pub(super) struct Launch {
    /// The threads of the CTA in three directions.
    pub(super) size: [u32; 3],
    /// The size is an upper bound that the kernel gives, and nobody has said that it is launched so.
    pub(super) is_bound: bool,
    params: BTreeMap<String, i64>,
}

impl Launch {
    /// The launch of a kernel with these definitions.
    pub(super) fn of(entry: &Function, defines: &BTreeMap<String, i64>) -> Result<Self, PtxError> {
        let given = defines.get(SIZE[0]).map(|x| {
            let of = |name: &str| defines.get(name).copied().unwrap_or(1);
            [*x, of(SIZE[1]), of(SIZE[2])]
        });
        let params = defines
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(PARAM)?.to_owned(), *value)))
            .collect();
        let error = |message: String, span: Span| Err(PtxError::Size(message, span));
        let (size, span, is_bound) = match (entry.required, given, entry.most) {
            (Some(required), Some(given), _) if required.size.map(i64::from) != given => {
                let message = format!("--cta {} is not what `.reqntid` says", shown(&given));
                return error(message, required.span);
            }
            (Some(required), ..) => (required.size.map(i64::from), required.span, false),
            (None, Some(given), Some(most)) if product(&given) > product(&most.size.map(i64::from)) => {
                let message = format!("--cta {} is more than `.maxntid` allows", shown(&given));
                return error(message, most.span);
            }
            (None, Some(given), _) => (given, entry.span, false),
            (None, None, Some(most)) => (most.size.map(i64::from), most.span, true),
            (None, None, None) => return Err(PtxError::NoSize(entry.span)),
        };
        let threads = product(&size);
        if !(1..=limits::CTA_THREADS).contains(&threads) || size.iter().any(|length| *length < 1) {
            let most = limits::CTA_THREADS;
            let message = format!("a CTA has 1 to {most} threads, and this one would have {}", shown(&size));
            return error(message, span);
        }
        let size = size.map(|length| u32::try_from(length).unwrap_or(1));
        Ok(Self { size, is_bound, params })
    }

    /// The value of a parameter, by its position or its name, if it is given.
    pub(super) fn param(&self, entry: &Function, name: &str, offset: i64) -> Option<i64> {
        if self.params.is_empty() {
            return None;
        }
        let position = entry.params.iter().position(|param| param.name == name)?;
        let whole = || self.params.get(name).or_else(|| self.params.get(&position.to_string()));
        let part = self.params.get(&shown_param(name, offset, entry));
        part.or_else(|| if offset == 0 { whole() } else { None }).copied()
    }

    /// Whether this is what a parameter, or a part of one, is called in the protocol.
    pub(super) fn is_param(entry: &Function, shown: &str) -> bool {
        entry.params.iter().any(|param| is_called(&param.name, &entry.name, shown))
    }

    /// The names among the definitions that concern this launch.
    pub(super) fn used(entry: &Function, defines: &BTreeMap<String, i64>) -> BTreeSet<String> {
        let concerns = |name: &&String| {
            let param = name.strip_prefix(PARAM);
            let is_param = |given: &str| {
                entry
                    .params
                    .iter()
                    .enumerate()
                    .any(|(i, param)| param.name == given || i.to_string() == given)
                    || Self::is_param(entry, given)
            };
            SIZE.contains(&name.as_str()) || name.as_str() == ENTRY || param.is_some_and(is_param)
        };
        defines.keys().filter(concerns).cloned().collect()
    }
}

/// Whether a parameter of an entry, or a part of it, is called so in the protocol.
pub(super) fn is_called(param: &str, entry: &str, shown: &str) -> bool {
    short(param, entry) == shown.split_once('+').map_or(shown, |(name, _)| name)
}

/// What a parameter, or the part of it at an offset in bytes, is called in the protocol.
pub(super) fn shown_param(name: &str, offset: i64, entry: &Function) -> String {
    let short = short(name, &entry.name);
    if offset == 0 { short } else { format!("{short}+{offset}") }
}

/// A parameter's name without that of the entry, which compilers put before it.
fn short(name: &str, entry: &str) -> String {
    let rest = name.strip_prefix("__cudaparm_").unwrap_or(name);
    match rest.strip_prefix(entry).and_then(|rest| rest.strip_prefix('_')) {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => name.to_owned(),
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
