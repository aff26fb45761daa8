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
fn the_cores_are_kept_compressed_and_are_those_that_were_compiled() {
    let note = std::fs::read_to_string(sources::at(sources::NOTE)).expect("a note beside the cores");
    for (number, (place, most)) in sources::PACKED.into_iter().zip([1_100_000, 440_000]).enumerate() {
        let packed = std::fs::read(sources::at(place)).expect("the core");
        assert!(packed.len() < most, "{} bytes make every page too large", packed.len());
        let core = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).expect("a zlib stream");
        assert!(core.starts_with(b"\0asm"), "WebAssembly");
        assert_eq!(note.lines().nth(1 + number), Some(sources::digest_of(&core).as_str()));
    }
}

/// What is left out must be there, or a file that was renamed would be taken for one that makes a difference.
#[test]
fn what_is_left_out_of_the_core_exists() {
    for place in sources::LEFT_OUT {
        assert!(sources::at(place).exists(), "{place}");
    }
}
