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
fn the_core_is_kept_compressed_and_names_nothing_of_where_it_was_made() {
    let packed = std::fs::read(sources::at(sources::PACKED)).expect("the core");
    assert_eq!(packed[..4], [0x1f, 0x8b, 8, 0], "gzip, without a file's name");
    assert_eq!(packed[4..8], [0; 4], "without a time");
    assert!(packed.len() < 200_000, "{} bytes make every page too large", packed.len());
}

/// What is left out must be there, or a file that was renamed would be taken for one that makes a difference.
#[test]
fn what_is_left_out_of_the_core_exists() {
    for place in sources::LEFT_OUT {
        assert!(sources::at(place).exists(), "{place}");
    }
}
