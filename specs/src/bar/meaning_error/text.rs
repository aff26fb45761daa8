//! The errors of lowering in words.

use barcheck_model::program::NoResult;

use super::{MeaningError, NameKind, NotAllowed};
use crate::bar::foreign_syntax;
use crate::bar::notation::Notation;
use crate::bar::system;
use crate::common::diagnostic::{Diagnostic, WORDING};
use crate::common::limits;

impl MeaningError {
    /// The error in words.
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        if !WORDING {
            return self.error("malformed", "the text is malformed");
        }
        self.of_group()
            .or_else(|| self.of_agents())
            .or_else(|| self.of_names())
            .or_else(|| self.of_uses())
            .unwrap_or_else(|| self.of_statements())
    }

    fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message, self.span())
    }

    /// Errors about the group and its memory.
    fn of_group(&self) -> Option<Diagnostic> {
        Some(match self {
            Self::NoSize { target, .. } => {
                let Notation { size: word, unit, .. } = system::notation(*target);
                self.error("no-size", "the size of the group is missing")
                    .help(format!("declare its {unit}: `{word} 64;`"))
            }
            Self::NoSubgroupSize { .. } => self
                .error("no-subgroup-size", "the size of a subgroup is missing")
                .help("declare how many invocations are in one: `subgroup_size 16;`"),
            Self::DuplicateSize { word, first, .. } => {
                self.error("duplicate-size", format!("a second `{word}`")).also(*first, "the first is here")
            }
            Self::SizeRange { word, unit, value, most, .. } => self
                .error("size-range", format!("`{word}` cannot be {value}"))
                .note(format!("it takes 1 to {most} {unit}")),
            Self::ArrayLength { name, value, most, .. } => self
                .error("array-length", format!("`{name}` cannot have {value} elements"))
                .note(format!("an array has 1 to {most} elements")),
            Self::TooManyLocations { total, .. } => self
                .error("too-many-locations", format!("these are {total} locations in all"))
                .note(format!("a protocol has at most {} locations", limits::LOCATIONS)),
            _ => return None,
        })
    }

    /// Errors about agents.
    fn of_agents(&self) -> Option<Diagnostic> {
        Some(match self {
            Self::NoAgents { from, to, .. } if from > to => self
                .error("reversed-range", format!("the range {from}..{to} runs backwards"))
                .help(format!("write `{to}..{from}`")),
            Self::NoAgents { from, to, .. } => self
                .error("empty-range", format!("the range {from}..{to} holds no agent"))
                .note("ranges are half-open: the end is not part of them"),
            Self::AgentsOutside { noun, agent, count, size, .. } => {
                let last = count - 1;
                let has = if *count == 1 {
                    format!("the group has one {noun}, {noun} 0")
                } else {
                    format!("the group has {count} {noun}s, 0 to {last}")
                };
                self.error("agents-outside", format!("{noun} {agent} is outside the group")).also(*size, has)
            }
            Self::AgentsOverlap { agent, first, .. } => self
                .error("agents-overlap", format!("{agent} belongs to two blocks"))
                .label("the second")
                .also(*first, "the first"),
            Self::AgentsMissing { unit, missing, cta, .. } => missing_agents(self, unit, missing, *cta),
            _ => return None,
        })
    }

    /// Errors about names and constants.
    fn of_names(&self) -> Option<Diagnostic> {
        Some(match self {
            Self::DuplicateName { name, first, .. } => self
                .error("duplicate-name", format!("`{name}` is declared twice"))
                .also(*first, "first declared here"),
            Self::UnknownName { name, kind, suggestion, target, .. } => {
                let hint = foreign_syntax::value(name, *target).filter(|_| *kind == NameKind::Value);
                return Some(self.unknown_name(name, *kind, suggestion.as_deref()).help_if(hint));
            }
            Self::UnknownRegister { name, known, .. } => self
                .error("unknown-register", format!("there is no register `{name}`"))
                .note(format!("the registers are {known}")),
            Self::DeclaredLater { name, declared, .. } => self
                .error("declared-later", format!("`{name}` is declared only further down"))
                .also(*declared, "declared here"),
            Self::NotConstant { word, .. } => self
                .error("not-constant", format!("`{}` has no value here", word.text()))
                .note("it differs between agents, and stands inside their blocks only"),
            Self::ConstantFails { reason, .. } => {
                self.error("constant-fails", "this constant has no value").label(no_result(*reason))
            }
            _ => return None,
        })
    }

    /// Errors about what a name may be used for.
    fn of_uses(&self) -> Option<Diagnostic> {
        Some(match self {
            Self::OtherTargetsIndex { word, target, .. } => {
                let noun = target.agent_noun();
                let error = self.error(
                    "wrong-index-for-target",
                    format!("`{}` has no meaning in target `{target}`", word.text()),
                );
                let help = match (word.text(), target.has_lanes()) {
                    ("thread", true) => "the index of a thread is `warp * 32 + lane`".to_owned(),
                    _ => format!("the agent's own index is `{noun}`"),
                };
                error.help(help)
            }
            Self::NotAssignable { name, what, declared, .. } => {
                let error = self.error("not-assignable", format!("{what} `{name}` cannot be assigned"));
                match declared {
                    Some(declared) => error.also(*declared, "declared here"),
                    None => error,
                }
            }
            Self::LocationAsValue { name, declared, .. } => self
                .error("location-as-value", format!("`{name}` is memory, not a number"))
                .also(*declared, "declared here")
                .note("locations have no values; `read`, `write` and `atomic` access them"),
            Self::ObjectAsValue { name, declared, .. } => self
                .error("object-as-value", format!("`{name}` is an mbarrier object, not a number"))
                .also(*declared, "declared here")
                .note(format!("instructions act on it: `mbarrier.arrive {name};`")),
            Self::BlockAsValue { name, declared, .. } => self
                .error("block-as-value", format!("`{name}` is a block, not a number"))
                .also(*declared, "declared here")
                .help(format!("a block is used in a statement of its own: `{name}(…);`")),
            Self::ObjectCount { name, value, .. } => self
                .error("object-count", format!("`{name}` cannot expect {value} arrivals"))
                .note("a phase expects 1 to 1048575 arrivals"),
            Self::TooManyObjects { total, .. } => self
                .error("too-many-objects", format!("these are {total} mbarrier objects in all"))
                .note(format!("a protocol has at most {} of them", limits::OBJECTS)),
            Self::RegisterName { name, .. } => self
                .error("register-name", format!("`{name}` is a register"))
                .help(format!("registers need no declaration: `{name} = …;`")),
            _ => return None,
        })
    }

    fn unknown_name(&self, name: &str, kind: NameKind, suggestion: Option<&str>) -> Diagnostic {
        let what = match kind {
            NameKind::Value | NameKind::Assigned => "name",
            NameKind::Location => "location",
            NameKind::Object => "mbarrier object",
            NameKind::Handle { .. } => "handle",
        };
        let error = self.error("unknown-name", format!("unknown {what} `{name}`"));
        let error = error.help_if(suggestion.map(|s| format!("did you mean `{s}`?")));
        match kind {
            NameKind::Assigned => error.help(format!("declare it with `let {name} = …;`")),
            NameKind::Location if suggestion.is_none() => {
                error.help(format!("declare it before the blocks: `shared {name};`"))
            }
            NameKind::Object if suggestion.is_none() => {
                error.help(format!("declare it before the blocks: `mbarrier {name} count 1;`"))
            }
            NameKind::Handle { from } if suggestion.is_none() => {
                error.help(format!("make it in this block: `{name} = {from} …;`"))
            }
            _ => error,
        }
    }

    /// Errors about statements and operands.
    fn of_statements(&self) -> Diagnostic {
        match self {
            Self::OutsideLoop { word, .. } => {
                self.error("outside-loop", format!("`{word}` stands outside of any loop"))
            }
            Self::Indexing { name, length: Some(length), declared, .. } => self
                .error("indexing", format!("`{name}` is an array and needs an index"))
                .also(*declared, format!("{length} elements"))
                .help(format!("write `{name}[0]`")),
            Self::Indexing { name, length: None, declared, .. } => self
                .error("indexing", format!("`{name}` is a single location and takes no index"))
                .also(*declared, "declared here"),
            Self::OperandCount { mnemonic, takes, found, .. } => {
                let plural = if *found == 1 { "" } else { "s" };
                self.error("operand-count", format!("`{mnemonic}` does not take {found} operand{plural}"))
                    .help(forms(mnemonic, takes))
            }
            Self::Operand { expected, help, .. } => {
                self.error("operand", format!("expected {expected}")).help_if(help.clone())
            }
            Self::UnknownWord { what, word, known, meant, .. } => self
                .error("unknown-word", format!("`{word}` is no {what}"))
                .note(format!("known: {known}"))
                .help_if(meant.map(|m| format!("did you mean `{m}`?"))),
            Self::UnknownRule { name, suggestion, .. } => self
                .error("unknown-rule", format!("there is no rule `{name}`"))
                .help_if(suggestion.as_ref().map(|s| format!("did you mean `{s}`?")))
                .help("`barcheck rules` lists them"),
            Self::NotAllowed { name, why: NotAllowed::OtherTarget(target), .. } => self
                .error("rule-elsewhere", format!("target `{target}` has no rule `{name}`"))
                .help(format!("`barcheck rules --target {target}` lists those that it has")),
            Self::NotAllowed { name, why: NotAllowed::EndsPath, .. } => self
                .error("not-allowed", format!("`{name}` cannot be allowed"))
                .note("a violation of it ends its path: nothing is known of what follows, so nothing is verified")
                .help("fix what it is about, or put it on a baseline: `barcheck verify --baseline FILE`"),
            Self::NoReason { .. } => {
                self.error("no-reason", "a reason is missing").help("say why it may be, for those who read this")
            }
            Self::ScopeOfWait { name, .. } => self
                .error("not-modelled", "a wait with the scope of the CTA is not modelled here")
                .note(format!(
                    "other CTAs arrive on `{name}`, and what they published is not seen in this scope (PTX ISA, \
                     mbarrier.try_wait)"
                ))
                .help("wait in the scope of the cluster: `.acquire.cluster`, or without a scope"),
            Self::Twice { what, first, .. } => {
                self.error("twice", format!("{what} is given twice")).also(*first, "first here")
            }
            other => other.of_shared(),
        }
    }

    /// Errors about what agents or roles share.
    fn of_shared(&self) -> Diagnostic {
        match self {
            Self::Arguments { name, takes, found, declared, .. } => {
                let plural = |n: usize| if n == 1 { "" } else { "s" };
                let message = format!("`{name}` takes {takes} argument{}, not {found}", plural(*takes));
                self.error("arguments", message).also(*declared, "declared here")
            }
            Self::UsesItself { name, declared, .. } => self
                .error("uses-itself", format!("the block `{name}` is used inside itself"))
                .also(*declared, "declared here")
                .help("its statements stand in the place of each use, without end; write a loop"),
            Self::UsesTooDeep { .. } => self
                .error("too-deep", "blocks are used too deep inside one another")
                .note(format!("statements are nested at most {} deep", limits::NESTING)),
            Self::TooMuchExpanded { .. } => self
                .error("too-much-expanded", "the uses of blocks come to too many statements")
                .note(format!("at most {} stand in the place of uses", limits::EXPANDED))
                .help("write a loop around one use"),
            Self::UniformRange { size, most, .. } => {
                let message = if *size <= 0 {
                    "the range is empty".to_owned()
                } else {
                    format!("the range has {size} numbers")
                };
                self.error("uniform-range", message)
                    .note(format!("all agents share a number of a range of 1 to {most} numbers"))
            }
            Self::SequenceDiffers { name, first, .. } => self
                .error("sequence-differs", format!("`uniform {name}` is used in two ways"))
                .also(*first, "otherwise here")
                .help("give each a name of its own; numbers of one name have one range"),
            other => other.error("meaning", "this has no meaning"),
        }
    }
}

/// Why a constant has no value, a fragment.
fn no_result(reason: NoResult) -> &'static str {
    match reason {
        NoResult::Overflow => "the result does not fit into 64 bits",
        NoResult::DivisionByZero => "division by zero",
        NoResult::ShiftRange => "a shift outside 0..=63",
    }
}

/// How an instruction is written.
fn forms(mnemonic: &str, takes: &[&str]) -> String {
    if takes.is_empty() {
        return format!("write `{mnemonic};`");
    }
    let forms: Vec<String> = takes.iter().map(|operands| format!("`{mnemonic} {operands};`")).collect();
    format!("write {}", forms.join(" or "))
}

/// Ranges of agents shown one by one at most.
const SHOWN_RANGES: usize = 8;

fn missing_agents(
    error: &MeaningError,
    unit: &str,
    missing: &[(i64, i64)],
    cta: Option<usize>,
) -> Diagnostic {
    let of = cta.map_or_else(String::new, |cta| format!(" of cta {cta}"));
    let show = |(from, to): &(i64, i64)| {
        if to - from == 1 { from.to_string() } else { format!("{from}..{to}") }
    };
    let shown: Vec<String> = missing.iter().take(SHOWN_RANGES).map(show).collect();
    let more = if missing.len() > SHOWN_RANGES { ", …" } else { "" };
    let singular = unit.strip_suffix('s').unwrap_or(unit);
    let one = matches!(missing, [(from, to)] if to - from == 1);
    let (subject, verb) = if one { (singular, "runs") } else { (unit, "run") };
    let message = format!("{subject} {}{more}{of} {verb} nothing", shown.join(", "));
    let blocks: Vec<String> = missing
        .iter()
        .take(SHOWN_RANGES)
        .map(|range| {
            let word = if range.1 - range.0 == 1 { singular } else { unit };
            format!("`{word} {}{of} {{}}`", show(range))
        })
        .collect();
    let (pronoun, what) =
        if blocks.len() == 1 && one { ("it", "an empty block") } else { ("them", "empty blocks") };
    let what = if blocks.len() == 1 { "an empty block" } else { what };
    let mut diagnostic = Diagnostic::error("agents-missing", message, error.span())
        .label("every agent of this group belongs to one block");
    if let [(from, to)] = missing
        && to - from == 1
        && *from > 0
    {
        diagnostic =
            diagnostic.note(format!("a range ends before its last number: `0..{from}` leaves {from} out"));
    }
    diagnostic.help(format!("if that is meant, give {pronoun} {what}: {}{more}", blocks.join(" ")))
}
