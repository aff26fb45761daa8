//! How many files came to which verdict, in a line for people.

use super::decided::Decided;
use super::output::{Palette, counted, grouped};
use super::values::Partition;
use barcheck::Verdict;
use std::path::PathBuf;

/// How many files came to which verdict.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    verified: u64,
    violated: u64,
    /// Violated by nothing but what is known.
    known: u64,
    inconclusive: u64,
    errors: u64,
    /// With `--expect`: how many came to what their heads say, and how many did not.
    expected: Option<(u64, u64)>,
    /// What is counted are combinations of values.
    sweep: bool,
    /// The page that lists all files, once it is written.
    pub(crate) index: Option<PathBuf>,
    /// Some of them are kernels, several of one file perhaps.
    kernels: bool,
    /// The part decided, and how many files there are in all.
    part: Option<(Partition, u64)>,
}

impl Tally {
    /// No file yet, of one part if only that is decided of `all` files; `expect` if they are held to their
    /// heads, `sweep` if each is decided for several combinations of values.
    pub(crate) fn new(partition: Option<Partition>, all: usize, expect: bool, sweep: bool) -> Self {
        let part = partition.map(|partition| (partition, all as u64));
        Self { part, expected: expect.then_some((0, 0)), sweep, ..Self::default() }
    }

    /// Counts one more.
    pub(crate) fn count(&mut self, decided: &Decided) {
        if let Some((as_expected, others)) = &mut self.expected {
            *if decided.is_as_expected() { as_expected } else { others } += 1;
        }
        self.kernels |= decided.kernel.is_some();
        self.count_verdict(decided.verdict, decided.has_nothing_new());
    }

    /// `nothing_new`: it is violated by nothing but what is known.
    fn count_verdict(&mut self, verdict: Verdict, nothing_new: bool) {
        *match verdict {
            Verdict::Verified => &mut self.verified,
            Verdict::Violated if nothing_new => &mut self.known,
            Verdict::Violated => &mut self.violated,
            Verdict::Inconclusive => &mut self.inconclusive,
            Verdict::Error => &mut self.errors,
        } += 1;
    }

    /// Number of files counted.
    pub(crate) fn files(&self) -> u64 {
        self.verified + self.violated + self.known + self.inconclusive + self.errors
    }

    /// Whether they are one part of all files.
    pub(crate) fn is_of_a_part(&self) -> bool {
        self.part.is_some()
    }

    /// `12 files: 9 verified, 2 violated, 1 with errors`; of one part, `12 of 36 files (part 1/3): …`.
    pub(crate) fn line(&self, palette: Palette) -> String {
        let total = self.files();
        let noun = if self.kernels { "kernel" } else { "file" };
        let files = match &self.part {
            Some((partition, _)) if self.sweep && total > 0 => {
                format!("{} (part {partition})", counted(total, "combination"))
            }
            None if self.sweep => counted(total, "combination"),
            None => counted(total, noun),
            Some((partition, all)) if total == 0 => {
                return format!("nothing to decide: part {partition} of {} is empty\n", counted(*all, noun));
            }
            Some((partition, all)) => {
                format!("{} of {} (part {partition})", grouped(total), counted(*all, noun))
            }
        };
        let mut parts = Vec::new();
        let mut part = |number: u64, words: String, paint: &dyn Fn(String) -> String| {
            if number > 0 {
                parts.push(paint(words));
            }
        };
        if let Some((as_expected, others)) = self.expected {
            part(as_expected, format!("{} as expected", grouped(as_expected)), &|t| palette.good(t));
            let differ = if others == 1 { "differs" } else { "differ" };
            part(others, format!("{} {differ}", grouped(others)), &|t| palette.bad(t));
            return format!("{files}: {}\n", parts.join(", "));
        }
        part(self.verified, format!("{} verified", grouped(self.verified)), &|t| palette.good(t));
        part(self.violated, format!("{} violated", grouped(self.violated)), &|t| palette.bad(t));
        part(self.known, format!("{} with known findings alone", grouped(self.known)), &|t| {
            palette.unsure(t)
        });
        part(self.inconclusive, format!("{} inconclusive", grouped(self.inconclusive)), &|t| {
            palette.unsure(t)
        });
        part(self.errors, format!("{} with errors", grouped(self.errors)), &|t| palette.bad(t));
        format!("{files}: {}\n", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::ColorWhen;
    use crate::cli::values;

    #[test]
    fn the_tally_names_what_there_was() {
        let mut tally = Tally::default();
        for verdict in [Verdict::Verified, Verdict::Verified, Verdict::Error] {
            tally.count_verdict(verdict, false);
        }
        let line = tally.line(Palette::new(ColorWhen::Never, false));
        assert_eq!(line, "3 files: 2 verified, 1 with errors\n");
    }

    #[test]
    fn what_is_known_is_counted_apart() {
        let mut tally = Tally::default();
        tally.count_verdict(Verdict::Violated, true);
        tally.count_verdict(Verdict::Violated, false);
        let line = tally.line(Palette::new(ColorWhen::Never, false));
        assert_eq!(line, "2 files: 1 violated, 1 with known findings alone\n");
    }

    #[test]
    fn a_part_says_what_it_is_a_part_of() {
        let palette = Palette::new(ColorWhen::Never, false);
        let mut tally = Tally::new(values::partition("2/3").ok(), 2, false, false);
        assert_eq!(tally.line(palette), "nothing to decide: part 2/3 of 2 files is empty\n");
        tally.count_verdict(Verdict::Violated, false);
        assert_eq!(tally.line(palette), "1 of 2 files (part 2/3): 1 violated\n");
    }
}
