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
    /// Where the trace departs from the model. The page begins with it, for then it shows what may not be so.
    pub departure: Option<String>,
}
