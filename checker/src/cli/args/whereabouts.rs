//! What the user can type to ask where a protocol can be.

use super::levels::exited_threads_parser;
use super::{Format, KernelArgs};
use crate::cli::values::{self, Define};
use barcheck::whereabouts::{At, Spot, Who};
use barcheck_model::machine::ExitedThreads;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `barcheck where`.
#[derive(Debug, Args)]
#[command(after_help = WHERE_EXAMPLES)]
pub(crate) struct WhereArgs {
    /// A protocol (`.bar`) or a module of compiled kernels in any notation (`.ptx`, `.sass`, …); `-` reads
    /// standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Where agents are: AGENTS is a number, a half-open range as `0..4`, or the name of a role; PLACE is a
    /// line of FILE, FILE:LINE of the source that a kernel was compiled from, or `exit`. Whoever is not
    /// named may be anywhere
    #[arg(long, value_name = "AGENTS=PLACE", required = true, num_args = 1.., value_parser = at)]
    pub(crate) at: Vec<At>,
    /// Ask for a hang alone: they are there, and nobody can ever go on
    #[arg(long, conflicts_with = "state")]
    pub(crate) hang: bool,
    /// Ask for any state in which they are there, and not whether it can hang there
    #[arg(long)]
    pub(crate) state: bool,
    /// What goes to standard output: text for people, or one JSON object, which `replay`, `show` and `view`
    /// take where it holds a run
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,
    /// Write the run that leads there to PATH as a trace
    #[arg(long, value_name = "PATH")]
    pub(crate) trace: Option<PathBuf>,
    /// Write the run that leads there to PATH as a page to look at in a browser
    #[arg(long, value_name = "PATH")]
    pub(crate) html: Option<PathBuf>,
    /// Set a `param` of the protocol; VALUE is decimal or 0x hexadecimal, may be negative
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = values::define)]
    pub(crate) define: Vec<Define>,
    /// PTX barriers with a thread count when warps exit: wait for the count, or release those who wait once
    /// every other warp has exited
    #[arg(long, value_name = "READING", default_value = "hold", value_parser = exited_threads_parser())]
    pub(crate) exited_threads: ExitedThreads,
    #[command(flatten, next_help_heading = "Compiled kernels")]
    pub(crate) kernel: KernelArgs,
    #[command(flatten, next_help_heading = "Budgets")]
    pub(crate) budgets: BudgetArgs,
}

/// When a search gives up.
#[derive(Debug, Args)]
pub(crate) struct BudgetArgs {
    /// Give up after N states
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_states: Option<u64>,
    /// Memory for the search: bytes, or with K, M, G in powers of 1,024 [default: half of what is available]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) max_memory: Option<u64>,
    /// Give up after this time; fractions are allowed
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    pub(crate) timeout: Option<Duration>,
}

const WHERE_EXAMPLES: &str = "\
Examples:
  barcheck where kernel.ptx --at 3=120 0=98           warp 3 at line 120 of the PTX, warp 0 at line 98
  barcheck where kernel.ptx --at 3=attn.cu:44 0=exit  by lines of the source (-lineinfo); warp 0 is gone
  barcheck where --hang ring.bar --at load=14 4..8=20 can it hang with the role `load` and warps 4 to 7 there
  barcheck where --format json ring.bar --at 0=14 > run.json && barcheck view run.json

Without --hang and --state a state in which nobody can go on is looked for first, and any state if there is
none. The run that is shown is the shortest that there is. That no run gets there is a proof: every state was
searched. The largest sets of those named that can be there together are listed then.

Exit status:
  0  a run gets there (with --hang: and hangs there)
  1  no run gets there (with --hang: none hangs there)
  2  wrong usage, unreadable or malformed input, or nothing that concerns others is at a PLACE
  3  a budget was used up, or the kernel does what is not followed: nobody knows";

/// Reads `AGENTS=PLACE`.
pub(crate) fn at(text: &str) -> Result<At, String> {
    let wanted =
        "expected AGENTS=PLACE, as in `3=120`, `0..4=attn.cu:44` or `load=exit`; FILE comes before --at";
    let (who, spot) = text.split_once('=').ok_or(wanted)?;
    let (who, spot) = (who.trim(), spot.trim());
    Ok(At { who: agents(who).ok_or(wanted)??, spot: place(spot).ok_or(wanted)? })
}

fn agents(text: &str) -> Option<Result<Who, String>> {
    let number = |digits: &str| -> Option<u32> {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| plain)
    };
    if let Some((from, to)) = text.split_once("..") {
        let (from, to) = (number(from)?, number(to)?);
        let is_empty = from >= to;
        return Some(if is_empty {
            Err(format!("`{text}` is nobody: of a range the end does not count"))
        } else {
            Ok(Who::Agents(from..to))
        });
    }
    if let Some(agent) = number(text) {
        return Some(Ok(Who::Agents(agent..agent.checked_add(1)?)));
    }
    let is_name = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| Ok(Who::Role(text.to_owned())))
}

fn place(text: &str) -> Option<Spot> {
    if text == "exit" {
        return Some(Spot::Exited);
    }
    let line = |digits: &str| digits.parse::<u32>().ok().filter(|line| *line > 0);
    match text.rsplit_once(':') {
        Some((file, number)) if !file.is_empty() => Some(Spot::Source(file.to_owned(), line(number)?)),
        Some(_) => None,
        None => line(text).map(Spot::Line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_and_places_are_read() {
        let of = |who, spot| Ok(At { who, spot });
        assert_eq!(at("3=120"), of(Who::Agents(3..4), Spot::Line(120)));
        assert_eq!(at("0..4=a.cu:7"), of(Who::Agents(0..4), Spot::Source("a.cu".to_owned(), 7)));
        assert_eq!(at("load=exit"), of(Who::Role("load".to_owned()), Spot::Exited));
        assert_eq!(at("0=C:\\k.cu:7"), of(Who::Agents(0..1), Spot::Source("C:\\k.cu".to_owned(), 7)));
        for wrong in ["", "3", "3=", "=3", "3=0", "4..4=1", "4..=1", "-1=2", "3=a.cu:", "3=:4", "k.ptx"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
    }
}
