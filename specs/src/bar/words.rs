//! The keywords of `.bar` and which target each belongs to.

use barcheck_model::program::Target;

use super::ast::IndexWord;
use super::opcode;

/// Words that begin a statement.
pub(crate) const STATEMENTS: [&str; 13] = [
    "for", "loop", "while", "if", "let", "read", "write", "atomic", "break", "continue", "exit", "assert",
    "else",
];

/// Words that begin a declaration in every target; the size and the agents come on top.
pub(crate) const DECLARATIONS: [&str; 5] = ["const", "param", "shared", "global", "target"];

/// Other words that cannot be names.
const OTHERS: [&str; 6] = ["in", "as", "any", "uniform", "true", "false"];

/// Whether `word` cannot be a name. Case does not count.
pub(crate) fn is_reserved(word: &str) -> bool {
    let words = STATEMENTS.iter().chain(&DECLARATIONS).chain(&OTHERS);
    words.into_iter().any(|reserved| reserved.eq_ignore_ascii_case(word)) || index_word(word).is_some()
}

/// The index that `word` stands for.
pub(crate) fn index_word(word: &str) -> Option<IndexWord> {
    IndexWord::ALL.into_iter().find(|index| index.text().eq_ignore_ascii_case(word))
}

/// The word for the size of the group.
pub(crate) fn size_word(target: Target) -> &'static str {
    match target {
        Target::Ptx | Target::Bcu => "cta",
        Target::Nbarrier => "thread_group",
        Target::SplitBarrier | Target::Xegpu => "workgroup",
    }
}

/// What the size counts.
pub(crate) fn size_unit(target: Target) -> &'static str {
    match target {
        Target::Ptx | Target::Bcu | Target::Nbarrier => "threads",
        Target::SplitBarrier => "invocations",
        Target::Xegpu => "subgroups",
    }
}

/// Whether `word` is the size of some target.
pub(crate) fn is_size_word(word: &str) -> bool {
    ["cta", "thread_group", "workgroup"].iter().any(|size| size.eq_ignore_ascii_case(word))
}

/// The target-independent part of a word for agents (`warps` → `warp`), if it is one.
pub(crate) fn unit_noun(word: &str) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    ["warp", "thread", "invocation", "subgroup"].into_iter().find(|noun| *noun == singular)
}

/// The plural of the word for agents.
pub(crate) fn agents(target: Target) -> &'static str {
    match target {
        Target::Ptx | Target::Bcu => "warps",
        Target::Nbarrier => "threads",
        Target::SplitBarrier => "invocations",
        Target::Xegpu => "subgroups",
    }
}

/// Words that begin a declaration or block of `target`.
pub(crate) fn declarations(target: Target) -> impl Iterator<Item = &'static str> {
    let special = (target == Target::SplitBarrier).then_some("subgroup_size");
    DECLARATIONS.into_iter().chain([size_word(target), agents(target), target.agent_noun()]).chain(special)
}

/// The instructions of `target` in a sentence, aliases left out.
pub(crate) fn instructions(target: Target) -> String {
    let is_alias =
        |text: &&str| text.contains("cta.") || text.starts_with("barrier.") || text.ends_with("EXT");
    let names: Vec<String> =
        opcode::of_target(target).filter(|text| !is_alias(text)).map(|t| format!("`{t}`")).collect();
    names.join(", ")
}
