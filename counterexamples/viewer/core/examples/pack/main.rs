//! Packs the compiled core beside the viewer, and notes what it was made from: the last part of `build`.

mod sources;

use std::fs;

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
    let mut packed = Vec::new();
    zopfli::compress(zopfli::Options::default(), zopfli::Format::Gzip, core.as_slice(), &mut packed)?;
    fs::write(sources::at(sources::PACKED), packed)?;
    fs::write(sources::at(sources::NOTE), format!("{}\n{with}\n", sources::digest()?))
}
