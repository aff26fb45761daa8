//! Where compiled kernels come from: lines of the source, and the file that holds them.

use super::decided::Decided;
use super::names;
use barcheck::Finding;
use barcheck_model::program::Place;
use barcheck_specs::Origin;
use std::path::{Component, Path, PathBuf};

/// A place in the source of a kernel.
pub(crate) struct SourcePlace {
    /// What is said of it, with functions that were inlined.
    pub(crate) said: String,
    /// The file, if it is there.
    pub(crate) file: Option<PathBuf>,
    /// The line in it.
    pub(crate) line: u32,
}

/// `compiled from tiles.cu:7, inlined at tiles.cu:29`.
pub(crate) fn compiled_from(origin: &Origin) -> String {
    let place = |file: &str, line: u32| format!("{}:{line}", names::plain(file));
    let here = place(&origin.file, origin.line);
    match &origin.inlined_at {
        Some((file, line)) => format!("compiled from {here}, inlined at {}", place(file, *line)),
        None => format!("compiled from {here}"),
    }
}

/// Where a place of a kernel comes from, if the kernel says so.
pub(crate) fn of(decided: &Decided, place: Place) -> Option<SourcePlace> {
    let origin = decided.extracted.as_ref()?.origin(place.line)?;
    let (file, line) = origin.outermost();
    Some(SourcePlace { said: compiled_from(origin), file: find(file, &decided.path), line })
}

/// Where what is shown of a finding comes from, or else where it came about; with the place in the kernel.
pub(crate) fn of_finding(decided: &Decided, found: &Finding) -> Option<(SourcePlace, Place)> {
    [found.shown_at(), found.place].into_iter().find_map(|place| Some((of(decided, place)?, place)))
}

/// The file of that name: where the compiler read it, or as much of its path as there is from the working
/// folder or that of the kernel.
pub(crate) fn find(name: &str, kernel: &Path) -> Option<PathBuf> {
    let name = name.replace('\\', "/");
    let parts: Vec<_> = Path::new(&name).components().filter(|c| matches!(c, Component::Normal(_))).collect();
    let beside = kernel.parent().unwrap_or(Path::new(""));
    // What lies below the working folder comes first: others have a working folder of their own.
    for from in 0..parts.len() {
        let tail: PathBuf = parts[from..].iter().collect();
        for candidate in [tail.clone(), beside.join(&tail)] {
            if candidate.is_file() {
                return Some(candidate);
            }
        }
    }
    Some(PathBuf::from(name)).filter(|path| path.is_file())
}
