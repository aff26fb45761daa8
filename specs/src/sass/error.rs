//! What can be wrong with the text of a listing.

use crate::common::diagnostic::Diagnostic;
use crate::common::limits;
use crate::common::span::{Span, offset};
use crate::module::Unreadable;

/// Text that is no listing.
#[derive(Clone, Debug)]
pub(super) enum SassError {
    Unreadable(Unreadable),
    /// There is no instruction in it.
    NoInstruction,
    /// An instruction should stand here.
    Expected(Span),
    /// What begins here does not end.
    Unclosed(Span),
}

impl SassError {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Unreadable(Unreadable::NotText(at)) => Span::new(offset(*at), offset(*at + 1)),
            Self::Unreadable(_) | Self::NoInstruction => Span::default(),
            Self::Expected(span) | Self::Unclosed(span) => *span,
        }
    }

    pub(super) fn diagnostic(&self) -> Diagnostic {
        let error = |code, message: String| Diagnostic::error(code, message, self.span());
        match self {
            Self::Unreadable(Unreadable::NotText(_)) => error("invalid-utf8", "this is no text".to_owned())
                .help("`cuobjdump -sass` and `nvdisasm` make a listing of an object or a library"),
            Self::Unreadable(Unreadable::Wide) => {
                error("invalid-utf8", "this is UTF-16, and listings are ASCII".to_owned())
                    .help("convert it: `iconv -f UTF-16 -t UTF-8`")
            }
            Self::Unreadable(Unreadable::TooLong(bytes)) => {
                let most = limits::SOURCE_BYTES >> 20;
                error("too-long", format!("{bytes} bytes are more than the {most} MiB that are read"))
                    .help("take the kernel that matters alone: `cuobjdump -sass -fun NAME`")
            }
            Self::NoInstruction => error("not-sass", "there is no instruction in this listing".to_owned())
                .note("an instruction ends with a semicolon: `BAR.SYNC 0x0 ;`")
                .help("`cuobjdump -sass` and `nvdisasm` make a listing of an object or a library"),
            Self::Expected(_) => error("syntax", "expected an instruction that ends with `;`".to_owned())
                .note("the file may have been cut short"),
            Self::Unclosed(_) => error("unclosed", "the text ends before this is closed".to_owned())
                .note("the file may have been cut short"),
        }
    }
}
