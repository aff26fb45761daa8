//! A folder that looks like the repository, in which commands may write.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// What the pages call `hang.bar`: two warps take two barriers in different orders.
const HANG: &str = "target ptx;\ncta 64;\nwarp 0 { bar.sync 1, 64; bar.sync 2, 64; }\n\
                    warp 1 { bar.sync 2, 64; bar.sync 1, 64; }\n";
/// What the pages call `ring.bar`: two warps meet.
const RING: &str = "target ptx; cta 64; warps 0..2 { bar.sync 1, 64; }\n";

/// A folder, removed at the end.
pub(crate) struct Sandbox(TempDir);

impl Sandbox {
    /// With links to what the repository holds, and the files that the pages speak of.
    #[cfg(unix)]
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().expect("a folder can be made");
        for name in ["specs", "counterexamples", "checker", "model"] {
            let there = super::root().join(name);
            std::os::unix::fs::symlink(there, folder.path().join(name)).expect("a link can be made");
        }
        let files = [("hang.bar", HANG), ("ring.bar", RING), ("protocols/ring.bar", RING)];
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
            std::fs::write(path, text).expect("a file can be written");
        }
        Self(folder)
    }

    /// Runs a line of a shell in it, where `barcheck` is the binary.
    pub(crate) fn shell(&self, line: &str) -> Output {
        let binaries = Path::new(env!("CARGO_BIN_EXE_barcheck")).parent().expect("it is in a folder");
        let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.0.path()).env("PATH", path);
        shell.env("LC_ALL", "C.UTF-8").env_remove("NO_COLOR").stdin(Stdio::null());
        shell.output().expect("a shell starts")
    }
}

/// Runs the binary on a standard input.
pub(crate) fn barcheck(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barcheck"));
    command.args(arguments).env_remove("NO_COLOR");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // The binary may end before it has read everything.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

/// The help of a command, or the one of the program.
pub(crate) fn help(command: Option<&str>) -> String {
    let arguments: Vec<&str> = command.into_iter().chain(["--help"]).collect();
    let output = barcheck(&arguments, "");
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).expect("the help is UTF-8")
}
