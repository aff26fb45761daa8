//! What can be wrong with a module.

use crate::common::diagnostic::Diagnostic;
use crate::common::limits;
use crate::common::span::{Span, offset};

/// What is no SPIR-V module.
#[derive(Clone, Debug)]
pub(super) enum SpirvError {
    /// It holds what is no text.
    NotText(usize),
    /// Longer than any module that is read.
    TooLong(usize),
    /// It begins as no module does.
    NotSpirv(Span),
    /// Words are missing from a byte on.
    CutShort(usize, Span),
    /// Something else should stand here.
    Expected(&'static str, Span),
    /// A string without an end.
    Unclosed(Span),
    /// A function without an end.
    OpenFunction(Span),
    /// An id that nothing defines.
    Undefined(String, Span),
}

impl SpirvError {
    pub(super) fn diagnostic(&self) -> Diagnostic {
        let error = |code, message: String, span: Span| Diagnostic::error(code, message, span);
        match self {
            Self::NotText(at) => {
                let span = Span::new(offset(*at), offset(*at + 1));
                error("invalid-utf8", "this is neither text nor words of SPIR-V".to_owned(), span)
                    .note("a binary module begins with the word 0x07230203")
            }
            Self::TooLong(bytes) => {
                let most = limits::SOURCE_BYTES >> 20;
                let message = format!("{bytes} bytes are more than the {most} MiB that are read");
                error("too-long", message, Span::default())
            }
            Self::NotSpirv(span) => {
                error("not-spirv", "this is no SPIR-V: no instruction stands here".to_owned(), *span)
                    .note("text begins with an instruction as `OpCapability`, a binary with 0x07230203")
            }
            Self::CutShort(at, span) => {
                let message = format!("the instruction at byte {at} is longer than what is left");
                error("unclosed", message, *span).note("the file may have been cut short")
            }
            Self::Expected(what, span) => error("syntax", format!("expected {what}"), *span),
            Self::Unclosed(span) => error("unclosed", "the string does not end".to_owned(), *span)
                .note("the file may have been cut short"),
            Self::OpenFunction(span) => error("unclosed", "this function does not end".to_owned(), *span)
                .note("the file may have been cut short"),
            Self::Undefined(name, span) => {
                error("unknown-id", format!("nothing defines the id `%{name}`"), *span)
            }
        }
    }
}
