//! Special registers: what `S2R` and its like read.

use crate::kernel::code::{Argument, Comparison, Index};

/// What a special register holds.
pub(super) enum Special {
    Is(Argument),
    /// The same for the whole CTA, and unknown: under this name.
    Same(String),
    OfWarp,
    Unknown,
    /// The position of the CTA in a direction of the grid, in a cluster of several CTAs along it.
    InCluster(u8),
}

/// What a special register holds in a CTA of this size and a cluster of so many CTAs. Names as PTX has them,
/// where it has one: they begin with `%` and are no addresses.
pub(super) fn special(name: &str, size: [u32; 3], cluster: [u32; 3]) -> Special {
    let index = |index| Special::Is(Argument::Index(index));
    let number = |number: u32| Special::Is(Argument::Number(u64::from(number)));
    let upper = name.to_ascii_uppercase();
    match upper.as_str() {
        "SR_TID.X" | "SR_TID_X" => index(Index::Thread(0)),
        "SR_TID.Y" | "SR_TID_Y" => index(Index::Thread(1)),
        "SR_TID.Z" | "SR_TID_Z" => index(Index::Thread(2)),
        "SR_NTID.X" => number(size[0]),
        "SR_NTID.Y" => number(size[1]),
        "SR_NTID.Z" => number(size[2]),
        "SR_LANEID" => index(Index::Lane),
        "SR_EQMASK" => index(Index::Mask(Comparison::Equal)),
        "SR_LTMASK" => index(Index::Mask(Comparison::Less)),
        "SR_LEMASK" => index(Index::Mask(Comparison::LessOrEqual)),
        "SR_GTMASK" => index(Index::Mask(Comparison::Greater)),
        "SR_GEMASK" => index(Index::Mask(Comparison::GreaterOrEqual)),
        "SRZ" => number(0),
        "SR_CGACTAID" => index(Index::Rank),
        "SR_CTAID.X" | "SR_CTAID_X" if cluster[0] > 1 => Special::InCluster(0),
        "SR_CTAID.Y" | "SR_CTAID_Y" if cluster[1] > 1 => Special::InCluster(1),
        "SR_CTAID.Z" | "SR_CTAID_Z" if cluster[2] > 1 => Special::InCluster(2),
        "SR_VIRTID" | "SR_WARPID" | "SR_SMID" | "SR_VIRTUALSMID" | "SR_PHYSID" => Special::OfWarp,
        _ => match upper.strip_prefix("SR_") {
            Some(rest)
                if ["CTAID", "NCTAID", "CGASIZE", "GRIDID", "GRIDPARAM"]
                    .iter()
                    .any(|prefix| rest.starts_with(prefix)) =>
            {
                Special::Same(format!("%{}", rest.to_ascii_lowercase().replace('_', ".")))
            }
            _ => Special::Unknown,
        },
    }
}
