//! The files that the core is made from, and those that it is kept in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The packed core.
pub(crate) const PACKED: &str = "counterexamples/viewer/core.wasm.gz";
/// The digest of what it was made from, and in a second line the tools.
pub(crate) const NOTE: &str = "counterexamples/viewer/core.txt";

/// What is compiled into the core. Of the traces' crate that is not the story for terminals, nor the page around the core.
const MADE_FROM: [&str; 6] = [
    "model/src",
    "specs/src",
    "counterexamples/src",
    "counterexamples/viewer/core/src",
    "counterexamples/viewer/core/Cargo.toml",
    "counterexamples/viewer/core/build",
];
const LEFT_OUT: [&str; 4] = [
    "specs/src/render.rs",
    "specs/src/clauses",
    "counterexamples/src/story",
    "counterexamples/src/viewer/mod.rs",
];

/// The path of a file of the repository.
pub(crate) fn at(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(file)
}

/// A digest of all sources, their places included, in hexadecimal.
pub(crate) fn digest() -> io::Result<String> {
    let mut files = Vec::new();
    for place in MADE_FROM {
        collect(place, &mut files)?;
    }
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        let text = fs::read(at(&file))?;
        digest.update(format!("{file} {}\n", text.len()));
        digest.update(text);
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The files of a folder; a file is its own.
fn collect(place: &str, files: &mut Vec<String>) -> io::Result<()> {
    if LEFT_OUT.contains(&place) {
        return Ok(());
    }
    if !at(place).is_dir() {
        files.push(place.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(at(place))? {
        collect(&format!("{place}/{}", entry?.file_name().to_string_lossy()), files)?;
    }
    Ok(())
}
