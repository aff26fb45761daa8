//! Reads files, standard input among them.

use barcheck_specs::limits;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The longest trace that is read, in bytes: far longer than any search can write.
const LONGEST_TRACE: u64 = 1 << 30;

/// Whether a file stands for standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether two paths lead to the same file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// What people read for a file.
pub(crate) fn display_name(path: &Path) -> String {
    if is_standard_input(path) { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// Reads a protocol, but no more than a protocol can be long. The error is a message without the file's name.
pub(crate) fn protocol(path: &Path) -> Result<Vec<u8>, String> {
    let limit = u64::try_from(limits::SOURCE_BYTES).unwrap_or(u64::MAX);
    read(path, limit, "protocol")
}

/// Reads a counterexample. The error is a message without the file's name.
pub(crate) fn trace(path: &Path) -> Result<Vec<u8>, String> {
    read(path, LONGEST_TRACE, "trace")
}

fn read(path: &Path, limit: u64, what: &str) -> Result<Vec<u8>, String> {
    let bytes = if is_standard_input(path) {
        read_at_most(io::stdin().lock(), limit)
    } else {
        File::open(path).and_then(|file| read_at_most(file, limit))
    };
    match bytes {
        Err(error) => Err(error.to_string()),
        Ok(bytes) if bytes.len() as u64 > limit => {
            Err(format!("too long: a {what} has at most {} bytes", super::output::grouped(limit)))
        }
        Ok(bytes) => Ok(bytes),
    }
}

/// Up to one byte more than the limit, so that the caller sees that there are more.
fn read_at_most(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}
