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
const MADE_FROM: [&str; 4] =
    ["model/src", "specs/src", "counterexamples/src", "counterexamples/viewer/core/src"];
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
    for folder in MADE_FROM {
        collect(folder, &mut files)?;
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

fn collect(folder: &str, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(at(folder))? {
        let entry = entry?;
        let file = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if LEFT_OUT.contains(&file.as_str()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&file, files)?;
        } else {
            files.push(file);
        }
    }
    Ok(())
}
