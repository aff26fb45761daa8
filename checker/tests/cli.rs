//! The command line from outside: exit statuses, streams, reports, and every bad input that one can think of.

#[path = "cli/support.rs"]
mod support;

#[path = "cli/human.rs"]
mod human;
#[path = "cli/input.rs"]
mod input;
#[path = "cli/options.rs"]
mod options;
#[path = "cli/other_commands.rs"]
mod other_commands;
#[path = "cli/report.rs"]
mod report;
#[path = "cli/streams.rs"]
mod streams;
#[path = "cli/traces.rs"]
mod traces;
