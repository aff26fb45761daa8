//! The door for all notations: which format is which, and what comes back.

use std::collections::BTreeMap;
use std::path::Path;

use barcheck_specs::{Format, LoadOptions, Source, UnknownFormat, bar, load, render};

const TEXT: &str = "target ptx; cta 64; param N = 1; warps 0..2 { bar.sync N, 64; }\n";

#[test]
fn every_format_has_a_name_and_endings_of_its_own() {
    let mut endings: Vec<&str> = Format::ALL.iter().flat_map(|format| format.extensions()).copied().collect();
    for format in Format::ALL {
        assert_eq!(Format::named(format.name()), Ok(format));
        for ending in format.extensions() {
            assert_eq!(Format::of_name(Path::new(&format!("folder/name.{ending}"))), Some(format));
        }
    }
    let all = endings.len();
    endings.sort_unstable();
    endings.dedup();
    assert_eq!(endings.len(), all);
}

#[test]
fn a_name_says_more_than_a_content() {
    assert_eq!(Format::recognise("a.bar", b"\xff"), Some(Format::Bar));
    for name in ["a.txt", "-", "<stdin>", "", "bar", ".bar", "a.bar/b"] {
        assert_eq!(Format::of_name(Path::new(name)), None, "{name}");
        assert_eq!(Format::recognise(name, TEXT.as_bytes()), Some(Format::Bar), "{name}");
        assert_eq!(Format::recognise(name, b""), Some(Format::Bar), "{name}");
        assert_eq!(Format::recognise(name, b"\x03\x02\x23\x07\xff"), None, "{name}");
    }
}

#[test]
fn names_of_formats_are_exact() {
    for name in ["", "BAR", "PTX", ".bar"] {
        assert_eq!(Format::named(name), Err(UnknownFormat { name: name.to_owned() }));
    }
    let long = Format::named(&"x".repeat(1000)).expect_err("there is none");
    assert!(long.to_string().len() < 200);
}

#[test]
fn what_was_read_carries_its_format_and_its_text() {
    let defines = BTreeMap::from([("N".to_owned(), 2), ("M".to_owned(), 3)]);
    let options = LoadOptions { defines };
    let loaded = load(&Source::new("-", TEXT.as_bytes()), &options).expect("it is well formed");
    assert_eq!((loaded.format, loaded.text.as_str()), (Format::Bar, TEXT));
    assert_eq!(loaded.used_defines(&options), BTreeMap::from([("N".to_owned(), 2)]));
    let contents = bar::load(TEXT.as_bytes(), &options).expect("it is well formed");
    assert_eq!((loaded.program, loaded.params), (contents.program, contents.params));
}

#[test]
fn an_error_carries_what_can_be_shown() {
    let options = LoadOptions::default();
    let error = load(&Source::new("a.bar", b"target ptx\xff"), &options).expect_err("not UTF-8");
    assert_eq!((error.format, error.text.as_str()), (Some(Format::Bar), "target ptx\u{fffd}"));
    assert_eq!(error.to_string(), "the file is not UTF-8");
    let error = load(&Source::new("a.bin", b"target ptx\xff"), &options).expect_err("no text");
    assert_eq!((error.format, error.text.as_str()), (None, ""));
    insta::assert_snapshot!(render(&error.diagnostics, "a.bin", &error.text, false));
}

#[test]
fn who_names_the_format_is_believed() {
    let source = Source { format: Some(Format::Bar), ..Source::new("a.bin", b"target ptx\xff") };
    let error = load(&source, &LoadOptions::default()).expect_err("not UTF-8");
    assert_eq!((error.format, error.diagnostics[0].code), (Some(Format::Bar), "invalid-utf8"));
}
