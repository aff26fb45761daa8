//! What differs between chips: where constant memory holds what a launch fixes.

/// Where bank 0 holds the size of the CTA in three directions, in bytes; `None` for chips of which that is
/// not known.
pub(super) fn size_of_group(chip: u32) -> Option<[i64; 3]> {
    match chip {
        50..70 => Some([0x8, 0xc, 0x10]),
        70..100 => Some([0x0, 0x4, 0x8]),
        100..130 => Some([0x360, 0x364, 0x368]),
        _ => None,
    }
}

/// Where parameters begin in bank 0, if the listing does not say.
pub(super) fn first_param(chip: u32) -> Option<u32> {
    match chip {
        50..70 => Some(0x140),
        70..90 => Some(0x160),
        90..100 => Some(0x210),
        100..130 => Some(0x380),
        _ => None,
    }
}
