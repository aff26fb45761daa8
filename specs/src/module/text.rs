//! Bytes that should be text.

use crate::common::limits;

/// Why bytes are no text of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// So many bytes are more than are read.
    TooLong(usize),
    /// It is written in two bytes for each character.
    Wide,
    /// What stands here is no text.
    NotText(usize),
}

/// The text of a module.
pub(crate) fn text_of_module(bytes: &[u8]) -> Result<&str, Unreadable> {
    if bytes.len() > limits::SOURCE_BYTES {
        return Err(Unreadable::TooLong(bytes.len()));
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Unreadable::Wide);
    }
    let source = std::str::from_utf8(bytes).map_err(|invalid| Unreadable::NotText(invalid.valid_up_to()))?;
    match source.find('\0') {
        Some(at) => Err(Unreadable::NotText(at)),
        None => Ok(source),
    }
}
