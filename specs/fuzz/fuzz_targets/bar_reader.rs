//! No text makes the reader, the renderer or the formatter panic; formatting is stable and keeps the program.
//!
//! `cargo +nightly fuzz run bar_reader fuzz/corpus/bar_reader protocols -- -dict=fuzz/bar.dict`, in `specs`.

#![no_main]

use barcheck_model::program::{Place, Program};
use barcheck_specs::bar::{LoadOptions, format, load};
use barcheck_specs::{LineIndex, render};
use libfuzzer_sys::fuzz_target;

/// A program without what formatting changes.
fn stripped(mut program: Program) -> Program {
    for role in &mut program.roles {
        role.place = Place::default();
        role.code.places.fill(Place::default());
        role.code.texts.fill(String::new());
    }
    program
}

fuzz_target!(|source: &[u8]| {
    let options = LoadOptions::default();
    let text = String::from_utf8_lossy(source);
    let lines = LineIndex::new(&text);
    let loaded = load(source, &options);
    let diagnostics = match &loaded {
        Ok(loaded) => loaded.lints.iter().map(|linted| linted.diagnostic.clone()).collect(),
        Err(diagnostics) => diagnostics.clone(),
    };
    assert!(loaded.is_ok() || !diagnostics.is_empty());
    for diagnostic in &diagnostics {
        let place = diagnostic.place(&lines);
        assert!(place.line >= 1 && place.column >= 1);
    }
    let _ = render(&diagnostics, "fuzz.bar", &text, false);
    let Ok(once) = format(source) else {
        assert!(loaded.is_err());
        return;
    };
    let twice = format(once.as_bytes()).expect("what was formatted can be read");
    assert_eq!(once, twice, "formatting is stable");
    if let Ok(before) = loaded {
        let after = load(once.as_bytes(), &options).expect("what was formatted can be read");
        check_invariants(&before.program);
        assert_eq!(stripped(before.program), stripped(after.program));
    }
});

/// What every program promises to engines.
fn check_invariants(program: &Program) {
    assert!(program.threads > 0 && program.subgroup_size > 0);
    assert!(program.agents.iter().all(|role| role.index() < program.roles.len()));
    for role in &program.roles {
        let code = &role.code;
        assert_eq!(code.ops.len(), code.places.len());
        assert_eq!(code.ops.len(), code.texts.len());
        assert_eq!(code.ops.last(), Some(&barcheck_model::program::Op::Exit));
        assert!(code.constructs.iter().all(|construct| construct.end.index() < code.ops.len()));
    }
}
