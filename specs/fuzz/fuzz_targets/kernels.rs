//! What every reader of compiled kernels is asked.

use barcheck_model::program::{Place, Program};
use barcheck_specs::{Format, LoadOptions, Source, entries, load, render};
use std::collections::BTreeMap;

fn stripped(mut program: Program) -> Program {
    for role in &mut program.roles {
        role.place = Place::default();
        role.code.places.fill(Place::default());
        role.code.texts.fill(String::new());
    }
    program
}

/// No text makes the reader of a format, or the extraction, panic; what is extracted is a protocol with the
/// same program but for places.
pub fn check(format: Format, bytes: &[u8]) {
    let source = Source { format: Some(format), ..Source::new("fuzz", bytes) };
    let entries = entries(&source).map_or(1, |entries| entries.len());
    for index in 0..entries.min(4) {
        let index = i64::try_from(index).unwrap_or(0);
        let defines = BTreeMap::from([("cta.x".to_owned(), 96), ("entry.index".to_owned(), index)]);
        match load(&source, &LoadOptions { defines }) {
            Err(error) => {
                assert!(!error.diagnostics.is_empty());
                let _ = render(&error.diagnostics, "fuzz", &error.text, false);
            }
            Ok(loaded) => {
                let extracted = loaded.extracted.expect("a kernel").text;
                let again = load(&Source::new("fuzz.bar", extracted.as_bytes()), &LoadOptions::default());
                let again = again.expect("what is extracted is a protocol");
                assert_eq!(stripped(loaded.program), stripped(again.program));
            }
        }
    }
}
