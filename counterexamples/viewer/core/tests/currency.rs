//! The core that pages carry is made from the sources as they are.

#[path = "../examples/pack/sources.rs"]
mod sources;

#[test]
fn the_core_in_the_pages_is_that_of_the_sources() {
    let note = std::fs::read_to_string(sources::at(sources::NOTE)).expect("a note beside the core");
    let noted = note.lines().next().unwrap_or_default();
    let now = sources::digest().expect("the sources can be read");
    assert!(
        noted == now,
        "the page's core is older than its sources: rebuild it with `counterexamples/viewer/core/build`"
    );
}

#[test]
fn the_core_is_kept_compressed_and_is_the_one_that_was_compiled() {
    let packed = std::fs::read(sources::at(sources::PACKED)).expect("the core");
    assert!(packed.len() < 620_000, "{} bytes make every page too large", packed.len());
    let core = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).expect("a zlib stream");
    assert!(core.starts_with(b"\0asm"), "WebAssembly");
    let note = std::fs::read_to_string(sources::at(sources::NOTE)).expect("a note beside the core");
    assert_eq!(note.lines().nth(1), Some(sources::digest_of(&core).as_str()));
}

/// What is left out must be there, or a file that was renamed would be taken for one that makes a difference.
#[test]
fn what_is_left_out_of_the_core_exists() {
    for place in sources::LEFT_OUT {
        assert!(sources::at(place).exists(), "{place}");
    }
}
