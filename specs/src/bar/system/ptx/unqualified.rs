//! Instructions as PTX spells them, with all their qualifiers, and the same without those that change nothing
//! here: formats, caches, types, how bytes are counted.

/// An instruction, in lower case, without such qualifiers.
// clause: ptx.proxy-syntax
pub(super) fn unqualified(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('.').collect();
    match parts.as_slice() {
        ["cp", "async", "bulk", rest @ ..] => bulk("cp.async.bulk", rest),
        ["cp", "reduce", "async", "bulk", rest @ ..] => bulk("cp.reduce.async.bulk", rest),
        ["cp", "async", rest @ ..] => all_of(rest, is_of_copy).then(|| "cp.async".to_owned()),
        [name @ ("st" | "red"), "async", rest @ ..] => {
            all_of(rest, is_of_remote_write).then(|| format!("{name}.async"))
        }
        ["tcgen05", "commit", rest @ ..] => {
            let mut others = rest.iter().filter(|part| **part != MULTICAST);
            let multicast = if rest.contains(&MULTICAST) { ".multicast::cluster" } else { "" };
            others.all(|part| is_of_commit(part)).then(|| format!("tcgen05.commit{multicast}"))
        }
        _ => None,
    }
}

const MULTICAST: &str = "multicast::cluster";

/// A copy that is counted by bytes: into shared memory, or out of it.
fn bulk(name: &str, rest: &[&str]) -> Option<String> {
    let (tensor, rest) = match rest {
        ["tensor", rest @ ..] => (".tensor", rest),
        rest => ("", rest),
    };
    let spaces: Vec<&str> = rest.iter().copied().filter(|part| is_space(part)).collect();
    let mut others = rest.iter().filter(|part| !is_space(part) && **part != MULTICAST);
    let is_reduction = name.contains("reduce");
    let is_known = others.all(|part| is_of_bulk(part) || is_reduction && is_of_remote_write(part));
    let multicast = if rest.contains(&MULTICAST) { ".multicast::cluster" } else { "" };
    match spaces.as_slice() {
        _ if !is_known => None,
        ["global", "shared::cta"] if multicast.is_empty() => Some(format!("{name}{tensor}.global")),
        ["shared::cluster", "shared::cta"] if !is_reduction && tensor.is_empty() && multicast.is_empty() => {
            Some(format!("{name}.shared::cluster.shared::cta"))
        }
        ["shared::cluster" | "shared::cta", "global"] if !is_reduction => {
            Some(format!("{name}{tensor}{multicast}"))
        }
        _ => None,
    }
}

fn all_of(parts: &[&str], of: fn(&str) -> bool) -> bool {
    parts.iter().all(|part| of(part))
}

fn is_space(part: &str) -> bool {
    ["global", "shared::cta", "shared::cluster"].contains(&part)
}

fn is_cached(part: &str) -> bool {
    part.starts_with("l2::")
}

fn is_of_bulk(part: &str) -> bool {
    let dimensions = ["1d", "2d", "3d", "4d", "5d"];
    let modes = ["tile", "im2col", "im2col_no_offs"];
    let completion = ["bulk_group", "mbarrier::complete_tx::bytes", "cp_mask", "ignore_oob"];
    [&dimensions[..], &modes, &completion].concat().contains(&part)
        || ["tile::", "im2col::", "cta_group::"].iter().any(|begin| part.starts_with(begin))
        || is_cached(part)
}

fn is_of_copy(part: &str) -> bool {
    ["ca", "cg", "shared", "shared::cta", "global"].contains(&part) || is_cached(part)
}

fn is_of_remote_write(part: &str) -> bool {
    let operations = ["add", "min", "max", "inc", "dec", "and", "or", "xor", "noftz"];
    let order = ["weak", "relaxed", "cluster", "shared::cluster", "mbarrier::complete_tx::bytes"];
    let types = ["b8", "b16", "b32", "b64", "b128", "u32", "u64", "s32", "s64", "f16", "bf16", "f32", "f64"];
    [&operations[..], &order, &types, &["v2", "v4"]].concat().contains(&part)
}

fn is_of_commit(part: &str) -> bool {
    ["mbarrier::arrive::one", "shared::cluster", "shared::cta", "b64"].contains(&part)
        || part.starts_with("cta_group::")
}
