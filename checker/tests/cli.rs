//! The command line from outside: exit statuses, streams, reports, and every bad input that one can think of.

#[path = "cli/support.rs"]
mod support;

#[path = "cli/allow.rs"]
mod allow;
#[path = "cli/bad_kernels.rs"]
mod bad_kernels;
#[path = "cli/baseline.rs"]
mod baseline;
#[path = "cli/budgets.rs"]
mod budgets;
#[path = "cli/clauses.rs"]
mod clauses;
#[path = "cli/convert.rs"]
mod convert;
#[path = "cli/culprits.rs"]
mod culprits;
#[path = "cli/delivery.rs"]
mod delivery;
#[path = "cli/early.rs"]
mod early;
#[path = "cli/expectations.rs"]
mod expectations;
#[path = "cli/folders.rs"]
mod folders;
#[path = "cli/gate.rs"]
mod gate;
#[path = "cli/github.rs"]
mod github;
#[path = "cli/headlines.rs"]
mod headlines;
#[path = "cli/human.rs"]
mod human;
#[path = "cli/input.rs"]
mod input;
#[path = "cli/junit.rs"]
mod junit;
#[path = "cli/kernels.rs"]
mod kernels;
#[path = "cli/leftovers.rs"]
mod leftovers;
#[path = "cli/library.rs"]
mod library;
#[path = "cli/lints.rs"]
mod lints;
#[path = "cli/long_names.rs"]
mod long_names;
#[path = "cli/many.rs"]
mod many;
#[path = "cli/names.rs"]
mod names;
#[path = "cli/options.rs"]
mod options;
#[path = "cli/other_commands.rs"]
mod other_commands;
#[path = "cli/partitions.rs"]
mod partitions;
#[path = "cli/patience.rs"]
mod patience;
#[path = "cli/phases.rs"]
mod phases;
#[path = "cli/ranges.rs"]
mod ranges;
#[path = "cli/report.rs"]
mod report;
#[path = "cli/sarif.rs"]
mod sarif;
#[path = "cli/shorter.rs"]
mod shorter;
#[path = "cli/show.rs"]
mod show;
#[path = "cli/streams.rs"]
mod streams;
#[path = "cli/table.rs"]
mod table;
#[path = "cli/traces.rs"]
mod traces;
#[path = "cli/view.rs"]
mod view;
#[path = "cli/whereabouts.rs"]
mod whereabouts;
#[path = "cli/workflow.rs"]
mod workflow;
#[path = "cli/writing.rs"]
mod writing;
