//! Packs the compiled cores beside the viewer, and notes what they were made from: the last part of `build`.

mod sources;

use std::fs;

use zopfli::{Format, Options};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [made, protocols, with] = arguments.as_slice() else {
        eprintln!("usage: pack CORE.wasm PROTOCOLS.wasm TOOLS");
        std::process::exit(2);
    };
    if let Err(error) = pack([made, protocols], with) {
        eprintln!("cannot pack {made} and {protocols}: {error}");
        std::process::exit(1);
    }
}

fn pack(made: [&str; 2], with: &str) -> std::io::Result<()> {
    let mut note = vec![sources::digest()?];
    for (made, place) in made.into_iter().zip(sources::PACKED) {
        let core = fs::read(made)?;
        // What every browser unpacks by itself. Zopfli takes seconds for it, and saves a twentieth.
        let mut packed = Vec::new();
        zopfli::compress(Options::default(), Format::Zlib, core.as_slice(), &mut packed)?;
        fs::write(sources::at(place), packed)?;
        note.push(sources::digest_of(&core));
    }
    fs::write(sources::at(sources::NOTE), format!("{}\n{with}\n", note.join("\n")))
}
