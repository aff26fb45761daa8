//! Explorations run in a process of their own: a deadlock that loom finds while a guard is held aborts the
//! process, and threads that hang cannot be ended otherwise.
//!
//! The parent starts its own executable again with [`VARIABLE`] set and writes a [`Request`] to its standard
//! input. The child explores and writes an [`Answer`], on a line of its own behind [`MARK`], to its standard
//! output.

use super::effort::{Effort, Extent, With};
use super::record::Step;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Set in the environment of a child.
pub(super) const VARIABLE: &str = "BARCHECK_GATE_CHILD";
/// Before an answer: whatever else writes to standard output, a test harness for example, does not write
/// this.
const MARK: &str = "\u{1}barcheck-gate-answer ";
/// What a child may take beyond its time before it is ended.
const GRACE: Duration = Duration::from_secs(20);

/// What a child is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) file: String,
    pub(super) text: String,
    pub(super) defines: BTreeMap<String, i64>,
    pub(super) release_on_exit: bool,
    pub(super) effort: Effort,
    pub(super) with: With,
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Answer {
    /// Executions made.
    pub(super) executions: u64,
    /// Executions in which an agent was stopped after many steps.
    pub(super) cut: u64,
    /// Combinations of the protocol's choices that were explored.
    pub(super) combinations: u64,
    /// How far the exploration came.
    pub(super) extent: Option<Extent>,
    /// Why an execution ended early, or what the explorer complained of.
    pub(super) end: Option<End>,
    /// The rules noted in executions that went on.
    pub(super) noted: Vec<Noted>,
    /// How shuttle replays the last execution.
    pub(super) schedule: Option<String>,
}

/// A rule noted in an execution that went on, and the steps to there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Noted {
    pub(super) rule: String,
    pub(super) steps: Vec<Step>,
}

/// Why the last execution ended early.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) cause: Cause,
    /// Its steps.
    pub(super) steps: Vec<Step>,
}

/// The causes of an early end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Cause {
    /// A barrier or an assertion refused a step: the rule's name.
    Violation(String),
    /// All threads are blocked.
    Deadlock,
    /// Two accesses are not ordered.
    Race,
    /// Threads cannot run the protocol, says why.
    Unfit(String),
    /// A defect of this program.
    Contradiction(String),
    /// The explorer gave up: its words.
    Explorer(String),
}

/// This process was started by [`gate`](super::gate) to explore in: it has to call
/// [`explore_here`](super::explore_here) and nothing else.
#[must_use]
pub fn is_child() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// What the parent asks for.
pub(super) fn request() -> io::Result<Request> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    serde_json::from_str(&text).map_err(io::Error::other)
}

/// Answers the parent and ends this process.
pub(super) fn answer(answer: &Answer) -> ! {
    // Locked until the process has ended: of threads that find something at once, the second must not begin
    // to answer while the first ends.
    let mut out = io::stdout().lock();
    let written = serde_json::to_string(answer).map_err(io::Error::other).and_then(|json| {
        writeln!(out, "\n{MARK}{json}")?;
        out.flush()
    });
    std::process::exit(if written.is_ok() { 0 } else { 1 })
}

/// Starts `command` as a child and waits for its answer, at most for `time` and some grace.
///
/// # Errors
/// The child cannot be started, does not answer, or breaks off: says what it said last.
pub(super) fn ask(mut command: Command, request: &Request, time: Duration) -> Result<Answer, String> {
    let json = serde_json::to_string(request).map_err(|error| error.to_string())?;
    command.env(VARIABLE, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().map_err(|error| format!("cannot start a process to explore in: {error}"))?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // A child that does not read its request has something to say, which is read below.
    let writer = thread::spawn(move || stdin.map(|mut pipe| pipe.write_all(json.as_bytes())));
    let reader = |pipe: Option<Box<dyn io::Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                // What could be read before an error is all that there is.
                let _ = pipe.read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = reader(stdout.map(|pipe| Box::new(pipe) as Box<dyn io::Read + Send>));
    let err = reader(stderr.map(|pipe| Box::new(pipe) as Box<dyn io::Read + Send>));
    let deadline = Instant::now() + time + GRACE;
    let mut ended = false;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(Some(_)) | Err(_) => {
                ended = true;
                break;
            }
            Ok(None) => thread::sleep(Duration::from_millis(2)),
        }
    }
    if !ended {
        // Gone already is as good.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let text = |joined: thread::JoinHandle<String>| joined.join().unwrap_or_default();
    let _ = writer.join();
    let (out, err) = (text(out), text(err));
    let line = out.lines().rev().find_map(|line| line.strip_prefix(MARK));
    let mut answer: Answer = match line {
        Some(json) => {
            serde_json::from_str(json).map_err(|error| format!("the exploring process: {error}"))?
        }
        None if !ended => {
            let why = format!("no answer within {} s", (time + GRACE).as_secs());
            let end = End { cause: Cause::Explorer(why), steps: Vec::new() };
            return Ok(Answer { end: Some(end), ..Answer::default() });
        }
        None => {
            let last: Vec<&str> = err.lines().rev().take(5).collect();
            let last: Vec<&str> = last.into_iter().rev().collect();
            return Err(format!("the exploring process broke off ({status}): {}", last.join(" / ")));
        }
    };
    answer.schedule = schedule(&err);
    Ok(answer)
}

/// What shuttle says before the schedule of an execution that fails.
pub(super) const SCHEDULE: &str = "failing schedule:";

/// The schedule that shuttle prints when an execution fails.
fn schedule(err: &str) -> Option<String> {
    let after = err.split(SCHEDULE).nth(1)?;
    let quoted = after.split('"').nth(1)?;
    Some(quoted.trim().to_owned())
}
