//! Runs the binary, and protocols to run it on.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Two warps meet: verified.
pub(crate) const GOOD: &str = "target ptx; cta 64; warps 0..2 { bar.sync 1, 64; }\n";
/// Two warps take two barriers in different orders: violated by `deadlock`.
pub(crate) const DEADLOCK: &str = "target ptx;\ncta 64;\nwarp 0 { bar.sync 1, 64; bar.sync 2, 64; }\n\
                                   warp 1 { bar.sync 2, 64; bar.sync 1, 64; }\n";
/// The first warning is `nobody-waits`, and nothing is wrong otherwise: verified.
pub(crate) const WARNING: &str = "target ptx; cta 64; warps 0..2 { bar.arrive 1, 64; }\n";
/// Reaches a division by zero.
pub(crate) const FAULT: &str = "target ptx;\ncta 64;\nwarps 0..2 { let n = 0; bar.sync 1, 64 / n; }\n";
/// Has no end of states: which warps are left in which round.
pub(crate) const LARGE: &str = "target ptx; cta 1024; shared a[32];\n\
                                warps 0..32 { for i in 0..1000 { if ? { exit; } write a[warp]; bar.sync 0; \
                                read a[(warp + 1) % 32]; bar.sync 0; } }\n";

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// The status is this, and nothing panicked.
    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "out: {}\nerr: {}", self.out, self.err);
        assert!(!self.err.contains("panicked") && !self.err.contains("internal error"), "{}", self.err);
        self
    }

    /// Standard error says this.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.err.contains(text), "no `{text}` in: {}", self.err);
        self
    }

    /// Standard output says this.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert!(self.out.contains(text), "no `{text}` in: {}", self.out);
        self
    }

    /// Standard output, line by line, as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
    }
}

/// A command on the binary.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barcheck"));
    command.args(arguments).env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

/// Runs the binary.
pub(crate) fn run(arguments: &[&str]) -> Run {
    finish(&mut command(arguments))
}

/// Runs the binary on a standard input.
pub(crate) fn run_on(arguments: &[&str], input: &[u8]) -> Run {
    let mut command = command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    // The binary may end before it has read everything.
    let _ = child.stdin.take().expect("it is piped").write_all(input);
    from(child.wait_with_output().expect("it ends"))
}

/// A text without its breaks of lines.
pub(crate) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Expects all of these in what a run printed, however its lines are broken, and none of those.
#[track_caller]
pub(crate) fn says(run: &Run, all: &[&str], none: &[&str]) {
    let told = words(&run.out);
    for part in all {
        assert!(told.contains(part), "{part}\n{}", run.out);
    }
    for part in none {
        assert!(!told.contains(part), "{part}\n{}", run.out);
    }
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command) -> Run {
    from(command.output().expect("the binary starts"))
}

fn from(output: std::process::Output) -> Run {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is UTF-8");
    Run { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A folder with files, removed at the end.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a folder can be made"))
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Adds a file and returns its path.
    pub(crate) fn add(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        std::fs::write(self.at(name), contents).expect("a file can be written");
        self.text(name)
    }

    /// A path inside.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The same as text.
    pub(crate) fn text(&self, name: &str) -> String {
        self.at(name).to_str().expect("the path is UTF-8").to_owned()
    }
}

/// Verifies one protocol.
pub(crate) fn verify(source: impl AsRef<[u8]>, options: &[&str]) -> Run {
    let folder = Folder::new();
    let file = folder.add("protocol.bar", source);
    let mut arguments = vec!["verify"];
    arguments.extend(options);
    arguments.push(&file);
    run(&arguments)
}

/// A folder with `ring.bar` and its counterexample `ring.json`, and what the latter holds.
pub(crate) fn ring() -> (Folder, String) {
    let folder = Folder::new();
    let (file, trace) = (folder.add("ring.bar", DEADLOCK), folder.text("ring.json"));
    run(&["verify", &file, "--trace", &trace]).expect(1);
    let text = std::fs::read_to_string(&trace).expect("it is there");
    (folder, text)
}

/// What is no trace, made of one, under a name for each, with what is said of it.
pub(crate) fn no_traces(trace: &str) -> [(&'static str, String, &'static str); 3] {
    let half = trace.get(..trace.len() / 2).expect("the text is ASCII");
    let version = trace.replace("barcheck-trace/1", "barcheck-trace/9");
    [
        ("half.json", half.to_owned(), "EOF while parsing"),
        ("version.json", version, "the format is `barcheck-trace/9`"),
        ("empty.json", String::new(), "EOF"),
    ]
}

/// Names that mean something to XML, URIs, GitHub or terminals, and some that mean nothing to Unicode.
#[cfg(unix)]
pub(crate) fn hostile_names() -> Vec<std::ffi::OsString> {
    use std::os::unix::ffi::OsStringExt;
    let names: [&[u8]; 12] = [
        b"a<b>&\"'.bar",
        b"]]><!--.bar",
        b"two\nlines\r\n::error::no.bar",
        b"50%0A,col=9,title=x::y.bar",
        b"&#0;&amp;.bar",
        b"\x01\x07\x1b[31m\x7f.bar",
        b"\xc2\x9b31m.bar",
        b"\xef\xbf\xbe\xef\xbf\xbf.bar",
        b"not\xff\xfeUnicode.bar",
        b"scheme:two words?q#f.bar",
        "\u{202e}ö\u{1f600}.bar".as_bytes(),
        b"[link](1) {0} \\.bar",
    ];
    names.into_iter().map(|name| std::ffi::OsString::from_vec(name.to_vec())).collect()
}

/// A folder that holds one protocol, in turn violated, malformed, verified with warnings and inconclusive or
/// failing, under each of the [`hostile_names`].
#[cfg(unix)]
pub(crate) fn hostile_folder() -> Folder {
    let folder = Folder::new();
    let text = "target ptx;\n// <&\"]]>\u{1b}[31m %0A ::error::\n\u{7} < & \u{fffe} ::x\r\n";
    let sources = [DEADLOCK, text, WARNING, FAULT];
    for (name, source) in hostile_names().into_iter().zip(sources.into_iter().cycle()) {
        std::fs::write(folder.path().join(name), source).expect("a file can be written");
    }
    folder
}
