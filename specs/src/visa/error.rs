//! What can be wrong with the text of a module.

use crate::common::diagnostic::Diagnostic;
use crate::common::limits;
use crate::common::span::{Span, offset};
use crate::module::Unreadable;

/// Text that is no vISA.
#[derive(Clone, Debug)]
pub(super) enum VisaError {
    Unreadable(Unreadable),
    /// There is no kernel in it.
    NoKernel,
    /// A directive that says less than it has to.
    Directive(Span),
    /// What begins here does not end.
    Unclosed(Span),
}

impl VisaError {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Unreadable(Unreadable::NotText(at)) => Span::new(offset(*at), offset(*at + 1)),
            Self::Unreadable(_) | Self::NoKernel => Span::default(),
            Self::Directive(span) | Self::Unclosed(span) => *span,
        }
    }

    pub(super) fn diagnostic(&self) -> Diagnostic {
        let error = |code, message: String| Diagnostic::error(code, message, self.span());
        match self {
            Self::Unreadable(Unreadable::NotText(_)) => error("invalid-utf8", "this is no text".to_owned())
                .help("what is read is vISA as text: `.visaasm`"),
            Self::Unreadable(Unreadable::Wide) => {
                error("invalid-utf8", "this is UTF-16, and vISA is ASCII".to_owned())
                    .help("convert it: `iconv -f UTF-16 -t UTF-8`")
            }
            Self::Unreadable(Unreadable::TooLong(bytes)) => {
                let most = limits::SOURCE_BYTES >> 20;
                error("too-long", format!("{bytes} bytes are more than the {most} MiB that are read"))
            }
            Self::NoKernel => error("not-visa", "this is no vISA: a kernel begins with `.kernel`".to_owned())
                .help("a protocol written by hand is a `.bar` file"),
            Self::Directive(_) => error("syntax", "expected a name and what it is".to_owned())
                .note("the file may have been cut short"),
            Self::Unclosed(_) => error("unclosed", "the text ends before this is closed".to_owned())
                .note("the file may have been cut short"),
        }
    }
}
