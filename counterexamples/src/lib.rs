//! Traces of barrier protocols: what a search has found, written down so that it can be replayed,
//! explained and shown.
//!
//! A [`Trace`] is one run of a protocol and what it shows. [`build()`] makes one from the path that a search found, by
//! running the model along it; [`replay()`] confirms one on the model alone; [`counterexample()`] does both with the path that
//! [`shorten()`] makes of it. [`Trace::to_json`] and [`Trace::from_json`] write and read it; a [`Timeline`] goes along
//! it, step by step.
//!
//! This crate knows the model and JSON. It knows nothing of notations and nothing of search.

mod build;
mod convert;
mod counterexample;
mod dot;
mod escape;
mod explain;
mod fingerprint;
mod graph;
mod happening;
mod labels;
mod names;
mod read;
mod record;
mod replay;
mod resolve;
mod shorten;
mod situation;
mod story;
mod text;
mod timeline;
pub mod trace;
mod view;
mod viewer;
mod walk;

pub use build::{SourceInfo, What, build};
pub use convert::{ConvertError, Format, convert};
pub use counterexample::counterexample;
pub use fingerprint::{Identity, fingerprint, fingerprint_of};
pub use graph::{GraphError, View as GraphView, graph};
pub use labels::{PlaceLabel, labels};
pub use read::{MOST_AGENTS, MOST_STEPS, TraceError};
pub use record::Departure;
pub use replay::{Confirmation, Stuck, replay};
pub use shorten::shorten;
pub use situation::Situation;
pub use story::{Style, story};
pub use text::{harmless, misleads};
pub use timeline::{
    Access, Act, Change, Conflict, Generation, Group, Kind, Timeline, Waiter, Waiting, conflict,
};
pub use trace::Trace;
pub use viewer::{ClauseNote, Notes, RuleNote, page, run_view};
pub use walk::{Found, Next, Possible, Standing, Walk};

/// The JSON Schema of a trace (draft 2020-12).
pub const TRACE_SCHEMA: &str = include_str!("../schema/trace-1.schema.json");
/// The JSON Schema of a report, one line of `--format json` (draft 2020-12).
pub const REPORT_SCHEMA: &str = include_str!("../schema/report-1.schema.json");
