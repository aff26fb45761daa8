//! Which files a command line means: folders are searched, and one part of all files may be taken.

use super::input::{self, Unread};
use super::values::Partition;
use barcheck_specs::{Entry, Format};
use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file to decide.
#[derive(Debug)]
pub(crate) struct Input {
    /// Its path as the user gave it, or below a folder that the user gave.
    pub(crate) path: PathBuf,
    /// What it holds, if it has been read already: pipes can be read only once. Or why it cannot be read.
    pub(crate) known: Option<Result<Vec<u8>, Unread>>,
    /// Which of its kernels is meant.
    pub(crate) entry: Option<Entry>,
}

impl Input {
    fn new(path: PathBuf) -> Self {
        Self { path, known: None, entry: None }
    }

    fn unreadable(path: &Path, message: impl Into<String>) -> Self {
        let known = Some(Err(Unread::Unreadable(message.into())));
        Self { path: path.to_owned(), known, entry: None }
    }

    /// What it holds, unless that does not come within some time, if there is a limit.
    pub(crate) fn read(&mut self, time: Option<Duration>) -> Result<Vec<u8>, Unread> {
        self.known.take().unwrap_or_else(|| input::protocol_within(&self.path, time))
    }
}

/// Whether a path leads to a folder.
pub(crate) fn is_folder(path: &Path) -> bool {
    !input::is_standard_input(path) && path.is_dir()
}

/// The files meant, in the order given; those of a folder in the order of their paths. A folder that cannot
/// be read, or in which there is nothing, stands in the list itself.
pub(crate) fn expand(paths: &[PathBuf]) -> Vec<Input> {
    let files = |path: &PathBuf| if is_folder(path) { below(path) } else { vec![Input::new(path.clone())] };
    paths.iter().flat_map(files).collect()
}

/// The files of one part. Who is in which part depends on the set of paths and not on their order, which may
/// differ from machine to machine where a shell has listed them; neighbours go to different parts.
pub(crate) fn part(inputs: Vec<Input>, partition: Partition) -> Vec<Input> {
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    order.sort_by(|a, b| inputs[*a].path.cmp(&inputs[*b].path));
    let mine: BTreeSet<usize> = order.into_iter().skip(partition.skip()).step_by(partition.step()).collect();
    inputs.into_iter().enumerate().filter(|(index, _)| mine.contains(index)).map(|(_, input)| input).collect()
}

fn below(folder: &Path) -> Vec<Input> {
    let mut walk = Walk { folders: vec![folder.to_owned()], ..Walk::default() };
    while let Some(next) = walk.folders.pop().or_else(|| walk.links.pop_first()) {
        walk.enter(&next);
    }
    if walk.found.is_empty() {
        let mut endings: Vec<String> =
            Format::ALL.iter().flat_map(|format| format.extensions()).map(|e| format!("`.{e}`")).collect();
        let last = endings.pop().unwrap_or_default();
        let why = format!("there is no {} or {last} file in it or below", endings.join(", "));
        return vec![Input::unreadable(folder, why)];
    }
    walk.found.sort_by(|a, b| a.path.cmp(&b.path));
    walk.found
}

/// A search through folders.
#[derive(Default)]
struct Walk {
    /// Folders seen and not yet entered.
    folders: Vec<PathBuf>,
    /// Links to folders. They come last, so that a folder goes by its own name where it has one here.
    links: BTreeSet<PathBuf>,
    /// The folders entered, by their real paths: links may lead in circles.
    entered: BTreeSet<PathBuf>,
    found: Vec<Input>,
}

impl Walk {
    fn enter(&mut self, folder: &Path) {
        if fs::canonicalize(folder).is_ok_and(|real| !self.entered.insert(real)) {
            return;
        }
        let failed = |error: std::io::Error| Input::unreadable(folder, error.to_string());
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.found.push(failed(error)),
        };
        for entry in entries {
            match entry {
                Ok(entry) => self.look_at(&entry),
                Err(error) => self.found.push(failed(error)),
            }
        }
    }

    fn look_at(&mut self, entry: &DirEntry) {
        // As a shell's `*` does: version control and editors keep their own files there.
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            return;
        }
        let path = entry.path();
        let kind = entry.file_type().ok();
        let is_protocol = Format::of_name(&path).is_some();
        match fs::metadata(&path) {
            Ok(about) if about.is_dir() && kind.is_some_and(|kind| kind.is_symlink()) => {
                self.links.insert(path);
            }
            Ok(about) if about.is_dir() => self.folders.push(path),
            // Entering it will say why it cannot be entered.
            Err(_) if kind.is_some_and(|kind| kind.is_dir()) => self.folders.push(path),
            Ok(about) if is_protocol && !about.is_file() => {
                self.found.push(Input::unreadable(&path, "it is neither a file nor a folder"));
            }
            // A link that leads nowhere is one of them: reading it will say so.
            _ if is_protocol => self.found.push(Input::new(path)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::values;

    fn parts(names: &[&str], of: u32) -> Vec<Vec<String>> {
        let take = |part: u32| {
            let inputs = names.iter().map(|name| Input::new(PathBuf::from(name))).collect();
            let partition = values::partition(&format!("{part}/{of}")).expect("it is well formed");
            let taken = super::part(inputs, partition);
            taken.iter().map(|input| input.path.display().to_string()).collect()
        };
        (1..=of).map(take).collect()
    }

    #[test]
    fn every_file_is_in_one_part_and_the_order_given_decides_nothing() {
        assert_eq!(parts(&["a", "b", "c", "d", "e"], 2), [vec!["a", "c", "e"], vec!["b", "d"]]);
        assert_eq!(parts(&["e", "a", "d", "b", "c"], 2), [vec!["e", "a", "c"], vec!["d", "b"]]);
        assert_eq!(parts(&["a", "a"], 2), [["a"], ["a"]]);
        assert_eq!(parts(&["a"], 3), [vec!["a"], vec![], vec![]]);
    }
}
