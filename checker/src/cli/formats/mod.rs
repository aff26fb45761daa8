//! The forms of a report: each takes the files as they are decided, and says what is to be written when.

mod combinations;
mod failures;
mod github;
mod junit;
mod listing;
mod plain;
mod reporter;
mod sarif;

use super::output::Look;
use super::values::ReportFormat;
pub(crate) use reporter::Reporter;

/// A report in the making. `look` and `quiet` concern text for people; `alone` means that complaints, which
/// people read on standard error otherwise, are part of it.
pub(crate) fn reporter(format: ReportFormat, look: Look, quiet: bool, alone: bool) -> Box<dyn Reporter> {
    match format {
        ReportFormat::Human => Box::new(plain::Human::new(look, quiet, alone)),
        ReportFormat::Json => Box::new(plain::Json),
        ReportFormat::Junit => Box::new(junit::Junit::default()),
        ReportFormat::Sarif => Box::new(sarif::Sarif::default()),
        ReportFormat::Table => Box::new(listing::Listing::new(look, false)),
        ReportFormat::Markdown => Box::new(listing::Listing::new(Look::file(), true)),
        ReportFormat::Github => Box::new(github::Github { quiet }),
    }
}
