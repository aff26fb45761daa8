//! What chips have: where constant memory holds what a launch fixes, which CTA an address is in.

/// The bit from which on an address in shared memory says in which CTA it is: `LEA R0, R1, R2, 0x18`.
pub(super) const WINDOW: u64 = 0x18;
/// How `PRMT` puts a rank into an address: three bytes of the latter, and one of the former above them.
pub(super) const ELSEWHERE: u64 = 0x654;

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

/// Where bank 0 holds what a launch says of clusters, in bytes.
pub(super) struct Clusters {
    /// The CTAs of a cluster in three directions.
    pub(super) size: [i64; 3],
    /// All of them.
    pub(super) count: i64,
    /// What a position in the grid is multiplied by for that of its cluster, in three directions.
    pub(super) reciprocals: [i64; 3],
    /// These offsets are counted from `-0xa0 * SR_CgaSize`.
    pub(super) is_counted_from_size: bool,
}

/// As compilers for sm_90a and sm_100a have it: of a kernel that stores `%cluster_nctaid` and its like.
pub(super) fn clusters(chip: u32) -> Option<Clusters> {
    match chip {
        90..100 => Some(Clusters {
            size: [0x144, 0x148, 0x14c],
            count: 0x188,
            reciprocals: [0x150, 0x154, 0x158],
            is_counted_from_size: false,
        }),
        100..130 => Some(Clusters {
            size: [0x2a0, 0x2a4, 0x2a8],
            count: 0x2cc,
            reciprocals: [0x2b0, 0x2b4, 0x2b8],
            is_counted_from_size: true,
        }),
        _ => None,
    }
}
