//! Why a trace cannot be converted.

use std::fmt;

/// Why a trace cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConvertError {
    /// The format repeats whole states, and there are too many.
    TooLarge {
        /// States of the trace.
        states: usize,
        /// Agents and barriers in each.
        parts: usize,
        /// How many agents and barriers there may be in all states together.
        most: usize,
    },
    /// It cannot be written as JSON.
    Json(String),
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { states, parts, most } => write!(
                f,
                "it is too large: the format repeats every state, and {states} states of {parts} agents and \
                 barriers are more than {most} altogether"
            ),
            Self::Json(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ConvertError {}

impl From<serde_json::Error> for ConvertError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error.to_string())
    }
}
