//! Packs the compiled core beside the viewer, and notes what it was made from: the last part of `build`.

mod sources;

use std::fs;

use zopfli::{Format, Options};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [made, with] = arguments.as_slice() else {
        eprintln!("usage: pack CORE.wasm TOOLS");
        std::process::exit(2);
    };
    if let Err(error) = pack(made, with) {
        eprintln!("cannot pack {made}: {error}");
        std::process::exit(1);
    }
}

fn pack(made: &str, with: &str) -> std::io::Result<()> {
    let core = fs::read(made)?;
    // What every browser unpacks by itself. Zopfli takes seconds for it, and saves a twentieth.
    let mut packed = Vec::new();
    zopfli::compress(Options::default(), Format::Zlib, core.as_slice(), &mut packed)?;
    fs::write(sources::at(sources::PACKED), packed)?;
    let digests = [sources::digest()?, sources::digest_of(&core)].join("\n");
    fs::write(sources::at(sources::NOTE), format!("{digests}\n{with}\n"))
}
