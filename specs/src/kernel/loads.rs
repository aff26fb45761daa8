//! Loads from memory that nobody writes, by the names of their functions: those of types.

/// Whether a function is a load from memory that nobody writes: it has the name of a type.
pub(super) fn is_load(name: &str) -> bool {
    let bits = name.strip_prefix(['b', 'u', 's', 'f']);
    bits.is_some_and(|bits| !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The type of a load, as far as it matters whether two find the same: nothing for 32 bits, and for elements
/// of an array, which all have its type.
pub(super) fn width(ty: &str) -> String {
    if let Some(ty) = ty.strip_prefix("%type ") {
        return format!(":{}", ty.replace(' ', "_"));
    }
    match ty.strip_prefix(['b', 'u', 's', 'f']) {
        Some("32") | None => String::new(),
        Some(bits @ ("64" | "128")) => format!(":{bits}"),
        // Small numbers are made wider with or without their sign.
        Some(bits) if ty.starts_with(['b', 'u']) => format!(":u{bits}"),
        Some(_) => format!(":{ty}"),
    }
}
