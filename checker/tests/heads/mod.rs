//! The library's protocols, and what their heads expect of them.

#![allow(dead_code, reason = "each test file uses a part of it")]

use barcheck_model::program::Program;
use barcheck_specs::bar::{LoadOptions, load};
use barcheck_specs::head::Head;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the head of a file says.
pub(crate) fn head(text: &str) -> Head {
    barcheck_specs::head::head(text).expect("a head that can be read").expect("a head")
}

/// The names of the rules that a head names.
pub(crate) fn names(head: &Head) -> BTreeSet<String> {
    head.rules.iter().map(|rule| rule.name().to_owned()).collect()
}

pub(crate) fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/protocols");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root).expect("the library").flatten() {
        if folder.path().is_dir() {
            files.extend(std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|f| f.path()));
        }
    }
    files.retain(|f| f.extension().is_some_and(|e| e == "bar"));
    files.sort();
    files
}

/// The protocol in a file, and its options.
pub(crate) fn protocol(text: &str, head: &Head) -> Arc<Program> {
    let loaded = load(text.as_bytes(), &LoadOptions { defines: head.defines.clone() });
    Arc::new(loaded.expect("a valid file").program)
}
