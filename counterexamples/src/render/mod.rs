//! A trace, and a protocol, in the formats of people and of other programs.

pub(crate) mod dot;
mod error;
pub(crate) mod escape;
pub(crate) mod events;
pub(crate) mod harmless;
pub(crate) mod html;
mod itf;
mod mermaid;
mod perfetto;
mod spans;
mod svg;
pub(crate) mod text;

use crate::render::text::{Style, narrative};
use crate::trace::Trace;
pub use error::ConvertError;

/// What a trace can be converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The narrative as `verify` prints it.
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

/// A trace in another format, ended by a line break. `departure` says where the trace does not do what it
/// says; what is made of it then says so.
///
/// # Errors
/// The trace is too large for the format.
pub fn convert(trace: &Trace, format: Format, departure: Option<&str>) -> Result<String, ConvertError> {
    let warning = departure.map(|departure| {
        format!("What follows may not be so, for the trace departs from the model: {departure}")
    });
    let warning = warning.as_deref();
    match format {
        Format::Text => Ok(text(trace, warning)),
        Format::Svg => Ok(svg::svg(trace, warning, true)),
        Format::Mermaid => Ok(mermaid::mermaid(trace, warning)),
        Format::Dot => Ok(dot::waiting::waiting(trace, warning)),
        Format::Perfetto => perfetto::perfetto(trace, warning),
        Format::Itf => itf::itf(trace, warning),
    }
}

/// A picture of the lanes of a run that shows nothing: its trace's outcome has a headline, and is not looked
/// at otherwise.
#[must_use]
pub fn run_picture(trace: &Trace) -> String {
    svg::svg(trace, None, false)
}

fn text(trace: &Trace, warning: Option<&str>) -> String {
    let told = narrative(trace, &Style::default());
    match warning {
        Some(warning) => format!("{}\n\n{told}", escape::line(warning, 1000)),
        None => told,
    }
}
