//! Where a file is, for those who look at a report elsewhere: from the working folder, or in full.

use super::input::is_standard_input;
use std::fmt::Write;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// From the working folder if it is below it, otherwise in full.
    path: PathBuf,
}

impl Location {
    /// Where the file with this path is.
    pub(crate) fn of(path: &Path) -> Self {
        if is_standard_input(path) {
            return Self { path: PathBuf::from("stdin") };
        }
        let mut components = path.components();
        let plain = components.all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        Self { path: if plain { path.to_owned() } else { from_working_folder(path) } }
    }

    /// Whether it is below the working folder.
    pub(crate) fn is_relative(&self) -> bool {
        self.path.is_relative()
    }

    /// As text, with `/` between folders. What is not Unicode is lost.
    pub(crate) fn text(&self) -> String {
        let names: Vec<_> = self.names().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        self.rooted("/", &names)
    }

    /// As a reference that SARIF understands, without loss.
    pub(crate) fn uri(&self) -> String {
        let names: Vec<_> = self.names().map(encoded).collect();
        self.rooted("file:///", &names)
    }

    fn names(&self) -> impl Iterator<Item = &[u8]> {
        let kept = |part: &Component<'_>| !matches!(part, Component::CurDir | Component::RootDir);
        self.path.components().filter(kept).map(|part| part.as_os_str().as_encoded_bytes())
    }

    fn rooted(&self, root: &str, names: &[String]) -> String {
        let root = if self.is_relative() { "" } else { root };
        format!("{root}{}", names.join("/"))
    }
}

/// A path that goes up or begins at the root, from the working folder if it leads below it.
fn from_working_folder(path: &Path) -> PathBuf {
    let Ok(here) = std::env::current_dir() else { return path.to_owned() };
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    if let (false, Ok(below)) = (goes_up, path.strip_prefix(&here)) {
        return below.to_owned();
    }
    // Links may stand on either side, and only the file system knows where `..` leads.
    let (real, here) = (fs::canonicalize(path), fs::canonicalize(&here).unwrap_or(here));
    let real = real.unwrap_or_else(|_| here.join(path));
    real.strip_prefix(&here).map_or_else(|_| real.clone(), Path::to_owned)
}

/// A name with everything but letters, digits and `-._~` as `%XX`.
pub(crate) fn encoded(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(path: &str) -> String {
        Location::of(Path::new(path)).uri()
    }

    #[test]
    fn paths_become_references_from_the_working_folder() {
        assert_eq!(uri("./a/b.bar"), "a/b.bar");
        assert_eq!(uri("a b/ö:%.bar"), "a%20b/%C3%B6%3A%25.bar");
        assert_eq!(uri("-"), "stdin");
        let here = std::env::current_dir().expect("there is one");
        assert_eq!(uri(&here.join("x.bar").display().to_string()), "x.bar");
        assert_eq!(uri("src/../Cargo.toml"), "Cargo.toml");
    }

    #[cfg(unix)]
    #[test]
    fn paths_elsewhere_are_given_in_full() {
        assert_eq!(uri("/no/such folder/x.bar"), "file:///no/such%20folder/x.bar");
        let elsewhere = Location::of(Path::new("/no/such/x.bar"));
        assert!(!elsewhere.is_relative());
        assert_eq!(elsewhere.text(), "/no/such/x.bar");
    }
}
