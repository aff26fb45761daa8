//! Reads files, standard input among them.

use super::names::shown;
use super::output::Status;
use super::watch;
use barcheck_specs::limits;
use std::fmt::{self, Display, Formatter};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The longest trace that is read, in bytes: the steps of a search fill a small part of it.
const LONGEST_TRACE: u64 = 64 << 20;

/// Time between two looks at whether reading should end.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It cannot be, for this reason.
    Unreadable(String),
    /// Not all of it came within this time.
    Late(Duration),
    /// The user has asked to end.
    Interrupted,
}

impl Unread {
    /// The status that follows: with more time it might have been read.
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Unreadable(_) => Status::Trouble,
            Self::Late(_) | Self::Interrupted => Status::Inconclusive,
        }
    }
}

impl Display for Unread {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => f.write_str(why),
            Self::Late(limit) => write!(f, "not all of it came within {} s", limit.as_secs_f64()),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// Whether a file stands for standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether two paths lead to the same file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// A path without links and detours, as far as what it leads to exists.
pub(crate) fn real(path: &Path) -> PathBuf {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let in_its_folder = || {
        let folder = fs::canonicalize(full.parent()?).ok()?;
        Some(folder.join(full.file_name()?))
    };
    fs::canonicalize(&full).ok().or_else(in_its_folder).unwrap_or(full)
}

/// What people read for a file that is read.
pub(crate) fn display_name(path: &Path) -> String {
    if is_standard_input(path) { "<stdin>".to_owned() } else { shown(path) }
}

/// Reads a protocol, but no more than a protocol can be long: within some time if there is a limit, and until
/// the user asks to end.
pub(crate) fn protocol_within(path: &Path, time: Option<Duration>) -> Result<Vec<u8>, Unread> {
    let limit = u64::try_from(limits::SOURCE_BYTES).unwrap_or(u64::MAX);
    read(path, limit, "protocol", time)
}

/// Reads a counterexample, likewise.
pub(crate) fn trace(path: &Path, time: Option<Duration>) -> Result<Vec<u8>, Unread> {
    read(path, LONGEST_TRACE, "trace", time)
}

fn read(path: &Path, limit: u64, what: &str, time: Option<Duration>) -> Result<Vec<u8>, Unread> {
    let too_long = || {
        let limit = super::output::grouped(limit);
        Unread::Unreadable(format!("too long: a {what} has at most {limit} bytes"))
    };
    let about = if is_standard_input(path) { None } else { fs::metadata(path).ok() };
    let bytes = match about.filter(fs::Metadata::is_file) {
        Some(about) if about.len() > limit => return Err(too_long()),
        Some(_) => read_now(path, limit),
        None => read_aside(path, limit, time)?,
    };
    match bytes {
        Err(error) => Err(Unread::Unreadable(error.to_string())),
        Ok(bytes) if bytes.len() as u64 > limit => Err(too_long()),
        Ok(bytes) => Ok(bytes),
    }
}

fn read_now(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if is_standard_input(path) {
        read_at_most(io::stdin().lock(), limit)
    } else {
        read_at_most(File::open(path)?, limit)
    }
}

/// Reads what nobody may ever write to: a pipe is not even open before somebody does. The thread that waits
/// for it is left alone when nobody waits for the thread any more.
fn read_aside(path: &Path, limit: u64, time: Option<Duration>) -> Result<io::Result<Vec<u8>>, Unread> {
    let (sender, receiver) = mpsc::channel();
    let (path, began) = (path.to_owned(), Instant::now());
    // Whether anybody still listens is not for this thread to say.
    std::thread::spawn(move || sender.send(read_now(&path, limit)));
    loop {
        match receiver.recv_timeout(BETWEEN_LOOKS) {
            Ok(read) => return Ok(read),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Unread::Unreadable("reading it has ended early".to_owned()));
            }
            Err(RecvTimeoutError::Timeout) if watch::interrupted() => return Err(Unread::Interrupted),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(limit) = time.filter(|limit| began.elapsed() >= *limit) {
                    return Err(Unread::Late(limit));
                }
            }
        }
    }
}

/// Up to one byte more than the limit, so that the caller sees that there are more.
fn read_at_most(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}
