//! Traces of barrier protocols: what a search has found, written down so that it can be replayed,
//! explained and shown.
//!
//! A [`Trace`] is one run of a protocol and what it shows. [`build()`] makes one from the path that a search
//! found, by running the model along it; [`replay()`] confirms one on the model alone; [`counterexample()`]
//! does both with the path that [`shorten()`] makes of it. [`Trace::to_json`] and [`Trace::from_json`] write
//! and read it; a [`Timeline`] goes along it, step by step.
//!
//! This crate knows the model and JSON. It knows nothing of notations, and searches for nothing: what it
//! builds, replays and shortens is a path that it was given. Replay looks beyond that path once: where a
//! trace says that an agent is stuck for ever, it explores what can follow the cycle, up to a bound, to
//! confirm that the agent stays blocked.
//!
//! ```
//! use barcheck_counterexamples::{Style, Trace, TraceError, narrative};
//!
//! let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/gallery/ptx/deadlock_crossed_order.json"));
//! let trace = Trace::from_json(text)?;
//! assert_eq!(trace.outcome.rule.as_deref(), Some("deadlock"));
//! let text = narrative(&trace, &Style::default());
//! assert!(text.contains("No warp can take another step."));
//! # Ok::<(), TraceError>(())
//! ```

mod build;
mod explain;
mod interactive;
mod names;
mod objects;
mod render;
mod replay;
mod shorten;
mod timeline;
pub mod trace;
mod wording;

pub use build::counterexample::{Counterexample, counterexample, counterexample_within};
pub use build::limits::{LeftOut, Limits, Why};
pub use build::record::Departure;
pub use build::{SourceInfo, What, build};
pub use explain::labels::{PlaceLabel, labels};
pub use explain::{announces_unread_data, clause, leaves_unread_data};
pub use interactive::{Found, Next, Possible, Standing, Walk};
pub use names::{Noun, agents, narrow, noun};
pub use objects::{Flight, Phase};
pub use render::dot::protocol::{GraphError, View as GraphView, graph};
pub use render::escape::html as html_text;
pub use render::harmless::{harmless, misleads};
#[cfg(feature = "page")]
pub use render::html::page;
pub use render::html::{ClauseNote, CompiledFrom, Notes, RuleNote, SourceFile, SourceLine, run_view};
pub use render::text::{Style, narrative};
pub use render::{ConvertError, Format, convert, run_picture};
pub use replay::{Confirmation, Stuck, last_arrivals, replay, replay_within};
pub use shorten::{shorten, shorten_within};
pub use timeline::{
    Access, Act, Change, Conflict, Copied, Figure, Generation, Group, Kind, Local, Room, Side, Timeline,
    Waiter, Waiting, conflict,
};
pub use trace::{
    Identity, MOST_AGENTS, MOST_STEPS, Situation, Trace, TraceError, fingerprint, fingerprint_of,
};
pub use wording::{Named, barrier, named_objects};

/// The JSON Schema of a trace (draft 2020-12).
pub const TRACE_SCHEMA: &str = include_str!("../schema/trace-1.schema.json");
/// The JSON Schema of a report, one line of `--format json` (draft 2020-12).
pub const REPORT_SCHEMA: &str = include_str!("../schema/report-1.schema.json");
