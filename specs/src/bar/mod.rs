//! The protocol language `.bar`: reading, lowering to a [`Program`](barcheck_model::program::Program),
//! formatting.
//!
//! ```
//! use barcheck_specs::bar;
//!
//! let source = "target ptx; cta 64; param N = 4; warps 0..2 { for i in 0..N { bar.sync 0; } }";
//! let mut options = bar::LoadOptions::default();
//! options.defines.insert("N".to_owned(), 9);
//! let loaded = bar::load(source.as_bytes(), &options).expect("the protocol is well formed");
//! assert_eq!(loaded.program.agents.len(), 2);
//! assert!(loaded.params.contains("N"));
//! ```

pub mod ast;
mod foreign_syntax;
mod format;
mod lexer;
mod lower;
mod meaning_error;
mod mnemonics;
mod notation;
mod opcode;
mod parser;
mod syntax_error;
pub(crate) mod system;
pub mod token;
mod words;

pub use crate::common::contents::LoadOptions;
pub use opcode::Opcode;
use syntax_error::SyntaxError;

use barcheck_model::Patience;

use crate::common::contents::{Contents, Params};
use crate::common::diagnostic::{Diagnostic, Sink};
use crate::common::limits;
use crate::common::span::{Span, offset};

/// The endings of its files, without the dot.
pub const EXTENSIONS: [&str; 1] = ["bar"];

/// Whether bytes that nobody has named so may be `.bar`: it takes any text, and says what is wrong with it.
pub(crate) fn takes(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// What people read: the text itself, with a sign for what is no character.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Parses a file. The tree holds what could be read; it is complete if no diagnostic is an error.
#[must_use]
pub fn parse(source: &str) -> (ast::File, Vec<Diagnostic>) {
    let mut errors = Sink::default();
    if source.len() > limits::SOURCE_BYTES {
        let error = SyntaxError::TooLong { bytes: source.len() };
        errors.push(error.span(), || error.diagnostic());
        return (ast::File::default(), errors.finish());
    }
    let lexed = lexer::lex(source, &mut errors);
    let output = parser::parse(source, &lexed, &mut errors);
    (output.file, errors.finish())
}

/// Reads a protocol: parses it, resolves its names, and lowers it to a program.
///
/// # Errors
/// The diagnostics, at least one an error, if the text is not UTF-8, not of the language, or says something
/// that cannot be: agents outside the group, undeclared names, operands that an instruction does not take.
pub fn load(source: &[u8], options: &LoadOptions) -> Result<Contents, Vec<Diagnostic>> {
    load_within(source, options, &Patience::default())
}

/// The same as long as patience lasts: it is asked between passes, and after each block. A pass through the
/// longest text that is read takes a fraction of a second.
pub(crate) fn load_within(
    source: &[u8],
    options: &LoadOptions,
    patience: &Patience,
) -> Result<Contents, Vec<Diagnostic>> {
    let source = text(source)?;
    let (file, diagnostics) = parse(source);
    match file.target {
        Some(target) if diagnostics.is_empty() => {
            lower::lower(source, &file, target, (&options.defines, patience))
        }
        _ => Err(diagnostics),
    }
}

/// The names declared with `param`, if the text can be parsed.
pub(crate) fn params(source: &[u8]) -> Option<Params> {
    let source = text(source).ok()?;
    let (file, diagnostics) = parse(source);
    let name = |item: &ast::Item| match item {
        ast::Item::Constant { param: true, name, .. } => Some(name.span.text(source).to_owned()),
        _ => None,
    };
    diagnostics.is_empty().then(|| file.items.iter().filter_map(name).collect())
}

/// Prints a file in its canonical form: one statement to a line, indented by four spaces, keywords and
/// mnemonics as the documentation spells them. Comments are kept; a block that stands on one line with a
/// single statement stays there. The result reads as the same program, and formatting it again changes
/// nothing.
///
/// ```
/// let formatted = barcheck_specs::bar::format(b"TARGET ptx;cta 64 ;warps 0..2{Bar.Sync 1,64;}").unwrap();
/// assert_eq!(formatted, "target ptx;\ncta 64;\nwarps 0..2 { bar.sync 1, 64; }\n");
/// ```
///
/// # Errors
/// The diagnostics, if the text is not UTF-8 or not of the language. Names are not looked at.
pub fn format(source: &[u8]) -> Result<String, Vec<Diagnostic>> {
    let source = text(source)?;
    let mut errors = Sink::default();
    let lexed = lexer::lex(source, &mut errors);
    let output = parser::parse(source, &lexed, &mut errors);
    let target = output.file.target;
    let diagnostics = errors.finish();
    match target {
        Some(target) if diagnostics.is_empty() => Ok(format::print(source, &lexed, &output.classes, target)),
        _ => Err(diagnostics),
    }
}

/// The text of a file, which must be UTF-8 and of a sensible size.
fn text(source: &[u8]) -> Result<&str, Vec<Diagnostic>> {
    if source.len() > limits::SOURCE_BYTES {
        return Err(vec![SyntaxError::TooLong { bytes: source.len() }.diagnostic()]);
    }
    std::str::from_utf8(source).map_err(|error| {
        let start = offset(error.valid_up_to());
        vec![SyntaxError::InvalidUtf8 { span: Span::new(start, start + 1) }.diagnostic()]
    })
}
