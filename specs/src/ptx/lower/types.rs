//! Types and special registers.

use crate::kernel::code::{Argument, Comparison, Index, Type};

/// The integer type that a modifier names. Predicates have one bit.
pub(super) fn integer(word: &str) -> Option<Type> {
    let of = |bits, signed| Some(Type { bits, signed });
    match word {
        "pred" => of(1, false),
        "b8" | "u8" => of(8, false),
        "s8" => of(8, true),
        "b16" | "u16" => of(16, false),
        "s16" => of(16, true),
        "b32" | "u32" => of(32, false),
        "s32" => of(32, true),
        "b64" | "u64" => of(64, false),
        "s64" => of(64, true),
        _ => None,
    }
}

/// Whether a modifier names a type of real numbers.
pub(super) fn is_real(word: &str) -> bool {
    let rest = word.strip_prefix("bf").or_else(|| word.strip_prefix('f'));
    word.starts_with("tf32") || rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The bytes of a type, floating-point types among them.
pub(super) fn bytes(word: &str) -> Option<i64> {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    match (word.as_bytes().first(), digits) {
        (Some(b'b' | b'u' | b's' | b'f'), "8") => Some(1),
        (Some(b'b' | b'u' | b's' | b'f'), "16") => Some(2),
        (Some(b'b' | b'u' | b's' | b'f'), "32") => Some(4),
        (Some(b'b' | b'u' | b's' | b'f'), "64") => Some(8),
        (Some(b'b'), "128") => Some(16),
        _ => None,
    }
}

/// What a comparison of integers is called.
pub(super) fn comparison(word: &str) -> Option<Comparison> {
    Some(match word {
        "eq" => Comparison::Equal,
        "ne" => Comparison::NotEqual,
        "lt" | "lo" => Comparison::Less,
        "le" | "ls" => Comparison::LessOrEqual,
        "gt" | "hi" => Comparison::Greater,
        "ge" | "hs" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// What a special register holds.
pub(super) enum Special {
    Is(Argument),
    /// The same for the whole CTA, and unknown.
    Same,
    OfWarp,
    Unknown,
    /// The position of the CTA in a direction of the grid, in a cluster of several CTAs along it.
    InCluster(u8),
    /// The CTAs of the grid in a direction, in clusters of several along it.
    OfClusters(u8),
}

/// What a name with a `%` that is no register of the code stands for, in a CTA of this size and a cluster of
/// so many CTAs.
pub(super) fn special(name: &str, size: [u32; 3], cluster: [u32; 3]) -> Special {
    let index = |index| Special::Is(Argument::Index(index));
    let number = |number: u32| Special::Is(Argument::Number(u64::from(number)));
    match name {
        "%tid.x" => index(Index::Thread(0)),
        "%tid.y" => index(Index::Thread(1)),
        "%tid.z" => index(Index::Thread(2)),
        "%ntid.x" => number(size[0]),
        "%ntid.y" => number(size[1]),
        "%ntid.z" => number(size[2]),
        "%cluster_ctaid.x" => index(Index::Group(0)),
        "%cluster_ctaid.y" => index(Index::Group(1)),
        "%cluster_ctaid.z" => index(Index::Group(2)),
        "%cluster_ctarank" => index(Index::Rank),
        "%cluster_nctaid.x" => number(cluster[0]),
        "%cluster_nctaid.y" => number(cluster[1]),
        "%cluster_nctaid.z" => number(cluster[2]),
        "%cluster_nctarank" => number(cluster.iter().product()),
        "%ctaid.x" if cluster[0] > 1 => Special::InCluster(0),
        "%ctaid.y" if cluster[1] > 1 => Special::InCluster(1),
        "%ctaid.z" if cluster[2] > 1 => Special::InCluster(2),
        "%nctaid.x" if cluster[0] > 1 => Special::OfClusters(0),
        "%nctaid.y" if cluster[1] > 1 => Special::OfClusters(1),
        "%nctaid.z" if cluster[2] > 1 => Special::OfClusters(2),
        "%laneid" => index(Index::Lane),
        "%lanemask_eq" => index(Index::Mask(Comparison::Equal)),
        "%lanemask_lt" => index(Index::Mask(Comparison::Less)),
        "%lanemask_le" => index(Index::Mask(Comparison::LessOrEqual)),
        "%lanemask_gt" => index(Index::Mask(Comparison::Greater)),
        "%lanemask_ge" => index(Index::Mask(Comparison::GreaterOrEqual)),
        "%warpid" | "%smid" => Special::OfWarp,
        "%nwarpid" | "%nsmid" | "%gridid" => Special::Same,
        _ => {
            let same = [
                "%ctaid.",
                "%nctaid.",
                "%cluster",
                "%ncluster",
                "%is_explicit_cluster",
                "%dynamic_smem_size",
                "%total_smem_size",
                "%aggr_smem_size",
                "%reserved_smem_",
                "%envreg",
            ];
            let is_same = same.iter().any(|prefix| name.starts_with(prefix));
            if is_same { Special::Same } else { Special::Unknown }
        }
    }
}
