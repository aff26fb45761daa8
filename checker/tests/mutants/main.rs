//! Single edits of the library's whole kernels: each is found, or said to change nothing, and why.
//!
//! The table stands in the book; `BLESS=1` writes it anew.

mod attention;
mod multicast;
mod split_k;
mod tensor_core_gemm;
mod tma_pipeline;

use barcheck::{Decision, Options, Source, Verdict, decide};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A kernel of the library, and what is done to it.
pub(crate) struct Kernel {
    /// The file in `specs/protocols/ptx`, without its ending.
    file: &'static str,
    /// What it is.
    title: &'static str,
    /// One edit each.
    mutants: &'static [Mutant],
}

/// An edit.
pub(crate) struct Mutant {
    class: Class,
    /// A text that stands in the kernel once.
    from: &'static str,
    /// What stands there instead.
    to: &'static str,
    /// The edit in words.
    edit: &'static str,
    outcome: Outcome,
}

/// What an edit changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Count,
    Bytes,
    Parity,
    Stage,
    Order,
    Missing,
    Extra,
    Scope,
}

impl Class {
    const ALL: [Self; 8] = [
        Self::Count,
        Self::Bytes,
        Self::Parity,
        Self::Stage,
        Self::Order,
        Self::Missing,
        Self::Extra,
        Self::Scope,
    ];

    fn in_words(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Bytes => "bytes",
            Self::Parity => "parity",
            Self::Stage => "stage",
            Self::Order => "order",
            Self::Missing => "missing arrival",
            Self::Extra => "extra arrival",
            Self::Scope => "scope",
        }
    }
}

/// What becomes of a mutant.
pub(crate) enum Outcome {
    /// The first rule that is reported.
    Found(&'static str),
    /// It is verified, and rightly so.
    Equivalent(&'static str),
}

use Outcome::{Equivalent, Found};

const KERNELS: [&Kernel; 5] = [
    &tma_pipeline::KERNEL,
    &attention::KERNEL,
    &tensor_core_gemm::KERNEL,
    &multicast::KERNEL,
    &split_k::KERNEL,
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(kernel: &Kernel) -> String {
    let path = root().join("specs/protocols/ptx").join(kernel.file).with_extension("bar");
    std::fs::read_to_string(path).expect("a kernel of the library")
}

fn decided(text: &str) -> Decision {
    decide(&Source::new("mutant.bar", text.as_bytes()), &Options::default())
}

/// Why a mutant's verdict is not what the table says.
fn disagreement(kernel: &str, mutant: &Mutant) -> Option<String> {
    let Mutant { from, to, edit, ref outcome, .. } = *mutant;
    if kernel.matches(from).count() != 1 {
        return Some(format!("{edit}: what is edited does not stand there once"));
    }
    let decision = decided(&kernel.replacen(from, to, 1));
    let found: Vec<_> = decision.findings.iter().map(|finding| finding.rule.name()).collect();
    let agrees = match outcome {
        Found(rule) => found.first() == Some(rule),
        Equivalent(_) => decision.verdict == Verdict::Verified && found.is_empty(),
    };
    let seen = format!("{edit}: {}, {found:?}, {:?}", decision.verdict.name(), decision.reason);
    (!agrees).then_some(seen)
}

fn check(kernel: &Kernel) {
    let text = text(kernel);
    let whole = decided(&text);
    assert_eq!(whole.verdict, Verdict::Verified, "{}", kernel.file);
    assert!(whole.findings.is_empty(), "{}", kernel.file);
    let wrong: Vec<_> = kernel.mutants.iter().filter_map(|mutant| disagreement(&text, mutant)).collect();
    assert!(wrong.is_empty(), "{}:\n{}", kernel.file, wrong.join("\n"));
}

#[test]
fn edits_of_a_pipeline_are_found() {
    check(&tma_pipeline::KERNEL);
}

#[test]
fn edits_of_attention_in_ping_pong_are_found() {
    check(&attention::KERNEL);
}

#[test]
fn edits_of_a_gemm_with_commits_are_found() {
    check(&tensor_core_gemm::KERNEL);
}

#[test]
fn edits_of_a_pair_with_multicast_are_found() {
    check(&multicast::KERNEL);
}

#[test]
fn edits_of_partial_sums_over_a_cluster_are_found() {
    check(&split_k::KERNEL);
}

#[test]
fn every_kernel_has_ten_edits_and_more_of_every_class() {
    for kernel in KERNELS {
        let classes: BTreeSet<Class> = kernel.mutants.iter().map(|mutant| mutant.class).collect();
        let wanted = Class::ALL.into_iter().filter(|class| *class != Class::Scope);
        assert!(wanted.clone().all(|class| classes.contains(&class)), "{}: {classes:?}", kernel.file);
        assert!(kernel.mutants.len() >= 10, "{}", kernel.file);
        // A warp's tiles have no end that the protocol knows of.
        assert!(text(kernel).contains("while uniform more_"), "{}", kernel.file);
    }
}

/// The edits of all kernels, as tables.
fn tables() -> String {
    let mut page = String::new();
    for kernel in KERNELS {
        let file = kernel.file;
        let link = format!("../../../specs/protocols/ptx/{file}.bar");
        let _ = writeln!(page, "\n## {}\n\n[{file}]({link}):\n", kernel.title);
        let _ = writeln!(page, "| class | edit | found as, or why it changes nothing |\n|---|---|---|");
        for mutant in kernel.mutants {
            let outcome = match mutant.outcome {
                Found(rule) => format!("`{rule}`"),
                Equivalent(why) => format!("*equivalent*: {why}"),
            };
            let _ = writeln!(page, "| {} | {} | {outcome} |", mutant.class.in_words(), mutant.edit);
        }
    }
    page
}

#[test]
fn the_book_has_the_table_of_today() {
    const MARK: &str = "<!-- mutants -->\n";
    let path = root().join("checker/book/src/mutants.md");
    let page = std::fs::read_to_string(&path).expect("a chapter");
    let (before, _) = page.split_once(MARK).expect("the mark");
    let wanted = format!("{before}{MARK}{}", tables());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("it can be written");
        return;
    }
    assert!(page == wanted, "`BLESS=1 cargo test -p barcheck --test mutants` writes it anew");
}
