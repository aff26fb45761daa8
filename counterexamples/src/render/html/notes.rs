//! What a page says that no trace knows.

use std::collections::BTreeMap;

use serde::Serialize;

/// What is known of a rule beside the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleNote {
    /// What a violation is.
    pub meaning: String,
    /// Why it hurts.
    pub why: String,
    /// How to fix it.
    pub fix: String,
    /// The clauses that it rests on, the first being the one that counts most.
    pub clauses: Vec<ClauseNote>,
}

/// A clause of a specification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClauseNote {
    /// Its id: `ptx.sync-waits`.
    pub id: String,
    /// The document.
    pub document: String,
    /// The section.
    pub section: String,
    /// What it says.
    pub says: String,
}

/// What a page says beside its trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Notes {
    /// What a violation of each rule is, by its name: a run of one's own may violate another than the trace.
    pub meanings: BTreeMap<String, String>,
    /// On the rule that is violated.
    pub rule: Option<RuleNote>,
    /// For a compiled kernel, what it was compiled from.
    pub compiled_from: Option<CompiledFrom>,
    /// Where the trace departs from the model. The page begins with it, for then it shows what may not be so.
    pub departure: Option<String>,
}

/// What the places of a compiled kernel were compiled from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CompiledFrom {
    /// The files of the source.
    pub files: Vec<SourceFile>,
    /// The lines of the kernel that matter in the trace, in order.
    pub lines: Vec<SourceLine>,
}

impl CompiledFrom {
    /// What a line of the kernel was compiled from, if that is known.
    #[must_use]
    pub fn of(&self, line: u32) -> Option<&SourceLine> {
        self.lines.iter().find(|known| known.line == line)
    }
}

/// A file of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceFile {
    /// Its name, as the kernel has it.
    pub name: String,
    /// The lines that are shown, by number; none, if the file is not there.
    pub lines: BTreeMap<u32, String>,
}

/// What a line of a kernel was compiled from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// The line of the kernel, from 1.
    pub line: u32,
    /// The position of the file.
    pub file: usize,
    /// The line in it, from 1.
    pub at: u32,
    /// The place that was inlined there, if one was: `file:line`.
    pub said: Option<String>,
}
