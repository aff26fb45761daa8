//! What needs a disk: files for states that have no room in memory, and what checkpoints are written in.
//!
//! Without the feature `disk` there are no such files: whoever asks for them is told so, and the search goes
//! on without checkpoints, or ends as inconclusive where memory is used up.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io;
use std::path::Path;

/// Whether there may be files.
#[cfg(feature = "disk")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature, this is an error")]
pub(crate) fn is_there() -> io::Result<()> {
    Ok(())
}

/// A file in a folder that has no name: it is gone with the process, however it ends.
#[cfg(feature = "disk")]
pub(crate) fn unnamed_file(folder: &Path) -> io::Result<File> {
    tempfile::tempfile_in(folder)
}

/// Bytes of a digest.
pub(crate) const DIGEST_BYTES: usize = 64;

/// A digest of some texts, in order, and of where each ends: in hexadecimal digits.
#[cfg(feature = "disk")]
pub(crate) fn digest(texts: &[&[u8]]) -> String {
    use std::fmt::Write;

    let mut hash = hmac_sha256::Hash::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().fold(String::with_capacity(DIGEST_BYTES), |mut digits, byte| {
        // Texts in memory take whatever is written.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// A thing, in bytes.
#[cfg(feature = "disk")]
pub(crate) fn to_bytes(thing: &impl Serialize) -> io::Result<Vec<u8>> {
    postcard::to_stdvec(thing).map_err(io::Error::other)
}

/// The thing that [`to_bytes`] has written.
#[cfg(feature = "disk")]
pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    postcard::from_bytes(bytes).map_err(io::Error::other)
}

/// A thing, as people may read it.
#[cfg(feature = "disk")]
pub(crate) fn to_text(thing: &impl Serialize) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(thing)?)
}

/// The thing that [`to_text`] has written.
#[cfg(feature = "disk")]
pub(crate) fn from_text<T: DeserializeOwned>(text: &[u8]) -> io::Result<T> {
    Ok(serde_json::from_slice(text)?)
}

#[cfg(not(feature = "disk"))]
mod without {
    use super::{DeserializeOwned, File, Path, Serialize, io};

    fn refused<T>() -> io::Result<T> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this program was built without the feature `disk`"))
    }

    pub(crate) fn is_there() -> io::Result<()> {
        refused()
    }

    pub(crate) fn unnamed_file(_: &Path) -> io::Result<File> {
        refused()
    }

    /// There are no files that could be compared.
    pub(crate) fn digest(_: &[&[u8]]) -> String {
        "0".repeat(super::DIGEST_BYTES)
    }

    pub(crate) fn to_bytes(_: &impl Serialize) -> io::Result<Vec<u8>> {
        refused()
    }

    pub(crate) fn from_bytes<T: DeserializeOwned>(_: &[u8]) -> io::Result<T> {
        refused()
    }

    pub(crate) fn to_text(_: &impl Serialize) -> io::Result<Vec<u8>> {
        refused()
    }

    pub(crate) fn from_text<T: DeserializeOwned>(_: &[u8]) -> io::Result<T> {
        refused()
    }
}

#[cfg(not(feature = "disk"))]
pub(crate) use without::{digest, from_bytes, from_text, is_there, to_bytes, to_text, unnamed_file};
