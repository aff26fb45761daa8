//! A protocol as text, with the place in the kernel of each of its lines.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::expression::unwrapped;
use super::mentions::mentions;
use super::residual::name_of;
use super::steps::{ELSEWHERE, KEEPS, kept_in};
use super::tree::{Condition, Decision, Statement, Statements};
use crate::common::span::Span;

/// Warps that run the same program, or the same in each group of a cluster.
#[derive(Debug)]
pub(super) struct Role {
    pub(super) warps: Vec<(u32, u32)>,
    /// One, or one for each program that the groups of a cluster run.
    pub(super) parts: Vec<Part>,
}

/// Groups of a cluster that run the same program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) ranks: Vec<u32>,
    /// Its position among the programs.
    pub(super) program: usize,
}

impl Role {
    /// Adds the next warp.
    pub(super) fn add(&mut self, warp: u32) {
        match self.warps.last_mut() {
            Some((_, to)) if *to == warp => *to += 1,
            _ => self.warps.push((warp, warp + 1)),
        }
    }
}

/// A protocol as text.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) text: String,
    /// For each line the place in the kernel that it is about, if it is about one.
    pub(super) lines: Vec<Option<Span>>,
}

/// How a protocol speaks of agents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speech<'n> {
    /// What an agent is called.
    pub(super) noun: &'n str,
    /// All agents run one program: what was laid out as lanes are agents.
    pub(super) is_one: bool,
}

impl Speech<'_> {
    /// An expression or instruction, in which an agent is called by its name.
    fn of(self, text: &str) -> String {
        if !self.is_one || !text.contains(LANE) {
            return text.to_owned();
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut spoken = String::new();
        for piece in text.split_inclusive(|c: char| !is_part(c)) {
            let word = piece.trim_end_matches(|c: char| !is_part(c));
            spoken.push_str(if word == LANE { self.noun } else { word });
            spoken.push_str(&piece[word.len()..]);
        }
        spoken
    }
}

/// The index of a lane in expressions.
const LANE: &str = "lane";

/// Writes a protocol: remarks, its header, and its roles. An exit of which it is not known where it stands is
/// the end of the code, if that is.
pub(super) fn write(
    (heading, header, end): (&[String], &[String], Option<Span>),
    speech: Speech<'_>,
    (roles, programs): (&[Role], &[Statements]),
    names: &mut HashMap<String, String>,
) -> Document {
    let mut printer = Printer {
        document: Document::default(),
        speech,
        names,
        once: BTreeSet::new(),
        explained: BTreeSet::new(),
        by_lane: false,
        end,
    };
    for line in heading {
        printer.line(0, &format!("// {line}"), None);
    }
    for line in header {
        printer.line(0, line, None);
    }
    for role in roles {
        for (from, to) in &role.warps {
            printer.line(0, "", None);
            let noun = speech.noun;
            let warps =
                if to - from == 1 { format!("{noun} {from}") } else { format!("{noun}s {from}..{to}") };
            printer.role(&warps, &role.parts, programs);
        }
    }
    printer.document
}

struct Printer<'n> {
    document: Document,
    speech: Speech<'n>,
    names: &'n mut HashMap<String, String>,
    /// Decisions of the role that are made at its beginning.
    once: BTreeSet<String>,
    /// Decisions of which it has been said what they are.
    explained: BTreeSet<String>,
    /// The role has conditions that differ between lanes.
    by_lane: bool,
    /// Where the code ends.
    end: Option<Span>,
}

/// How a decision is made in a role.
struct Use {
    /// In so many places, of which this is the first.
    sites: usize,
    span: Span,
    /// It has to be made at the beginning.
    must: bool,
}

/// The decisions that are made in a role, and its variables.
#[derive(Default)]
struct Uses {
    decisions: BTreeMap<String, Use>,
    assigned: BTreeSet<String>,
    by_lane: bool,
    of_lane: bool,
}

impl Uses {
    fn count(&mut self, decision: &Decision, span: Span, must: bool) {
        let first = || Use { sites: 0, span, must: false };
        let uses = self.decisions.entry(decision.key.clone()).or_insert_with(first);
        uses.sites += 1;
        uses.must |= must;
    }

    fn list(&mut self, statements: &[Statement], in_loop: bool) {
        for statement in statements {
            match statement {
                Statement::Set { local, .. } | Statement::Announce { token: Some(local), .. } => {
                    self.assigned.insert(local.clone());
                }
                Statement::Barrier { text, .. } => {
                    self.assigned.extend(kept_in(text).map(str::to_owned));
                }
                Statement::If { condition, then, otherwise, span } => {
                    match condition {
                        Condition::Uniform { decision, .. } => {
                            self.count(decision, *span, in_loop && !decision.varies);
                        }
                        Condition::Value { text, decided, .. } => {
                            self.by_lane |= text.contains("lane");
                            decided.decisions.iter().for_each(|decision| self.count(decision, *span, true));
                        }
                        Condition::OfLane => self.of_lane = true,
                        Condition::OfWarp => {}
                    }
                    self.list(then, in_loop);
                    self.list(otherwise, in_loop);
                }
                Statement::Loop { body, .. } | Statement::For { body, .. } => self.list(body, true),
                _ => {}
            }
        }
    }
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, text: &str, span: Option<Span>) {
        if !text.is_empty() {
            for _ in 0..depth {
                self.document.text.push_str("    ");
            }
        }
        self.document.text.push_str(text);
        self.document.text.push('\n');
        self.document.lines.push(span);
    }

    fn role(&mut self, warps: &str, parts: &[Part], programs: &[Statements]) {
        let used = |part: &&Part| !programs[part.program].is_empty();
        let used: Vec<&Part> = parts.iter().filter(used).collect();
        if used.is_empty() {
            return self.line(0, &format!("{warps} {{ }}"), None);
        }
        self.line(0, &format!("{warps} {{"), None);
        match parts {
            [one] => self.program(1, &programs[one.program]),
            _ => {
                for part in used {
                    let is: Vec<String> =
                        part.ranks.iter().map(|rank| format!("cluster_ctarank == {rank}")).collect();
                    self.line(1, &format!("if {} {{", is.join(" || ")), None);
                    self.program(2, &programs[part.program]);
                    self.line(1, "}", None);
                }
            }
        }
        self.line(0, "}", None);
    }

    fn program(&mut self, depth: usize, statements: &[Statement]) {
        let mut uses = Uses::default();
        uses.list(statements, false);
        self.by_lane = uses.by_lane;
        let varying = varying(statements);
        let once = |(key, of): &(&String, &Use)| !varying.contains(*key) && (of.must || of.sites > 1);
        let once = uses.decisions.iter().filter(once);
        let once: Vec<(String, Span)> = once.map(|(key, of)| (key.clone(), of.span)).collect();
        self.once = once.iter().map(|(key, _)| key.clone()).collect();
        for (key, span) in once {
            let name = name_of(self.names, &key);
            let what = self.explain(&key);
            self.line(depth, &format!("let {name} = 0;{what}"), None);
            self.line(depth, &format!("if uniform {name} ? {{ {name} = 1; }}"), Some(span));
        }
        // A variable that is set before anything else is done with it is declared there.
        let mut here = BTreeSet::new();
        for (at, statement) in statements.iter().enumerate() {
            if let Statement::Set { local, .. } = statement
                && !statements[..at].iter().any(|earlier| mentions(earlier, local))
            {
                here.insert(at);
            }
        }
        let declared: BTreeSet<&String> = here
            .iter()
            .filter_map(|at| match &statements[*at] {
                Statement::Set { local, .. } => Some(local),
                _ => None,
            })
            .collect();
        for local in uses.assigned.iter().filter(|local| !declared.contains(local)) {
            self.line(depth, &format!("let {local} = 0;"), None);
        }
        if uses.of_lane {
            self.line(depth, "let part = 0;", None);
        }
        for (at, statement) in statements.iter().enumerate() {
            match statement {
                Statement::Set { local, value, span } if here.contains(&at) => {
                    let value = self.speech.of(&value.text);
                    self.line(depth, &format!("let {local} = {value};"), Some(*span));
                }
                other => self.list(depth, std::slice::from_ref(other)),
            }
        }
    }

    /// What a decision is, where it is named first.
    fn explain(&mut self, key: &str) -> String {
        if !self.explained.insert(key.to_owned()) {
            return String::new();
        }
        let plain = unwrapped(key).chars().map(|c| if c.is_control() { ' ' } else { c });
        let shown: String = plain.take(120).collect();
        format!(" // {shown}")
    }

    fn list(&mut self, depth: usize, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Barrier { text, span } => {
                    let text = self.speech.of(text);
                    self.line(depth, &format!("{text};"), Some(*span));
                }
                Statement::Announce { object, bytes, arrives, token, span } => {
                    let bytes = bytes.unwrap_or_default();
                    let keeps = token.as_ref().map(|token| format!("{token}{KEEPS}")).unwrap_or_default();
                    let text = format!("{keeps}{} {object}, {bytes};", announcing(*arrives));
                    self.line(depth, &text, Some(*span));
                }
                Statement::Copy { object, bytes, mask, to, span } => {
                    let to = match to.first() {
                        Some(Statement::Access(location)) => location.text.as_str(),
                        _ => "_",
                    };
                    let bytes = bytes.unwrap_or_default();
                    let text = match mask {
                        None => format!("cp.async.bulk {to}, {bytes}, {object};"),
                        // The mask says where it goes.
                        Some(mask) => {
                            let object = object.split_once(ELSEWHERE).map_or(object.as_str(), |(own, _)| own);
                            format!("{MULTICAST} {to}, {bytes}, {object}, {mask};")
                        }
                    };
                    self.line(depth, &text, Some(*span));
                }
                Statement::Access(access) => {
                    self.line(depth, &format!("{};", access.text), Some(access.span));
                }
                Statement::Set { local, value, span } => {
                    let value = self.speech.of(&value.text);
                    self.line(depth, &format!("{local} = {value};"), Some(*span));
                }
                Statement::If { condition, then, otherwise, span } => {
                    self.branch(depth, (condition, then, otherwise), *span);
                }
                Statement::Loop { body, span, .. } if body.is_empty() => {
                    self.line(depth, "loop {}", Some(*span));
                }
                Statement::Loop { body, span, .. } => {
                    self.line(depth, "loop {", Some(*span));
                    self.list(depth + 1, body);
                    self.line(depth, "}", None);
                }
                Statement::For { variable, from, to, body, span } => {
                    self.line(depth, &format!("for {variable} in {from}..{to} {{"), Some(*span));
                    self.list(depth + 1, body);
                    self.line(depth, "}", None);
                }
                // Written out before.
                Statement::Count(_) => {}
                Statement::Break => self.line(depth, "break;", None),
                Statement::Continue => self.line(depth, "continue;", None),
                Statement::Exit { span } => {
                    let span = Some(*span).filter(|span| *span != Span::default());
                    self.line(depth, "exit;", span.or(self.end));
                }
            }
        }
    }

    fn branch(
        &mut self,
        depth: usize,
        (condition, then, otherwise): (&Condition, &[Statement], &[Statement]),
        span: Span,
    ) {
        let (mut then, mut otherwise) = (then, otherwise);
        let (asked, remark) = match condition {
            Condition::Value { text, .. } => (self.speech.of(text), String::new()),
            Condition::Uniform { decision, negated } => {
                let name = name_of(self.names, &decision.key);
                if self.once.contains(&decision.key) {
                    (if *negated { format!("!{name}") } else { name }, String::new())
                } else {
                    if *negated {
                        std::mem::swap(&mut then, &mut otherwise);
                    }
                    let remark = self.explain(&decision.key);
                    (format!("uniform {name} ?"), remark)
                }
            }
            Condition::OfWarp => {
                ("?".to_owned(), format!(" // unknown, and each {} by itself", self.speech.noun))
            }
            Condition::OfLane => {
                // How many lanes: none, one, all but one, or all. Where others look at the lane as well, any
                // number of the last ones or of the first ones, so that lane 0 goes either way with any
                // others.
                let (most, lanes) = if self.by_lane {
                    (64, "part < 32 && lane >= 32 - part || part >= 32 && lane < part - 31")
                } else {
                    (4, "lane < part + part / 2 * 29")
                };
                self.line(
                    depth,
                    &format!("part = any 0..{most}; // unknown, and each lane by itself"),
                    Some(span),
                );
                (lanes.to_owned(), String::new())
            }
        };
        if then.is_empty() && !otherwise.is_empty() {
            self.line(depth, &format!("if {asked} {{}} else {{{remark}"), Some(span));
            self.list(depth + 1, otherwise);
        } else {
            self.line(depth, &format!("if {asked} {{{remark}"), Some(span));
            self.list(depth + 1, then);
            if !otherwise.is_empty() {
                self.line(depth, "} else {", None);
                self.list(depth + 1, otherwise);
            }
        }
        self.line(depth, "}", None);
    }
}

/// A copy to several groups of a cluster.
const MULTICAST: &str = "cp.async.bulk.multicast::cluster";

/// The instruction that announces bytes.
fn announcing(arrives: Option<bool>) -> &'static str {
    match arrives {
        None => "mbarrier.expect_tx",
        Some(false) => "mbarrier.arrive.expect_tx",
        Some(true) => "mbarrier.arrive.expect_tx.relaxed",
    }
}

/// Decisions that are made anew each time.
fn varying(statements: &[Statement]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut work: Vec<&Statement> = statements.iter().collect();
    while let Some(statement) = work.pop() {
        match statement {
            Statement::If { condition, then, otherwise, .. } => {
                if let Condition::Uniform { decision, .. } = condition
                    && decision.varies
                {
                    found.insert(decision.key.clone());
                }
                work.extend(then.iter().chain(otherwise));
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => work.extend(body),
            _ => {}
        }
    }
    found
}
