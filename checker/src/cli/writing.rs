//! Files that are written whole or not at all.
//!
//! What is written goes into a file beside the one that is meant, which takes its place when all of it is on
//! the disk. Until then, and whatever goes wrong, the old file is as it was.
//!
//! What is no regular file (a pipe, a device, an open stream such as `/dev/stdout`) is written to directly:
//! nobody means to put another file into its place. So is a file that may be written to in a folder in which
//! none can be made.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Links that are followed one after the other. Systems give up earlier.
const MOST_LINKS: usize = 64;

/// Names that are tried for a file beside another; others may be left by processes that were killed.
const MOST_NAMES: usize = 10_000;

/// The files that are beside others now, for those who end the process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Makes a file hold a text, and nothing else. After an error the file is as it was, unless it had to be
/// written to directly.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut draft = Draft::new(path)?;
    draft.write_all(text.as_bytes())?;
    draft.keep()
}

/// From now on a file that grows beyond what the user allows (`ulimit -f`) is an error, and does not end this
/// process.
pub(crate) fn heed_limits() {
    #[cfg(unix)]
    {
        use signal_hook::consts::SIGXFSZ;

        // Without the handler the process ends, and leaves a file behind that is in nobody's way.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}

/// Makes the folder that a file is to stand in.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(folder(path))
}

/// Removes what is beside other files now: the process is about to end.
pub(crate) fn discard_all() {
    for beside in unfinished().drain(..) {
        // What is left over is in nobody's way.
        let _ = fs::remove_file(beside);
    }
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a file is to hold, in the making. Dropped before it is kept, it leaves the file as it was.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    /// Where it is written, and the file whose place it takes; nothing if that one is written to directly.
    places: Option<(PathBuf, PathBuf)>,
}

impl Draft {
    /// The draft of a file. The error is that of a file that cannot be written.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            // No file has such a name: the system says so.
            return Self::direct(path);
        }
        let Some(place) = place(path)? else { return Self::direct(path) };
        let old = match fs::metadata(&place) {
            Ok(about) if !about.is_file() => return Self::direct(&place),
            Ok(about) => Some(about),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if old.is_some() {
            // Who may not write to the file must not replace it.
            OpenOptions::new().write(true).open(&place)?;
        }
        let (file, beside) = match beside(&place) {
            Err(error) if old.is_some() && is_refused(&error) => return Self::direct(&place),
            made => made?,
        };
        unfinished().push(beside.clone());
        let draft = Self { file, places: Some((beside, place)) };
        if let Some(old) = old {
            own_like(&draft.file, &old);
            draft.file.set_permissions(old.permissions())?;
        }
        Ok(draft)
    }

    fn direct(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::create(path)?, places: None })
    }

    /// Puts it into its place. After an error the file is as it was.
    pub(crate) fn keep(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some((beside, place)) = &self.places else { return Ok(()) };
        match self.file.sync_all() {
            // Some file systems cannot be asked for it.
            Err(error) if !matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => {
                return Err(error);
            }
            _ => {}
        }
        match fs::rename(beside, place) {
            // Another file system is mounted at this very file: nothing can take its place.
            Err(error) if matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::CrossesDevices) => {
                fs::copy(beside, place).map(|_| ())
            }
            renamed => {
                renamed?;
                let beside = self.places.take().map(|(beside, _)| beside);
                unfinished().retain(|other| Some(other) != beside.as_ref());
                Ok(())
            }
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let Some((beside, _)) = self.places.take() else { return };
        // What is left over is in nobody's way.
        let _ = fs::remove_file(&beside);
        unfinished().retain(|other| *other != beside);
    }
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where the links at a path end, there already or not. Nothing if they lead to a stream that is open:
/// `/proc` names these, wherever they lead.
fn place(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !fs::symlink_metadata(&place).is_ok_and(|about| about.is_symlink()) {
            return Ok(Some(place));
        }
        if fs::canonicalize(folder(&place)).is_ok_and(|folder| folder.starts_with("/proc")) {
            return Ok(None);
        }
        let next = fs::read_link(&place)?;
        place = folder(&place).join(next);
    }
    Err(io::Error::other("too many links"))
}

/// A new file beside another, hidden from those who look for protocols in folders.
fn beside(place: &Path) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let mut tried = 0;
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder(place).join(format!(".barcheck-{}-{number}.tmp", std::process::id()));
        tried += 1;
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && tried < MOST_NAMES => {}
            made => return made.map(|file| (file, path)),
        }
    }
}

/// Whether no file can be made in a folder, whatever its name.
fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Gives a file the owners of another, as far as this process may.
#[cfg(unix)]
fn own_like(file: &File, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};

    // Most may not give files away, and it is theirs then.
    let _ = fchown(file, Some(old.uid()), Some(old.gid()));
}

#[cfg(not(unix))]
fn own_like(_: &File, _: &fs::Metadata) {}
