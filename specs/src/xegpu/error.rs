//! What can be wrong with a module.

use crate::common::diagnostic::Diagnostic;
use crate::common::limits;
use crate::common::span::{Span, offset};

/// What is no MLIR that is read.
#[derive(Clone, Debug)]
pub(super) enum MlirError {
    /// It holds what is no text.
    NotText(usize),
    /// Longer than any module that is read.
    TooLong(usize),
    /// It is no MLIR.
    NotMlir(Span),
    /// Something else should stand here.
    Expected(&'static str, Span),
    /// The text ends before what was opened is closed.
    Unclosed(Span),
    /// Regions inside one another, too many of them.
    TooDeep(Span),
    /// A value that nothing defines.
    Undefined(String, Span),
}

impl MlirError {
    pub(super) fn diagnostic(&self) -> Diagnostic {
        let error = |code, message: String, span: Span| Diagnostic::error(code, message, span);
        match self {
            Self::NotText(at) => {
                let span = Span::new(offset(*at), offset(*at + 1));
                error("invalid-utf8", "this is no text".to_owned(), span)
                    .help("`mlir-opt` writes bytecode as text")
            }
            Self::TooLong(bytes) => {
                let most = limits::SOURCE_BYTES >> 20;
                let message = format!("{bytes} bytes are more than the {most} MiB that are read");
                error("too-long", message, Span::default())
            }
            Self::NotMlir(span) => {
                error("not-mlir", "this is no MLIR: no operation stands here".to_owned(), *span)
                    .note("an operation has the name of its dialect: `gpu.module`, `func.func`")
            }
            Self::Expected(what, span) => error("syntax", format!("expected {what}"), *span),
            Self::Unclosed(span) => {
                error("unclosed", "the text ends before this is closed".to_owned(), *span)
                    .note("the file may have been cut short")
            }
            Self::TooDeep(span) => {
                let message = format!("more than {} regions inside one another", limits::NESTING);
                error("too-deep", message, *span)
            }
            Self::Undefined(name, span) => {
                error("unknown-id", format!("nothing defines `{name}` here"), *span)
            }
        }
    }
}
