//! What parameters are called.

/// What a parameter, or the part of it at an offset in bytes, is called in the protocol.
pub(super) fn shown_param(name: &str, offset: i64, entry: &str) -> String {
    let short = short(name, entry);
    if offset == 0 { short } else { format!("{short}+{offset}") }
}

/// A parameter's name without that of the entry, which compilers put before it.
pub(super) fn short(name: &str, entry: &str) -> String {
    let rest = name.strip_prefix("__cudaparm_").unwrap_or(name);
    match rest.strip_prefix(entry).and_then(|rest| rest.strip_prefix('_')) {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => name.to_owned(),
    }
}
