//! Ranges of values for `param`s, and the combinations that they make.

use barcheck::numbers::grouped;
use barcheck_specs::Params;
use barcheck_specs::definition::{integer, named};
use std::collections::BTreeMap;

/// Combinations that are decided of one file, at most: of more nobody would read the table.
const MOST: usize = 1_000;

/// `-D NAME=VALUES`: a `param` and the values that it takes in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranged {
    /// The `param`.
    pub(crate) name: String,
    /// At least one value, none twice, in the order given.
    pub(crate) values: Vec<i64>,
}

/// Reads `NAME=VALUES`: values and ranges `FIRST..LAST`, both ends included, joined by commas.
pub(crate) fn ranged(text: &str) -> Result<Ranged, String> {
    let (name, list) = named(text)?;
    let mut values: Vec<i64> = Vec::new();
    for part in list.split(',') {
        let (first, last) = ends(part)?;
        if first > last {
            return Err(format!("`{part}` is empty: a range is FIRST..LAST, and both count"));
        }
        let size = i128::from(last) - i128::from(first) + 1 + values.len() as i128;
        if size > MOST as i128 {
            return Err(too_many(format_args!("`{list}` has"), "values"));
        }
        values.extend((first..=last).filter(|value| !values.contains(value)).collect::<Vec<_>>());
    }
    Ok(Ranged { name: name.to_owned(), values })
}

/// The first and the last value of `2`, `2..8` or `2..=8`.
fn ends(part: &str) -> Result<(i64, i64), String> {
    let Some((first, last)) = part.split_once("..") else {
        let value = integer(part)?;
        return Ok((value, value));
    };
    let last = last.strip_prefix('=').unwrap_or(last);
    if first.is_empty() || last.is_empty() {
        return Err(format!("`{part}` has no end; a range is FIRST..LAST, and both count"));
    }
    Ok((integer(first)?, integer(last)?))
}

fn too_many(subject: impl std::fmt::Display, what: &str) -> String {
    let most = grouped(MOST as u64);
    format!("{subject} more than {most} {what}, and no more than {most} combinations are decided at a time")
}

/// All that is set by `-D`, with the values that each takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweep {
    /// The last definition of a name counts.
    defines: Vec<Ranged>,
}

/// One value for each `param` that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Combination {
    /// All that is set.
    pub(crate) defines: BTreeMap<String, i64>,
    /// What is set to several values in turn, in the order of the command line.
    pub(crate) parameters: Vec<(String, i64)>,
}

impl Sweep {
    /// What a command line sets. The error is a message: there are too many combinations.
    pub(crate) fn new(given: &[Ranged]) -> Result<Self, String> {
        let mut defines: Vec<Ranged> = Vec::new();
        for one in given {
            match defines.iter_mut().find(|earlier| earlier.name == one.name) {
                Some(earlier) => earlier.clone_from(one),
                None => defines.push(one.clone()),
            }
        }
        let sizes = || defines.iter().map(|one| one.values.len());
        match sizes().try_fold(1, usize::checked_mul).filter(|product| *product <= MOST) {
            Some(_) => Ok(Self { defines }),
            None => {
                let factors: Vec<_> = sizes().filter(|size| *size > 1).map(|size| size.to_string()).collect();
                Err(too_many(format_args!("{} are", factors.join(" × ")), "combinations"))
            }
        }
    }

    /// The names that are set.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.defines.iter().map(|one| one.name.as_str())
    }

    /// Whether something is set to several values.
    pub(crate) fn varies(&self) -> bool {
        self.defines.iter().any(|one| one.values.len() > 1)
    }

    /// The combinations for a protocol that declares these params, the last name varying fastest. Where it is
    /// not known what it declares, nothing can be made of it, whatever is set: the first.
    pub(crate) fn combinations(&self, params: Option<&Params>) -> Vec<Combination> {
        let mut all = vec![Combination::default()];
        for one in &self.defines {
            let concerned = params.is_some_and(|params| params.contains(&one.name));
            let values = if concerned { &one.values[..] } else { &one.values[..1] };
            let varies = values.len() > 1;
            let with = |combination: &Combination, value: i64| {
                let mut combination = combination.clone();
                combination.defines.insert(one.name.clone(), value);
                if varies {
                    combination.parameters.push((one.name.clone(), value));
                }
                combination
            };
            all = all.iter().flat_map(|earlier| values.iter().map(|value| with(earlier, *value))).collect();
        }
        all
    }
}

/// `STAGES=2, N=4`; empty if nothing varies.
pub(crate) fn shown(parameters: &[(String, i64)]) -> String {
    let each: Vec<_> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    each.join(", ")
}

/// `-STAGES=2-N=4`, for the names of files; empty if nothing varies.
pub(crate) fn suffix(parameters: &[(String, i64)]) -> String {
    parameters.iter().map(|(name, value)| format!("-{name}={value}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<i64> {
        ranged(text).map(|ranged| ranged.values).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn both_ends_of_a_range_count() {
        assert_eq!(values("N=7"), [7]);
        assert_eq!(values("N=2..4"), [2, 3, 4]);
        assert_eq!(values("N=2..=4"), [2, 3, 4]);
        assert_eq!(values("N=-0x2..0"), [-2, -1, 0]);
        assert_eq!(values("N=4,2,3..5,2"), [4, 2, 3, 5]);
        assert_eq!(values("N=1..1000").len(), 1000);
        assert_eq!(values("N=9223372036854775806..9223372036854775807").len(), 2);
    }

    #[test]
    fn what_is_no_list_of_values_is_refused_without_making_it() {
        let whole = "N=-9223372036854775808..9223372036854775807";
        for (text, message) in [
            ("N", "NAME=VALUE"),
            ("N=8..2", "`8..2` is empty"),
            ("N=..2", "has no end"),
            ("N=2..", "has no end"),
            ("N=2,,3", "is not an integer"),
            ("N=2..3..4", "is not an integer"),
            ("N=1.5", "is not an integer"),
            ("N=0..1000", "more than 1,000 values"),
            ("N=1..600,2..700", "more than 1,000 values"),
            (whole, "more than 1,000 values"),
        ] {
            assert!(ranged(text).is_err_and(|error| error.contains(message)), "{text}");
        }
    }

    fn sweep(texts: &[&str]) -> Result<Sweep, String> {
        let all: Vec<_> = texts.iter().map(|text| ranged(text).expect("it is well formed")).collect();
        Sweep::new(&all)
    }

    #[test]
    fn combinations_are_the_product_of_what_a_protocol_declares() {
        let sweep = sweep(&["A=1,2", "B=3..4", "C=5"]).expect("there are few");
        let of = |params: &[&str]| {
            let params = params.iter().map(|name| (*name).to_owned()).collect();
            let all = sweep.combinations(Some(&params));
            all.iter().map(|one| shown(&one.parameters)).collect::<Vec<_>>()
        };
        assert_eq!(of(&["A", "B", "C"]), ["A=1, B=3", "A=1, B=4", "A=2, B=3", "A=2, B=4"]);
        assert_eq!(of(&["B"]), ["B=3", "B=4"]);
        assert_eq!(of(&["C"]), [""]);
        assert_eq!(sweep.combinations(None).len(), 1);
    }

    #[test]
    fn the_last_definition_of_a_name_counts_and_their_product_is_limited() {
        assert!(sweep(&["N=1..9", "N=3"]).is_ok_and(|sweep| !sweep.varies()));
        assert!(sweep(&["A=1..10", "B=1..10", "C=1..10"]).is_ok());
        let error = sweep(&["A=1..10", "B=1..101", "C=7"]).err();
        assert!(error.is_some_and(|error| error.starts_with("10 × 101 are more than 1,000 combinations")));
        let many = vec!["A=1..1000"; 30];
        assert!(sweep(&many).is_ok());
        let names: Vec<_> = (0..40).map(|number| format!("N{number}=1..1000")).collect();
        assert!(sweep(&names.iter().map(String::as_str).collect::<Vec<_>>()).is_err());
    }
}
