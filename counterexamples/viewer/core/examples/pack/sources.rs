//! The files that the core is made from, and those that it is kept in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The packed cores: the whole, and the one for protocols alone.
pub(crate) const PACKED: [&str; 2] =
    ["counterexamples/viewer/core.wasm.zlib", "counterexamples/viewer/core-protocols.wasm.zlib"];
/// The digest of what they were made from; in a line each that of the cores themselves, unpacked; in a fourth
/// line the tools.
pub(crate) const NOTE: &str = "counterexamples/viewer/core.txt";

/// What the core is made from.
const MADE_FROM: [&str; 6] = [
    "model/src",
    "specs/src",
    "counterexamples/src",
    "counterexamples/viewer/core/src",
    "counterexamples/viewer/core/Cargo.toml",
    "counterexamples/viewer/core/build",
];
/// Of that, what leaves no trace in it: it reads protocols, but says nothing of what is wrong with them and
/// formats none, and it neither shortens nor confirms runs, and is neither the narrative for terminals nor
/// the page around it.
pub(crate) const LEFT_OUT: [&str; 25] = [
    "specs/src/bar/format",
    "specs/src/bar/foreign_syntax",
    "specs/src/bar/meaning_error/text.rs",
    "specs/src/bar/system/bcu/foreign.rs",
    "specs/src/bar/system/nbarrier/foreign.rs",
    "specs/src/bar/system/ptx/foreign.rs",
    "specs/src/bar/system/split/foreign.rs",
    "specs/src/bar/system/xegpu/foreign.rs",
    "specs/src/clauses",
    "specs/src/common/render.rs",
    "specs/src/common/suggest.rs",
    "counterexamples/src/build/counterexample.rs",
    "counterexamples/src/render/dot",
    "counterexamples/src/render/error.rs",
    "counterexamples/src/render/html/mod.rs",
    "counterexamples/src/render/itf.rs",
    "counterexamples/src/render/mermaid.rs",
    "counterexamples/src/render/perfetto",
    "counterexamples/src/render/spans.rs",
    "counterexamples/src/render/svg",
    "counterexamples/src/render/text",
    "counterexamples/src/replay",
    "counterexamples/src/shorten",
    "counterexamples/src/trace/fingerprint.rs",
    "counterexamples/src/trace/read.rs",
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
    let mut digest = hmac_sha256::Hash::new();
    for file in files {
        let text = fs::read(at(&file))?;
        digest.update(format!("{file} {}\n", text.len()));
        digest.update(text);
    }
    Ok(hexadecimal(&digest.finalize()))
}

/// The digest of these bytes.
pub(crate) fn digest_of(bytes: &[u8]) -> String {
    hexadecimal(&hmac_sha256::Hash::hash(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
