//! Values of locals and operands as text.

use barcheck_model::agent::{LaneValues, Value};

use super::{handle_in_words, opaque_in_words};
use crate::names;

/// A local's value, as text; `None` for one that holds nothing.
pub(crate) fn show_local(values: &LaneValues, lanes: u32) -> Option<String> {
    match values {
        LaneValues::Same(Value::Unset) => None,
        LaneValues::Same(value) => Some(show_value(value)),
        LaneValues::Each(each) => {
            let of = |lane: u32| each.get(lane as usize);
            let values: Vec<_> = (0..32)
                .filter(|lane| lanes >> lane & 1 == 1)
                .map(|lane| match of(lane) {
                    Some(Value::Int(n)) => Some(*n),
                    _ => None,
                })
                .collect();
            Some(show_lanes(&values))
        }
    }
}

pub(super) fn show_value(value: &Value) -> String {
    match value {
        Value::Unset => "?".to_owned(),
        Value::Int(n) => n.to_string(),
        Value::Opaque(opaque) => opaque_in_words(opaque),
        Value::Handle(handle) => handle_in_words(handle),
        Value::Token(_) => "token".to_owned(),
    }
}

/// Values lane by lane: one number where they agree, the values in braces where they do not.
pub(super) fn show_lanes(values: &[Option<i64>]) -> String {
    let Some(known) = values.iter().copied().collect::<Option<Vec<i64>>>() else {
        return "?".to_owned();
    };
    let distinct = names::distinct(known);
    match distinct.as_slice() {
        [] => "?".to_owned(),
        [one] => one.to_string(),
        [first, .., last] if *last == first.saturating_add(distinct.len() as i64 - 1) => {
            format!("{{{first}-{last}}}")
        }
        several if several.len() <= 4 => {
            format!("{{{}}}", several.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
        }
        [first, .., last] => format!("{{{first},...,{last}}}"),
    }
}
