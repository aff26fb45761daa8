//! Protocols in the languages of other model checkers: a second opinion from outside.
//!
//! What an agent does by itself (operands and their ranges, branches, lanes that part and meet) comes from
//! the model, unfolded into a finite automaton of numbered nodes. What barriers and memory do is written anew
//! in the other language, from the specifications and the semantics page: an agreement of verdicts says that
//! two accounts of the same text agree, found by two programs that share no search.
//!
//! A protocol that cannot be said whole is an [`ExportError`]; what is said less than whole is named in the
//! head of the exported model and in [`Exported::notes`].

mod arrivals;
mod columns;
mod group;
mod node;
mod promela;
mod says;
mod systems;
mod tla;
mod unfolded;

use barcheck_engine::Levels;
use barcheck_model::Patience;
use barcheck_model::machine::Options;
use barcheck_model::program::Program;
pub use group::ExportError;
use group::Group;
use std::sync::Arc;

/// A language to export to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Promela, for SPIN.
    Promela,
    /// TLA+, for TLC.
    Tla,
}

/// A protocol in another language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The model.
    pub text: String,
    /// What the other model checker needs in a file beside it, with the ending of that file's name.
    pub beside: Option<(&'static str, String)>,
    /// What it asserts less than whole, one sentence each.
    pub notes: Vec<String>,
}

/// A protocol as a model of its own; `file` is what it is called, `module` what a
/// language calls it that has names for models. Rules are asserted where `levels` makes them errors.
///
/// # Errors
/// The automaton of an agent is not finite, is too large, or depends on what cannot be listed; or the
/// language has no room for the protocol; or patience has run out.
pub fn export(
    program: Arc<Program>,
    options: Options,
    levels: &Levels,
    (file, module): (&str, &str),
    language: Language,
    patience: &Patience,
) -> Result<Exported, ExportError> {
    let group = Group::unfold(program, options, levels, patience)?;
    Ok(match language {
        Language::Promela => {
            Exported { text: promela::write(&group, file)?, beside: None, notes: promela::notes(&group) }
        }
        Language::Tla => {
            let (text, configuration) = tla::write(&group, file, module);
            Exported { text, beside: Some(("cfg", configuration)), notes: Vec::new() }
        }
    })
}
