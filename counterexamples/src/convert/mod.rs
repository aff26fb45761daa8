//! A trace in the formats of other programs, and as pictures.

mod dot;
mod itf;
mod mermaid;
mod perfetto;
mod spans;
mod svg;

use std::fmt;

use crate::story::{Style, story};
use crate::trace::Trace;

/// What a trace can be converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The story as `verify` prints it.
    Text,
    /// A picture of the lanes.
    Svg,
    /// A sequence diagram in the language of Mermaid.
    Mermaid,
    /// Who waits for whom in the end, in the language of Graphviz.
    Dot,
    /// The trace event format of Chrome, which Perfetto shows.
    Perfetto,
    /// The Informal Trace Format of Apalache, which tools around TLA+ and Quint read.
    Itf,
}

impl Format {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Svg => "svg",
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::Perfetto => "perfetto",
            Self::Itf => "itf",
        }
    }
}

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

/// A trace in another format, ended by a line break. `departure` says where the trace does not do what it says; what is made
/// of it then says so.
///
/// # Errors
/// The trace is too large for the format.
pub fn convert(trace: &Trace, format: Format, departure: Option<&str>) -> Result<String, ConvertError> {
    match format {
        Format::Itf => itf::itf(trace, departure),
        Format::Perfetto => perfetto::perfetto(trace, departure),
        Format::Svg => Ok(svg::svg(trace, departure)),
        Format::Mermaid => Ok(mermaid::mermaid(trace, departure)),
        Format::Dot => Ok(dot::dot(trace, departure)),
        Format::Text => Ok(text(trace, departure)),
    }
}

fn text(trace: &Trace, departure: Option<&str>) -> String {
    let told = story(trace, &Style::default());
    departure.map_or(told.clone(), |departure| format!("{}\n\n{told}", warning(departure)))
}

/// What everything says that is made of a trace that does not do what it says.
fn warning(departure: &str) -> String {
    format!("What follows may not be so, for the trace departs from the model: {departure}")
}
