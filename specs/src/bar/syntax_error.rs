//! Errors of the lexer and the parser.

use barcheck_model::program::Target;

use super::foreign_syntax::hint::Hint::{self, NotModelled, Write};
use super::foreign_syntax::{self, Kernel};
use super::words;
use crate::common::diagnostic::{Diagnostic, WORDING};
use crate::common::limits;
use crate::common::span::Span;

/// Why a text is no `.bar` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SyntaxError {
    /// A byte sequence that is not UTF-8.
    InvalidUtf8 { span: Span },
    /// A file above [`limits::SOURCE_BYTES`].
    TooLong { bytes: usize },
    /// A character that begins no token.
    UnknownCharacter { character: char, span: Span },
    /// `/*` without `*/`.
    UnclosedComment { span: Span },
    /// A quote without its partner on the same line.
    UnclosedString { span: Span },
    /// Digits followed by something else.
    MalformedNumber { span: Span },
    /// A number that 64 bits do not hold.
    NumberTooLarge { span: Span },
    /// The file does not begin with `target`.
    NoTarget { kernel: Option<Kernel>, span: Span },
    /// `target` with a word that is none.
    UnknownTarget { word: String, suggestion: Option<&'static str>, span: Span },
    /// Something else should stand here.
    Expected { expected: String, found: String, span: Span, help: Option<String> },
    /// A statement or declaration without its semicolon at the end of a line.
    MissingSemicolon { span: Span },
    /// `{` without `}`.
    UnclosedBlock { open: Span, end: Span, suspect: Option<(Span, Span)> },
    /// `}` without `{`.
    UnmatchedBrace { span: Span },
    /// Nesting beyond [`limits::NESTING`].
    TooDeep { span: Span },
    /// A word with dots that no target knows, or another target.
    UnknownInstruction {
        text: String,
        target: Target,
        owners: Vec<Target>,
        hint: Option<Hint>,
        suggestion: Option<&'static str>,
        span: Span,
    },
    /// A word that begins no statement.
    UnknownStatement {
        word: String,
        hint: Option<Hint>,
        suggestion: Option<&'static str>,
        declares: Option<String>,
        span: Span,
    },
    /// A word that begins no declaration and no block.
    UnknownItem { word: String, suggestion: Option<&'static str>, agents: &'static str, span: Span },
    /// The size or the agents of another target.
    OtherTargetsWord { word: String, target: Target, right: &'static str, span: Span },
    /// A statement where only declarations and blocks stand.
    StatementOutsideBlock { target: Target, span: Span },
    /// A declaration inside a block.
    DeclarationInsideBlock { word: String, span: Span },
    /// A block of agents inside another.
    RoleInsideBlock { span: Span, open: Span, nested: bool, target: Target },
    /// A keyword used as a name.
    ReservedWord { word: String, span: Span },
    /// `a < b < c`.
    ComparisonChain { first: Span, second: Span },
    /// `i += 1`.
    CompoundAssignment { name: String, operator: &'static str, span: Span },
    /// `i++`, `--i`.
    Increment { name: String, operator: &'static str, span: Span },
    /// A statement where a block should be.
    NoBraces { example: String, span: Span },
    /// `else` that follows no block of an `if`.
    StrayElse { span: Span },
    /// `for i in 0..8 step 2`.
    Step { span: Span },
    /// `for (i = 0; …)`.
    ForOfC { span: Span },
    /// `bar.sync(1, 64);`
    CallOfInstruction { example: String, span: Span },
    /// `min(a, b)`.
    Call { name: String, target: Target, span: Span },
    /// `threadIdx.x`, `%tid`, `%r1`.
    NoName { text: String, target: Target, span: Span },
    /// `@p` in a target without predicates.
    GuardElsewhere { target: Target, span: Span },
    /// `%h = …` with an instruction that yields nothing.
    NoResult { mnemonic: String, from: &'static str, span: Span, instruction: Span },
    /// A second `target`.
    SecondTarget { span: Span },
}

impl SyntaxError {
    /// Where it is.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::TooLong { .. } => Span::new(0, 0),
            Self::UnclosedBlock { open, .. } => *open,
            Self::ComparisonChain { second, .. } => *second,
            Self::NoResult { instruction, .. } => *instruction,
            Self::InvalidUtf8 { span }
            | Self::UnknownCharacter { span, .. }
            | Self::UnclosedComment { span }
            | Self::UnclosedString { span }
            | Self::MalformedNumber { span }
            | Self::NumberTooLarge { span }
            | Self::NoTarget { span, .. }
            | Self::UnknownTarget { span, .. }
            | Self::Expected { span, .. }
            | Self::MissingSemicolon { span }
            | Self::UnmatchedBrace { span }
            | Self::TooDeep { span }
            | Self::UnknownInstruction { span, .. }
            | Self::UnknownStatement { span, .. }
            | Self::UnknownItem { span, .. }
            | Self::OtherTargetsWord { span, .. }
            | Self::StatementOutsideBlock { span, .. }
            | Self::DeclarationInsideBlock { span, .. }
            | Self::RoleInsideBlock { span, .. }
            | Self::ReservedWord { span, .. }
            | Self::CompoundAssignment { span, .. }
            | Self::Increment { span, .. }
            | Self::NoBraces { span, .. }
            | Self::StrayElse { span }
            | Self::Step { span }
            | Self::ForOfC { span }
            | Self::CallOfInstruction { span, .. }
            | Self::Call { span, .. }
            | Self::NoName { span, .. }
            | Self::GuardElsewhere { span, .. }
            | Self::SecondTarget { span } => *span,
        }
    }

    /// The error in words.
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        if !WORDING {
            return self.error("malformed", "the text is malformed");
        }
        self.of_text()
            .or_else(|| self.of_words())
            .or_else(|| self.of_foreign_syntax())
            .or_else(|| self.of_form())
            .unwrap_or_else(|| self.of_structure())
    }

    fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message, self.span())
    }

    /// Errors below the grammar.
    fn of_text(&self) -> Option<Diagnostic> {
        Some(match self {
            Self::InvalidUtf8 { .. } => {
                self.error("invalid-utf8", "the file is not UTF-8").label("this byte begins no character")
            }
            Self::TooLong { bytes } => self
                .error("too-long", format!("the file has {bytes} bytes"))
                .note(format!("a protocol has at most {} bytes", limits::SOURCE_BYTES)),
            Self::UnknownCharacter { character, .. } => {
                let help = match character {
                    '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}' => Some("use straight quotes: `\"`"),
                    '#' => Some("a constant is `const N = 4;`, a comment begins with `//`"),
                    letter if letter.is_alphabetic() => Some("names have the letters a to z, digits and `_`"),
                    _ => None,
                };
                let shown = character.escape_debug();
                self.error("unknown-character", format!("unexpected character `{shown}`"))
                    .help_if(help.map(str::to_owned))
            }
            Self::UnclosedComment { .. } => {
                self.error("unclosed-comment", "this comment is never closed").help("end it with `*/`")
            }
            Self::UnclosedString { .. } => self
                .error("unclosed-string", "this string is not closed on its line")
                .help("end it with `\"`"),
            Self::MalformedNumber { .. } => self
                .error("malformed-number", "malformed number")
                .note("numbers are decimal, or hexadecimal after `0x`"),
            Self::NumberTooLarge { .. } => self
                .error("number-too-large", "this number does not fit")
                .note(format!("numbers are signed and have 64 bits: at most {}", i64::MAX)),
            _ => return None,
        })
    }

    /// Errors about a word.
    fn of_words(&self) -> Option<Diagnostic> {
        let meant = |suggestion: &Option<&str>| suggestion.map(|s| format!("did you mean `{s}`?"));
        Some(match self {
            Self::UnknownTarget { word, suggestion, .. } => self
                .error("unknown-target", format!("`{word}` is no target"))
                .note(format!("the targets are {}", targets(" and ")))
                .help_if(meant(suggestion)),
            Self::UnknownInstruction { text, target, owners, hint, suggestion, .. } => {
                return Some(match hint {
                    Some(Write(help)) if !owners.is_empty() => {
                        self.unknown_instruction(text, *target, owners, *suggestion).help(*help)
                    }
                    Some(hint) if owners.is_empty() => self.foreign(text, *target, *hint),
                    _ => self.unknown_instruction(text, *target, owners, *suggestion),
                });
            }
            Self::UnknownStatement { word, hint: Some(NotModelled(why)), .. } => self.not_modelled(word, why),
            Self::UnknownStatement { word, hint, suggestion, declares, .. } => {
                let error = self.error("unknown-statement", format!("`{word}` begins no statement"));
                match (declares, hint) {
                    (Some(name), _) => error.help(format!("declare it with `let {name} = …;`")),
                    (_, Some(Write(help))) => error.help(*help),
                    _ => error.help_if(meant(suggestion)),
                }
            }
            Self::UnknownItem { word, suggestion, agents, .. } => self
                .error("unknown-declaration", format!("`{word}` begins no declaration or block"))
                .help_if(functions(word, agents).or_else(|| meant(suggestion))),
            Self::OtherTargetsWord { word, target, right, .. } => self
                .error("wrong-word-for-target", format!("`{word}` does not belong to target `{target}`"))
                .help(format!("in `{target}` it is `{right}`")),
            Self::ReservedWord { word, .. } => self
                .error("reserved-word", format!("`{word}` is a keyword and cannot be a name"))
                .note("keywords are matched without regard to case"),
            _ => return None,
        })
    }

    /// An instruction of another language.
    fn foreign(&self, text: &str, target: Target, hint: Hint) -> Diagnostic {
        match hint {
            NotModelled(why) => self.not_modelled(text, why),
            Write(help) => self
                .error("unknown-instruction", format!("`{text}` is no instruction of target `{target}`"))
                .help(help),
        }
    }

    fn not_modelled(&self, text: &str, why: &str) -> Diagnostic {
        self.error("not-modelled", format!("`{text}` is not modelled")).note(why)
    }

    fn unknown_instruction(
        &self,
        text: &str,
        target: Target,
        owners: &[Target],
        suggestion: Option<&str>,
    ) -> Diagnostic {
        let message = format!("`{text}` is no instruction of target `{target}`");
        let error = self.error("unknown-instruction", message);
        if !owners.is_empty() {
            let names: Vec<String> = owners.iter().map(|owner| format!("`{owner}`")).collect();
            let plural = if names.len() == 1 { "" } else { "s" };
            return error.note(format!("it belongs to target{plural} {}", names.join(" and ")));
        }
        match suggestion {
            Some(suggestion) => error.help(format!("did you mean `{suggestion}`?")),
            None => error.note(format!("the instructions are {}", words::instructions(target))),
        }
    }

    /// Errors of the grammar.
    fn of_structure(&self) -> Diagnostic {
        match self {
            Self::NoTarget { kernel: Some(Kernel { language, how, .. }), .. } => self
                .error("no-target", format!("this looks like {language}, not like a protocol"))
                .label("a protocol begins with its target")
                .help(*how),
            Self::NoTarget { .. } => self
                .error("no-target", "a protocol begins with its target")
                .label("expected `target`")
                .help(format!(
                    "write `target {};`, or {} instead",
                    Target::ALL[0],
                    targets(", ").split_once(", ").map_or("", |(_, others)| others)
                )),
            Self::SecondTarget { .. } => {
                self.error("second-target", "a protocol has one target, declared first")
            }
            Self::Expected { expected, found, help, .. } => {
                self.error("syntax", format!("expected {expected}, found {found}")).help_if(help.clone())
            }
            Self::MissingSemicolon { .. } => {
                self.error("missing-semicolon", "expected `;`").label("add `;` here")
            }
            Self::UnclosedBlock { end, suspect, .. } => {
                let error = self.error("unclosed-block", "this block is never closed");
                let error = match suspect {
                    Some((open, close)) => error
                        .also(*open, "or is it this one?")
                        .also(*close, "here it ends, which is less indented"),
                    None => error,
                };
                error.also(*end, "the file ends here")
            }
            Self::UnmatchedBrace { .. } => self.error("unmatched-brace", "this `}` closes nothing"),
            Self::TooDeep { .. } => self
                .error("too-deep", "this is nested too deeply")
                .note(format!("blocks and expressions may be nested {} deep", limits::NESTING)),
            Self::StatementOutsideBlock { target, .. } => self
                .error("statement-outside-block", "a statement outside of any block")
                .help(format!("say who runs it: `{}s 0..4 {{ … }}`", target.agent_noun())),
            Self::DeclarationInsideBlock { word, .. } => self
                .error("declaration-inside-block", format!("`{word}` stands inside a block"))
                .help("declare it before the blocks"),
            Self::RoleInsideBlock { open, nested, target, .. } => {
                let noun = target.agent_noun();
                let some = || {
                    format!(
                        "to have only some of its {noun}s do this, \
                         write `if {noun} == 0 {{ … }}`"
                    )
                };
                self.error("block-inside-block", "a block of agents inside another")
                    .label("is a `}` missing before this?")
                    .also(*open, "this block is still open")
                    .help_if(nested.then(some))
            }
            other => other.error("syntax", "malformed text"),
        }
    }

    /// Errors about what other languages have.
    fn of_foreign_syntax(&self) -> Option<Diagnostic> {
        Some(match self {
            Self::ComparisonChain { first, .. } => self
                .error("comparison-chain", "comparisons cannot be chained")
                .also(*first, "the first comparison")
                .help("write `a < b && b < c`, or parentheses"),
            Self::CompoundAssignment { name, operator, .. } => self
                .error("compound-assignment", format!("there is no `{operator}=`"))
                .help(format!("write `{name} = {name} {operator} …;`")),
            Self::GuardElsewhere { target, .. } => self
                .error("guard", format!("target `{target}` has no guarded instructions"))
                .help("write `if … { … }`"),
            Self::NoResult { mnemonic, from, span, .. } => self
                .error("no-result", format!("`{mnemonic}` yields no handle"))
                .also(*span, "nothing to assign")
                .help(format!("handles come from `{from}`")),
            Self::Call { name, target, .. } => {
                self.error("call", "there are no functions").help_if(foreign_syntax::value(name, *target))
            }
            Self::NoName { text, target, .. } => {
                let own = || foreign_syntax::instruction(text, *target);
                let help = foreign_syntax::value(text, *target).or_else(own).unwrap_or_else(|| {
                    "a name has letters, digits and `_`; registers are locals: `let r1 = …;`".to_owned()
                });
                self.error("no-name", format!("`{text}` is no name")).help(help)
            }
            _ => return None,
        })
    }

    /// Errors about the form of statements in other languages.
    fn of_form(&self) -> Option<Diagnostic> {
        Some(match self {
            Self::Increment { name, operator, .. } => self
                .error("increment", format!("there is no `{operator}{operator}`"))
                .help(format!("write `{name} = {name} {operator} 1;`")),
            Self::NoBraces { example, .. } => self
                .error("no-braces", "expected `{`: a block needs braces, also around a single statement")
                .help(format!("write `{example}`")),
            Self::StrayElse { .. } => self
                .error("stray-else", "this `else` belongs to no `if`")
                .help("it stands directly behind the `}` of an `if`"),
            Self::Step { .. } => {
                self.error("step", "loops step by 1").help("write `for k in 0..4 { let i = 2 * k; … }`")
            }
            Self::ForOfC { .. } => self
                .error("for-of-c", "expected the loop's variable, found `(`")
                .help("write `for i in 0..4 { … }`"),
            Self::CallOfInstruction { example, .. } => self
                .error("parentheses", "operands stand without parentheses")
                .help(format!("write `{example}`")),
            _ => return None,
        })
    }
}

/// The names of all targets, with something else than a comma before the last.
fn targets(last: &str) -> String {
    let names = Target::ALL.map(|target| format!("`{target}`"));
    match names.split_last() {
        Some((end, [])) => end.clone(),
        Some((end, others)) => format!("{}{last}{end}", others.join(", ")),
        None => String::new(),
    }
}

/// What to write instead of a function, where a word of another language would begin one.
fn functions(word: &str, agents: &str) -> Option<String> {
    if ["role", "warpgroup", "warp_group"].iter().any(|known| word.eq_ignore_ascii_case(known)) {
        return Some(format!("say who runs it, and its name behind `as`: `{agents} 0..4 as load {{ … }}`"));
    }
    let begins = ["fn", "def", "function", "void", "static", "__global__", "__device__", "kernel"];
    let says = "there are no functions: each block has its own code, and what agents of one block do apart stands \
                under an `if` by their index";
    begins.iter().any(|known| word.eq_ignore_ascii_case(known)).then(|| says.to_owned())
}
