//! The tokens of `.bar`.

use crate::common::span::Span;

/// A token: its kind and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// A comment: its bytes, without the line ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Where it stands.
    pub span: Span,
    /// Written `//`; otherwise `/* */`.
    pub line: bool,
}

macro_rules! tokens {
    ($($(#[$doc:meta])* $name:ident $text:literal)*) => {
        /// The kinds of tokens. `%` is always a token by itself; the parser joins it with the name of a
        /// handle.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum TokenKind {
            $($(#[$doc])* $name,)*
        }

        impl TokenKind {
            /// The token as written, or what to call it.
            #[must_use]
            pub fn describe(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

tokens! {
    /// A letter or `_`, followed by letters, digits and `_`.
    Word "a name"
    /// A number, decimal or with `0x`; its value is read by the parser.
    Number "a number"
    /// Text in double quotes, on one line.
    String "a string"
    /// `;`
    Semicolon "`;`"
    /// `,`
    Comma "`,`"
    /// `.`
    Dot "`.`"
    /// `..`
    DotDot "`..`"
    /// `..=`, which no grammar rule has
    DotDotEqual "`..=`"
    /// `:`, which no grammar rule has
    Colon "`:`"
    /// `{`
    OpenBrace "`{`"
    /// `}`
    CloseBrace "`}`"
    /// `(`
    OpenParenthesis "`(`"
    /// `)`
    CloseParenthesis "`)`"
    /// `[`
    OpenBracket "`[`"
    /// `]`
    CloseBracket "`]`"
    /// `?`
    Question "`?`"
    /// `@`
    At "`@`"
    /// `=`
    Equal "`=`"
    /// `==`
    EqualEqual "`==`"
    /// `!=`
    NotEqual "`!=`"
    /// `!`
    Not "`!`"
    /// `<`
    Less "`<`"
    /// `<=`
    LessEqual "`<=`"
    /// `>`
    Greater "`>`"
    /// `>=`
    GreaterEqual "`>=`"
    /// `<<`
    ShiftLeft "`<<`"
    /// `>>`
    ShiftRight "`>>`"
    /// `&`
    And "`&`"
    /// `&&`
    AndAnd "`&&`"
    /// `|`
    Or "`|`"
    /// `||`
    OrOr "`||`"
    /// `^`
    Xor "`^`"
    /// `+`
    Plus "`+`"
    /// `-`
    Minus "`-`"
    /// `*`
    Star "`*`"
    /// `/`
    Slash "`/`"
    /// `%`
    Percent "`%`"
    /// The end of the text.
    End "the end of the file"
}
