//! What can be wrong with the text of a module, and with what is asked of it.

use crate::common::diagnostic::Diagnostic;
use crate::common::limits;
use crate::common::span::{Span, offset};

/// Text that is no PTX module.
#[derive(Clone, Debug)]
pub(super) enum PtxError {
    /// It holds what is no text.
    NotText(usize),
    /// It is written in two bytes for each character.
    Wide,
    /// Longer than any module that is read.
    TooLong(usize),
    /// The text does not begin as a module does.
    NoVersion(Span),
    /// Something else should stand here.
    Expected(&'static str, Span),
    /// The text ends before what was opened is closed.
    Unclosed(&'static str, Span),
    /// Braces in braces, too many of them.
    TooDeep(Span),
    /// No label of this name can be seen from here.
    NoLabel(String, Span),
    /// The label stands in two places: where it is used.
    LabelTwice(String, Span),
}

impl PtxError {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::NotText(at) => Span::new(offset(*at), offset(*at + 1)),
            Self::Wide | Self::TooLong(_) => Span::default(),
            Self::NoVersion(span)
            | Self::Expected(_, span)
            | Self::Unclosed(_, span)
            | Self::TooDeep(span)
            | Self::NoLabel(_, span)
            | Self::LabelTwice(_, span) => *span,
        }
    }

    pub(super) fn diagnostic(&self) -> Diagnostic {
        let span = self.span();
        let error = |code, message: String| Diagnostic::error(code, message, span);
        match self {
            Self::NotText(_) => error("invalid-utf8", "this is no text".to_owned())
                .help("PTX is text; `cuobjdump -ptx` takes it out of an object or a library"),
            Self::Wide => error("invalid-utf8", "this is UTF-16, and PTX is ASCII".to_owned())
                .help("convert it: `iconv -f UTF-16 -t UTF-8`"),
            Self::TooLong(bytes) => {
                let most = limits::SOURCE_BYTES >> 20;
                error("too-long", format!("{bytes} bytes are more than the {most} MiB that are read"))
                    .help("take the entry that matters out of the module: `cuobjdump -ptx -fun NAME`")
            }
            Self::NoVersion(_) => {
                error("not-ptx", "this is no PTX: a module begins with `.version`".to_owned())
                    .help("a protocol written by hand is a `.bar` file")
            }
            Self::Expected(what, _) => error("syntax", format!("expected {what}")),
            Self::Unclosed(what, _) => error("unclosed", format!("the text ends before {what} is closed"))
                .note("the file may have been cut short"),
            Self::TooDeep(_) => {
                error("too-deep", format!("more than {} braces inside one another", limits::NESTING))
            }
            Self::NoLabel(name, _) => error("unknown-label", format!("there is no label `{name}` here"))
                .note("a label is known in the braces around it"),
            Self::LabelTwice(name, _) => {
                error("unknown-label", format!("the label `{name}` stands in two places"))
                    .note("in one pair of braces a label stands once")
            }
        }
    }
}
