//! The keywords of `.bar` and which target each belongs to.

use barcheck_model::program::Target;

use super::ast::IndexWord;
use super::notation::Notation;
use super::system;

/// Words that begin a statement.
pub(crate) const STATEMENTS: [&str; 13] = [
    "for", "loop", "while", "if", "let", "read", "write", "atomic", "break", "continue", "exit", "assert",
    "else",
];

/// The word that begins a statement that moves on by one stage. It may be a name nevertheless.
pub(crate) const ADVANCE: &str = "advance";

/// Words that begin a declaration in every target; the size and the agents come on top.
pub(crate) const DECLARATIONS: [&str; 5] = ["const", "param", "shared", "global", "target"];

/// What the size of a group is called elsewhere.
pub(crate) const SIZES_ELSEWHERE: [&str; 6] =
    ["group", "group_size", "workgroup_size", "local_size", "blockdim", "num_threads"];

/// The word that begins the reading by which every arrival of a warp counts.
pub(crate) const REPEATED: &str = "repeated_arrivals";

/// Words that begin a declaration and may be names nevertheless: of what is not to be reported, and of
/// statements that roles share.
const SOFT: [&str; 2] = ["allow", "block"];

/// Other words that cannot be names.
const OTHERS: [&str; 6] = ["in", "as", "any", "uniform", "true", "false"];

/// Whether `word` cannot be a name. Case does not count.
pub(crate) fn is_reserved(word: &str) -> bool {
    let words = STATEMENTS.iter().chain(&DECLARATIONS).chain(&OTHERS);
    words.into_iter().any(|reserved| reserved.eq_ignore_ascii_case(word)) || index_word(word).is_some()
}

/// The index that `word` stands for.
pub(crate) fn index_word(word: &str) -> Option<IndexWord> {
    let mut known = Target::WRITABLE.into_iter().map(IndexWord::of).chain([
        IndexWord::LANE,
        IndexWord::CTA,
        IndexWord::ELECT,
    ]);
    known.find(|index| index.text().eq_ignore_ascii_case(word))
}

/// Whether `word` is the size of some target.
pub(crate) fn is_size_word(word: &str) -> bool {
    Target::WRITABLE.into_iter().any(|target| system::notation(target).size.eq_ignore_ascii_case(word))
}

/// The target-independent part of a word for agents (`warps` → `warp`), if it is one.
pub(crate) fn unit_noun(word: &str) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    Target::WRITABLE.into_iter().map(Target::agent_noun).find(|noun| *noun == singular)
}

/// Words that begin a declaration or block of a target.
pub(crate) fn declarations(notation: &Notation) -> impl Iterator<Item = &'static str> {
    let special = notation.subgroups.then_some("subgroup_size");
    let own = [notation.size, notation.agents, notation.target.agent_noun()];
    let cluster = ["cluster", "maxnreg", REPEATED].into_iter().filter(|_| notation.cluster);
    let declared = DECLARATIONS.into_iter().chain(own).chain(special).chain(notation.objects);
    declared.chain(cluster).chain(SOFT)
}

/// The instructions of `target` in a sentence, aliases left out.
pub(crate) fn instructions(target: Target) -> String {
    let known = (system::notation(target).mnemonics)().iter().filter(|mnemonic| !mnemonic.alias);
    let names: Vec<String> = known.map(|mnemonic| format!("`{}`", mnemonic.text)).collect();
    names.join(", ")
}
