//! Packs the compiled core beside the viewer, and notes what it was made from: the last part of `build`.

mod sources;

use std::fs;
use std::io::Write;

use lzma_rust2::{LzmaOptions, LzmaWriter};

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
    // Nothing in WebAssembly is aligned.
    let options =
        LzmaOptions { lp: 0, pb: 0, dict_size: 1 << 20, nice_len: 273, ..LzmaOptions::with_preset(9) };
    let mut packer = LzmaWriter::new_use_header(Vec::new(), &options, Some(core.len() as u64))?;
    packer.write_all(&core)?;
    fs::write(sources::at(sources::PACKED), packer.finish()?)?;
    let digests = [sources::digest()?, sources::digest_of(&core)].join("\n");
    fs::write(sources::at(sources::NOTE), format!("{digests}\n{with}\n"))
}
