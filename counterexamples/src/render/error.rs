//! Why a trace cannot be converted.

use std::fmt;

/// What is made of a trace has at most so many bytes: some formats repeat what a trace says once.
pub(super) const MOST_BYTES: usize = 128 << 20;

/// Why a trace cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConvertError {
    /// It would take more than 128 MiB.
    TooLarge,
    /// It cannot be written as JSON.
    Json(String),
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => {
                write!(f, "it is too large: in this format it would take more than {} MiB", MOST_BYTES >> 20)
            }
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
