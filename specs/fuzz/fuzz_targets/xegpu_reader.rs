//! No module of MLIR makes its reader, or the extraction, panic; what is extracted is a protocol with the same
//! program but for places.
//!
//! `cargo +nightly fuzz run xegpu_reader fuzz/corpus/xegpu_reader ../checker/tests/kernels`, in `specs`.

#![no_main]

use barcheck_model::program::{Place, Program};
use barcheck_specs::{Format, LoadOptions, Source, entries, load, render};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

fn stripped(mut program: Program) -> Program {
    for role in &mut program.roles {
        role.place = Place::default();
        role.code.places.fill(Place::default());
        role.code.texts.fill(String::new());
    }
    program
}

fuzz_target!(|bytes: &[u8]| {
    let source = Source { format: Some(Format::Xegpu), ..Source::new("fuzz.mlir", bytes) };
    let entries = entries(&source).map_or(1, |entries| entries.len());
    for index in 0..entries.min(4) {
        let index = i64::try_from(index).unwrap_or(0);
        let defines = BTreeMap::from([("cta.x".to_owned(), 96), ("entry.index".to_owned(), index)]);
        match load(&source, &LoadOptions { defines }) {
            Err(error) => {
                assert!(!error.diagnostics.is_empty());
                let _ = render(&error.diagnostics, "fuzz.mlir", &error.text, false);
            }
            Ok(loaded) => {
                let extracted = loaded.extracted.expect("a kernel").text;
                let again = load(&Source::new("fuzz.bar", extracted.as_bytes()), &LoadOptions::default());
                let again = again.expect("what is extracted is a protocol");
                assert_eq!(stripped(loaded.program), stripped(again.program));
            }
        }
    }
});
