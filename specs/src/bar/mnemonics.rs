//! The mnemonics of all systems, and where to find each.

use std::collections::HashMap;
use std::sync::LazyLock;

use barcheck_model::program::Target;

use super::opcode::Mnemonic;
use super::system;

/// The mnemonics of all systems by their text in lower case.
static BY_TEXT: LazyLock<HashMap<String, Vec<&'static Mnemonic>>> = LazyLock::new(|| {
    let mut by_text: HashMap<String, Vec<&Mnemonic>> = HashMap::new();
    for mnemonic in Target::WRITABLE.into_iter().flat_map(|target| (system::notation(target).mnemonics)()) {
        by_text.entry(mnemonic.text.to_ascii_lowercase()).or_default().push(mnemonic);
    }
    by_text
});

/// The instructions of any system that are written `text`, without regard to case.
pub(crate) fn find(text: &str) -> impl Iterator<Item = &'static Mnemonic> {
    BY_TEXT.get(&text.to_ascii_lowercase()).into_iter().flatten().copied()
}

/// The instruction of `target` that is written `text`, without regard to case.
pub(crate) fn find_in(target: Target, text: &str) -> Option<&'static Mnemonic> {
    find(text).find(|mnemonic| mnemonic.opcode.target() == target)
}

/// The same, where qualifiers that change nothing here may be written as well.
pub(crate) fn find_qualified(target: Target, text: &str) -> Option<&'static Mnemonic> {
    find_in(target, text).or_else(|| {
        let unqualified = (system::notation(target).unqualified)(&text.to_ascii_lowercase())?;
        find_in(target, &unqualified)
    })
}

/// All mnemonics of `target`.
pub(crate) fn of_target(target: Target) -> impl Iterator<Item = &'static str> {
    (system::notation(target).mnemonics)().iter().map(|mnemonic| mnemonic.text.as_str())
}
