//! What the user can type: commands, options, and the help that teaches them.

mod explain;
mod kernels;
mod levels;
mod library;
mod models;
mod pictures;
mod time;
mod whereabouts;

use super::sweep::{Ranged, ranged};
use super::values::{self, Define, Partition, ReportFormat, ReportTo, named};
use barcheck::Reduction;
use barcheck::gate::With;
use barcheck_model::machine::ExitedThreads;
use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
pub(crate) use explain::{ExplainArgs, Format, TableArgs};
pub(crate) use kernels::{DoctorArgs, ExtractArgs, KernelArgs};
use levels::exited_threads_parser;
pub(crate) use levels::{Changes, LevelArgs, level_changes};
pub(crate) use library::{ExamplesArgs, NewArgs};
pub(crate) use models::ExportArgs;
pub(crate) use pictures::{ConvertArgs, GraphArgs};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;
pub(crate) use time::TimeArgs;
pub(crate) use whereabouts::WhereArgs;

/// Checks GPU barrier protocols: explores every interleaving of the warps, threads, invocations or subgroups
/// of a group and says whether some of them hang, race or break a rule of the barrier specification.
#[derive(Debug, Parser)]
#[command(
    name = "barcheck",
    version,
    about = "A model checker for GPU barrier protocols",
    arg_required_else_help = true,
    subcommand_required = true,
    max_term_width = 110,
    after_help = TOP_EXAMPLES
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Colour the output: when it goes to a terminal and NO_COLOR is not set, always, or never
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub(crate) color: ColorWhen,
}

const TOP_EXAMPLES: &str = "\
Examples:
  barcheck verify ring.bar                       decide one protocol
  barcheck verify --cta 256 kernel.ptx           decide compiled kernels
  barcheck verify --all --trace traces *.bar     every rule violated, counterexamples into traces/
  barcheck where kernel.ptx --at 3=120 0=98      can it hang with warp 3 at line 120 and warp 0 at line 98
  barcheck explain arrival-race                  what a rule means, where it stands, how to fix it
  barcheck show traces/ring-deadlock.json        step through a counterexample in the terminal
  barcheck view traces/ring-deadlock.json        a page that does the same in a browser
  barcheck replay traces/ring-deadlock.json      check a counterexample against the model

Start with `barcheck verify --help`.";

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide protocols: verified, violated, or inconclusive
    Verify(Box<VerifyArgs>),
    /// Print the protocol of a compiled kernel: what its warps do at barriers
    Extract(ExtractArgs),
    /// Look at compiled kernels: roles, barriers, what would be assumed, what would not be followed
    Doctor(DoctorArgs),
    /// Ask whether a protocol or kernel can be, or hang, with agents at certain lines, and by which schedule
    Where(Box<WhereArgs>),
    /// Run protocols on executable barriers, under loom or shuttle: a second opinion on the model
    Gate(Box<GateArgs>),
    /// Replay counterexamples against the model: confirm each, or say where it departs
    Replay(ReplayArgs),
    /// Make a page of a counterexample: one HTML file that shows it step by step, in any browser, offline
    View(ViewArgs),
    /// Convert a counterexample for other programs, or into a picture
    Convert(ConvertArgs),
    /// Draw a protocol as a graph: who uses which barrier, who waits for whom, what agents can do
    Graph(GraphArgs),
    /// Export a protocol as a model for another model checker: a second opinion
    Export(Box<ExportArgs>),
    /// Step through a counterexample in the terminal; elsewhere, print the whole narrative
    Show(ShowArgs),
    /// Rewrite protocols in the standard layout
    Fmt(FmtArgs),
    /// Write a protocol to start from
    New(NewArgs),
    /// List the protocols that come with barcheck, or print one
    Examples(ExamplesArgs),
    /// Explain a rule, or the name of an error in a text: what it means, why it hurts, how to fix it
    Explain(ExplainArgs),
    /// List the rules
    Rules(TableArgs),
    /// List the clauses of the specifications and the rules that check them
    Clauses(TableArgs),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETION_EXAMPLES)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const COMPLETION_EXAMPLES: &str = "\
Examples:
  barcheck completions bash > ~/.local/share/bash-completion/completions/barcheck
  barcheck completions zsh > ~/.zfunc/_barcheck
  barcheck completions fish > ~/.config/fish/completions/barcheck.fish";

/// `barcheck verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Protocols (`.bar`) and compiled kernels (`.ptx`, …) to decide; of a folder all of them in it and
    /// below, except names that begin with a dot; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: ReportFormat,
    /// Write the report to PATH as well, in any FORMAT that --format knows (may be repeated)
    #[arg(long, value_name = "FORMAT=PATH", value_parser = values::report)]
    pub(crate) report: Vec<ReportTo>,
    /// Search on after the first error and report every rule that is violated
    #[arg(long)]
    pub(crate) all: bool,
    /// Hold each FILE to what its head says (`// expect: violated`, `// rules: deadlock`): FILEs that differ
    /// fail, all others pass. Every violation counts, under the `// options:` of the head
    #[arg(long, conflicts_with_all = ["deny", "warn", "allow", "strict", "exited_threads"])]
    pub(crate) expect: bool,
    /// Do not fail for findings that BASELINE knows; say which of them are not found any more. Implies --all,
    /// so that they hide no others
    #[arg(long, value_name = "BASELINE", conflicts_with = "expect")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write all that is found to BASELINE, to be known from now on. Implies --all
    #[arg(long, value_name = "BASELINE", conflicts_with_all = ["baseline", "expect"])]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Set a `param` of the protocol; VALUE is decimal or 0x hexadecimal, may be negative. Several values, as
    /// `2..8` (both ends count) or `2,4,8`, are decided one after the other, with those of other params in
    /// every combination
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = ranged)]
    pub(crate) define: Vec<Ranged>,
    /// Write the counterexample to PATH as JSON; with several FILEs, with --all, or if PATH is a folder, PATH
    /// is a folder (created if missing) that gets a file FILE-RULE.json for each finding. The way to an
    /// evaluation error, or to what is not modelled, is written likewise
    #[arg(long, value_name = "PATH")]
    pub(crate) trace: Option<PathBuf>,
    /// Write the counterexample to PATH as a page to look at in a browser; PATH is a folder where that of
    /// --trace would be
    #[arg(long, value_name = "PATH")]
    pub(crate) html: Option<PathBuf>,
    /// Say nothing of protocols that are verified without findings; no statistics, no progress, no notes on
    /// what is taken for true
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Say of each barrier instruction by whom and on which barriers it can be executed, and of loops that
    /// count how many of their rounds are made (`human`, `json`)
    #[arg(long)]
    pub(crate) coverage: bool,
    /// Show every step of a counterexample, and every agent in a column of its own, instead of one for those
    /// that are alike (`human`)
    #[arg(long)]
    pub(crate) unfold: bool,
    /// Decide one of n parts of the FILES: i from 1 to n; every FILE is in exactly one of them
    #[arg(long, value_name = "i/n", value_parser = values::partition)]
    pub(crate) partition: Option<Partition>,
    /// Exit with status 0 whatever the verdicts, errors in FILES included
    #[arg(long)]
    pub(crate) exit_zero: bool,
    #[command(flatten, next_help_heading = "Compiled kernels")]
    pub(crate) kernel: KernelArgs,
    /// Without accesses of kernels to shared memory: no data races are looked for
    #[arg(long, help_heading = "Compiled kernels")]
    pub(crate) no_memory: bool,
    /// A kernel is verified only if all its accesses to shared memory are followed; else it is inconclusive
    #[arg(long, help_heading = "Compiled kernels", conflicts_with = "no_memory")]
    pub(crate) require_memory: bool,
    #[command(flatten, next_help_heading = "Levels of rules")]
    pub(crate) levels: LevelArgs,
    #[command(flatten, next_help_heading = "Budgets and search")]
    pub(crate) search: SearchArgs,
}

/// The options of `barcheck verify` that concern the search.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// PTX barriers with a thread count when warps exit: wait for the count, or (PTX 9.1) release those who
    /// wait once every other warp has exited
    #[arg(long, value_name = "READING", default_value = "hold", value_parser = exited_threads_parser())]
    pub(crate) exited_threads: ExitedThreads,
    /// Give up on a FILE after N states
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_states: Option<u64>,
    /// Memory for the search: bytes, or with K, M, G in powers of 1,024. What has no room is moved to disk as
    /// far as can be; then the search gives up on the FILE [default: half of the memory available]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) max_memory: Option<u64>,
    /// The folder for states that have no room in memory [default: TMPDIR, or /var/tmp]
    #[arg(long, value_name = "DIR")]
    pub(crate) spill: Option<PathBuf>,
    /// Move nothing to disk: give up on a FILE when memory is used up
    #[arg(long, conflicts_with = "spill")]
    pub(crate) no_spill: bool,
    /// Keep only hashes of the states that have been searched: about 16 bytes for each, however wide. The
    /// report says how likely it is that a state was missed; a violation found is always a real one
    #[arg(long, conflicts_with_all = ["checkpoint", "spill"])]
    pub(crate) compact: bool,
    /// Keep what long searches have found in DIR: run again, a search that was ended or killed goes on from
    /// there. What is kept of a search is removed once it is complete
    #[arg(long, value_name = "DIR")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Give up on a FILE after this time; fractions are allowed
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Search with N threads: that pays for millions of states, on cores that are idle. The report is the
    /// same for any N [default: 1]
    #[arg(long, value_name = "N", value_parser = values::threads)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// What need not be searched: `none` covers every interleaving, `symmetry` one of several states that
    /// differ only in which of several identical agents is which, `schedule` makes a single run where all
    /// others are permutations of it, `stubborn` one for each way that choices may go; `auto` tries the
    /// schedule, then stubborn, then searches with symmetry
    #[arg(long, value_name = "KIND", default_value = "auto", value_parser = reduction_parser())]
    pub(crate) reduction: Reduction,
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  barcheck verify ring.bar                          one protocol, the shortest counterexample
  barcheck verify -D ROUNDS=64 ring.bar             with another value for `param ROUNDS`
  barcheck verify -D STAGES=2..8 -D N=2,4 ring.bar  14 combinations, and a table of their verdicts
  barcheck verify --all --format json *.bar         every violated rule, for scripts
  barcheck verify --trace hang.json ring.bar        keep the counterexample
  barcheck verify --html hang.html ring.bar         look at it in a browser
  barcheck verify --deny dangling-arrival --allow arrival-race,nobody-waits ring.bar
  barcheck verify --timeout 60 --max-memory 4G big.bar
  barcheck verify --format github --report sarif=barcheck.sarif --report junit=barcheck.xml protocols
  barcheck verify --write-baseline known.txt protocols
  barcheck verify --baseline known.txt protocols    fail only for what is new
  barcheck verify --partition 2/3 protocols         the second third of them, for the second of three machines
  barcheck verify --expect protocols                broken ones must be broken: see their heads
  generate-protocol | barcheck verify -
  barcheck verify --cta 256 kernel.ptx              every kernel of the module that has barriers

Exit status, the first that applies:
  1  some FILE is violated, by more than what is known
  2  wrong usage, unreadable or malformed input, or an evaluation error; the others are decided
  3  some FILE is inconclusive: a budget was used up, or a path could not be followed
  0  every FILE is verified, or all that violates it is known
With --expect, 0 if every FILE comes to what its head says, otherwise 1.
With --exit-zero, 2 for wrong usage and for output that cannot be written, otherwise 0.

`barcheck rules` lists the rules, `barcheck explain RULE` explains one.";

/// `barcheck gate`.
#[derive(Debug, Args)]
#[command(after_help = GATE_EXAMPLES)]
pub(crate) struct GateArgs {
    /// Protocols (`.bar`) and compiled kernels (`.ptx`) to run; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Who runs the threads: loom (every schedule, at most 4 agents), shuttle (random schedules), or the
    /// operating system [default: loom where it can, else shuttle]
    #[arg(long, value_name = "RUNNER", value_parser = with_parser())]
    pub(crate) with: Option<With>,
    /// What goes to standard output: text for people, or one JSON object for each FILE, one per line
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,
    /// loom: go on after a violation that a barrier reports, and collect every such rule
    #[arg(long)]
    pub(crate) all: bool,
    /// Set a `param` of the protocol; VALUE is decimal or 0x hexadecimal, may be negative
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = values::define)]
    pub(crate) define: Vec<Define>,
    /// Write the counterexample to PATH as JSON; with several FILEs, or if PATH is a folder, PATH is a folder
    /// that gets a file FILE-RULE.json for each
    #[arg(long, value_name = "PATH")]
    pub(crate) trace: Option<PathBuf>,
    /// Write the counterexample to PATH as a page to look at in a browser; PATH is a folder where that of
    /// --trace would be
    #[arg(long, value_name = "PATH")]
    pub(crate) html: Option<PathBuf>,
    /// PTX barriers with a thread count when warps exit: wait for the count, or release those who wait once
    /// every other warp has exited
    #[arg(long, value_name = "READING", default_value = "hold", value_parser = exited_threads_parser())]
    pub(crate) exited_threads: ExitedThreads,
    /// End each FILE's exploration after this time; fractions are allowed [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    pub(crate) timeout: Option<Duration>,
    /// loom: every schedule with at most N preemptions, instead of 1, 2, 3 and all as time allows
    #[arg(long, value_name = "N")]
    pub(crate) preemptions: Option<usize>,
    /// shuttle, std: how many executions [default: 5000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) executions: Option<u64>,
    /// shuttle, std: where chance begins; the same seed makes the same choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// shuttle: run the schedule again that an earlier run has printed
    #[arg(long, value_name = "SCHEDULE")]
    pub(crate) schedule: Option<String>,
    #[command(flatten, next_help_heading = "Compiled kernels")]
    pub(crate) kernel: KernelArgs,
}

const GATE_EXAMPLES: &str = "\
Examples:
  barcheck gate ring.bar                            every schedule of up to 4 agents, else many at random
  barcheck gate --with loom --preemptions 2 ring.bar
  barcheck gate --with shuttle --executions 100000 --seed 7 ring.bar
  barcheck gate --with std --trace hang.json ring.bar
  barcheck gate --cta 256 kernel.ptx                every kernel of the module that has barriers

The agents run as threads on barriers that are written from the specifications and share nothing with the model
that `barcheck verify` explores. What loom or shuttle find is confirmed by the model and shown as `verify` shows it.
Only `verify` proves: loom proves what it says it has covered, for the rules that running threads can show (not
`arrival-race`, `missing-fence`, `stuck-agent`); shuttle and the operating system prove nothing.

Exit status, the first that applies:
  1  some FILE is violated
  2  wrong usage, unreadable or malformed input, or the explorer and the model contradict each other
  3  some FILE cannot be run on threads, or not even the smallest bound was covered in time
  0  no violation was found, as far as the output says";

/// `barcheck replay`.
#[derive(Debug, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// Counterexamples, as written by `barcheck verify --trace`; `-` reads standard input
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<PathBuf>,
    /// What goes to standard output: text for people, or one JSON object for each TRACE, one per line
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  barcheck replay hang.json
  barcheck replay traces/*.json

Exit status, the first that applies: 1 some TRACE departs from the model, 2 some TRACE cannot be read, 3 time
was up, 0 all confirmed.";

/// `barcheck view`.
#[derive(Debug, Args)]
#[command(after_help = VIEW_EXAMPLES)]
pub(crate) struct ViewArgs {
    /// Counterexamples, as written by `barcheck verify --trace`; `-` reads standard input
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<PathBuf>,
    /// Write the page to PATH instead of beside its TRACE; with several TRACEs, or if PATH is a folder, into
    /// it; `-` is standard output
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Show a TRACE that departs from the model, too; its page says so
    #[arg(long)]
    pub(crate) anyway: bool,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
}

const VIEW_EXAMPLES: &str = "\
Examples:
  barcheck view hang.json                           writes hang.html
  barcheck view -o pages traces/*.json              one page for each
  generate-trace | barcheck view - > hang.html

A page is one file that asks for nothing: open it, attach it to a report, keep it. Press ? in it for its keys.
`barcheck verify --html hang.html ring.bar` writes one right away.

Exit status, the first that applies: 1 some TRACE departs from the model, 2 some TRACE cannot be read or some page not
be written, 3 time was up, 0 all pages written.";

/// `barcheck show`.
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct ShowArgs {
    /// A counterexample, as written by `barcheck verify --trace`; `-` reads standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// Print the whole narrative, as is done where standard output is no terminal
    #[arg(long)]
    pub(crate) plain: bool,
    /// Show a TRACE that departs from the model, too, and say so
    #[arg(long)]
    pub(crate) anyway: bool,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  barcheck verify --trace hang.json ring.bar        writes the TRACE of a counterexample
  barcheck show hang.json                           step through it: arrow keys, ? for all keys, q to quit
  barcheck show hang.json | less                    every step, then why
  generate-trace | barcheck show -                  keys come from the terminal nevertheless

Exit status, the first that applies: 1 TRACE departs from the model, 2 TRACE cannot be read, 3 time was up, 0 it
was shown.";

/// `barcheck fmt`.
#[derive(Debug, Args)]
#[command(after_help = FMT_EXAMPLES)]
pub(crate) struct FmtArgs {
    /// Protocols to format, in place; `-` formats standard input to standard output
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Change nothing; list the FILEs that are not formatted and exit with status 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
}

const FMT_EXAMPLES: &str = "\
Examples:
  barcheck fmt ring.bar
  barcheck fmt --check protocols/*.bar
  barcheck fmt - < ring.bar";

/// When to colour the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

fn with_parser() -> impl TypedValueParser<Value = With> {
    named(&[(With::Loom, "loom"), (With::Shuttle, "shuttle"), (With::Std, "std")])
}

fn reduction_parser() -> impl TypedValueParser<Value = Reduction> {
    named(&[
        (Reduction::Auto, "auto"),
        (Reduction::None, "none"),
        (Reduction::Schedule, "schedule"),
        (Reduction::Stubborn, "stubborn"),
        (Reduction::Symmetry, "symmetry"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use barcheck::Lint;
    use barcheck_model::rule::{Level, Rule};
    use clap::{CommandFactory, FromArgMatches};

    fn changes(line: &str) -> Changes {
        let matches = Cli::command().try_get_matches_from(line.split(' ')).expect("the line is well formed");
        let cli = Cli::from_arg_matches(&matches).expect("the matches are complete");
        let Command::Verify(verify) = cli.command else { panic!("not `verify`") };
        level_changes(&verify.levels, matches.subcommand_matches("verify").expect("it is `verify`"))
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn levels_keep_their_order() {
        let line =
            "barcheck verify f --allow deadlock,data-race --deny=deadlock --warn data-race --allow deadlock";
        let expected = [
            (Rule::Deadlock, Level::Allow),
            (Rule::DataRace, Level::Allow),
            (Rule::Deadlock, Level::Error),
            (Rule::DataRace, Level::Warning),
            (Rule::Deadlock, Level::Allow),
        ];
        assert_eq!(changes(line).rules, expected);
        assert_eq!(changes("barcheck verify f"), Changes::default());
    }

    #[test]
    fn lints_have_levels_as_rules_have() {
        let line = "barcheck verify f --deny unused,deadlock --allow unused --warn unreached";
        let Changes { rules, lints } = changes(line);
        assert_eq!(rules, [(Rule::Deadlock, Level::Error)]);
        let (unused, unreached) = (Lint::Unused, Lint::Unreached);
        let expected = [(unused, Level::Error), (unused, Level::Allow), (unreached, Level::Warning)];
        assert_eq!(lints, expected.into_iter().collect::<Vec<_>>());
    }
}
