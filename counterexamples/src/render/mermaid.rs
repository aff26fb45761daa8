//! A sequence diagram in the language of Mermaid, which GitHub and GitLab draw wherever Markdown stands.
//!
//! Agents and barriers are participants. Agents have a bar while they are blocked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use crate::names::{self, noun, short};
use crate::objects::Flight;
use crate::render::escape;
use crate::render::events;
use crate::render::text::{FIRST_ROWS, LAST_ROWS, Row, chosen, left_out, rows, text_of, wrap};
use crate::timeline::{Figure, Room, Timeline, conflict};
use crate::trace::{Event, Situation, Status, Step, Trace};

/// GitHub draws no diagram of more than 50,000 characters.
const MOST_CHARACTERS: usize = 48_000;
/// Agents that are participants of their own.
const MOST_AGENTS: usize = 10;
/// Things that never land, at most.
const MOST_LOST: usize = 8;
/// Columns of a text, at most.
const MOST_COLUMNS: usize = 72;

pub(super) fn mermaid(trace: &Trace, warning: Option<&str>) -> String {
    let mut kept = (FIRST_ROWS, LAST_ROWS);
    loop {
        let text = Diagram::of(trace, kept).draw(warning);
        if text.len() <= MOST_CHARACTERS || kept == (0, 1) {
            return text;
        }
        kept = (kept.0 / 2, (kept.1 / 2).max(1));
    }
}

struct Diagram<'t> {
    trace: &'t Trace,
    rows: Vec<Row<'t>>,
    hidden: Range<usize>,
    /// Agents that are participants of their own.
    agents: BTreeSet<u32>,
    /// Those of them that have a bar.
    active: BTreeSet<u32>,
    text: String,
}

impl<'t> Diagram<'t> {
    fn of(trace: &'t Trace, (first, last): (usize, usize)) -> Self {
        let rows = rows(trace);
        let hidden = left_out(rows.len(), first, last);
        let agents = chosen(trace, MOST_AGENTS).into_iter().collect();
        Self { trace, rows, hidden, agents, active: BTreeSet::new(), text: String::new() }
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
    }

    fn draw(mut self, warning: Option<&str>) -> String {
        self.text.push_str("sequenceDiagram\n");
        let everybody = self.participants();
        let facts = note(&names::facts(self.trace));
        self.line(&format!("Note over {everybody}: {facts}"));
        if let Some(warning) = warning {
            self.line(&format!("Note over {everybody}: {}", note(warning)));
        }
        let mut situation = self.trace.situation(0);
        let mut looping = false;
        for (index, row) in std::mem::take(&mut self.rows).iter().enumerate() {
            for step in &row.steps {
                situation.apply(&step.changes);
            }
            if self.trace.outcome.cycle_from.is_some_and(|from| !looping && row.last() >= from) {
                self.line("loop for ever");
                looping = true;
            }
            if !self.hidden.contains(&index) {
                self.row(row, &situation);
            } else if index + 1 == self.hidden.end {
                let left = self.hidden.len();
                let plural = if left == 1 { "" } else { "s" };
                self.line(&format!("Note over {everybody}: {left} row{plural} of steps left out"));
                self.bars(&situation);
            }
        }
        if looping {
            self.line("end");
        }
        if let Some(race) = conflict(self.trace) {
            let (from, to) = (self.agent(race.earlier.agent), self.agent(race.later.agent));
            let accesses = format!("{} and {} of {}", race.earlier.access, race.later.access, race.location);
            self.line(&format!("{from}->>{to}: {}: {}", quoted(&accesses), quoted(race.missing)));
        }
        self.figure();
        self.line(&format!("Note over {everybody}: {}", note(&self.trace.outcome.headline)));
        // A bar without an end is not drawn.
        for agent in std::mem::take(&mut self.active) {
            self.line(&format!("deactivate A{agent}"));
        }
        self.text
    }

    /// What the rule is about: who could arrive where, or what does not go together.
    fn figure(&mut self) {
        let timeline = Timeline::of(self.trace);
        let Some(Figure { barrier, sides, room, .. }) = timeline.figure() else {
            return self.lost(timeline.flights());
        };
        for side in &sides {
            let said = match side.step {
                Some(step) => {
                    let differing = side.locals.iter().filter(|local| local.differs);
                    let told: Vec<String> = differing.map(|l| format!("{} = {}", l.name, l.value)).collect();
                    if told.is_empty() { continue } else { format!("at step {step}: {}", told.join(", ")) }
                }
                None => format!("could come next: {}", side.instruction),
            };
            for who in self.all_of(&side.agents) {
                match barrier.filter(|_| room.is_some()) {
                    Some(barrier) => self.line(&format!("{who}-)B{barrier}: {}", quoted(&said))),
                    None => self.line(&format!("Note over {who}: {}", quoted(&said))),
                }
            }
        }
        if let (Some(Room { room, standing, .. }), Some(barrier)) = (room, barrier) {
            self.line(&format!("Note over B{barrier}: room for {room}, {standing} could come"));
        }
        self.lost(timeline.flights());
    }

    /// What never lands.
    fn lost(&mut self, flights: &[Flight]) {
        for flight in flights.iter().filter(|flight| flight.landed.is_none()).take(MOST_LOST) {
            let (from, to) = (self.agent(flight.agent), flight.barrier);
            self.line(&format!("{from}--xB{to}: {}", quoted(&format!("{} has not landed", flight.what))));
        }
    }

    /// Declares the participants; the first and the last of them.
    fn participants(&mut self) -> String {
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        let mut order = Vec::new();
        for agent in &self.trace.agents {
            if self.agents.contains(&agent.index) {
                let role = agent.role.as_deref().map(|role| format!("<br/>{}", quoted(role)));
                let id = self.agent(agent.index);
                let is_blamed = self.trace.outcome.blamed.contains(&agent.index);
                let blame = if is_blamed { "<br/>to blame" } else { "" };
                let role = role.unwrap_or_default();
                all.insert(id.clone(), format!("{}{role}{blame}", quoted(&agent.name)));
                order.push(id);
            }
        }
        let others = self.trace.agents.len() - self.agents.len();
        if others > 0 {
            all.insert("O".to_owned(), format!("{others} other {}s", noun(self.trace)));
            order.push("O".to_owned());
        }
        let shown = self.rows.iter().enumerate().filter(|(index, _)| !self.hidden.contains(index));
        let steps = shown.flat_map(|(_, row)| &row.steps);
        let mut barriers: BTreeSet<u32> = steps.flat_map(|step| barriers(step)).collect();
        let timeline = Timeline::of(self.trace);
        barriers.extend(timeline.figure().filter(|figure| figure.room.is_some()).and_then(|f| f.barrier));
        let lost = timeline.flights().iter().filter(|flight| flight.landed.is_none()).take(MOST_LOST);
        barriers.extend(lost.map(|flight| flight.barrier));
        for barrier in barriers {
            let named = self.trace.barriers.iter().find(|known| known.barrier == barrier);
            let name = named.map_or_else(|| short(self.trace, barrier), |known| known.name.clone());
            all.insert(format!("B{barrier}"), quoted(&name));
            order.push(format!("B{barrier}"));
        }
        for id in &order {
            self.line(&format!("participant {id} as {}", all[id]));
        }
        match order.as_slice() {
            [] => String::new(),
            [only] => only.clone(),
            [first, .., last] => format!("{first},{last}"),
        }
    }

    /// The participant that stands for an agent.
    fn agent(&self, agent: u32) -> String {
        if self.agents.contains(&agent) { format!("A{agent}") } else { "O".to_owned() }
    }

    /// The participants that stand for agents, each once.
    fn all_of(&self, agents: &[u32]) -> BTreeSet<String> {
        agents.iter().map(|agent| self.agent(*agent)).collect()
    }

    fn row(&mut self, row: &Row<'_>, after: &Situation) {
        let instruction = text_of(row);
        // Of those without a participant one message speaks for all.
        let mut by_participant: Vec<(String, Vec<&Step>)> = Vec::new();
        for step in &row.steps {
            let who = self.agent(step.agent);
            match by_participant.iter_mut().find(|(known, _)| *known == who) {
                Some((_, steps)) => steps.push(step),
                None => by_participant.push((who, vec![step])),
            }
        }
        for (who, steps) in by_participant {
            let agents: Vec<u32> = steps.iter().map(|step| step.agent).collect();
            let named = if who == "O" {
                format!("{}, ", names::agents(noun(self.trace), &agents))
            } else {
                String::new()
            };
            let numbers: Vec<u64> = steps.iter().map(|step| step.index as u64 + 1).collect();
            let said = format!("{}. {named}{instruction}", names::numbers(&numbers));
            if let [.., last] = steps.as_slice() {
                self.step(&who, last, &said, after);
            }
        }
        self.bars(after);
    }

    fn step(&mut self, who: &str, step: &Step, said: &str, after: &Situation) {
        let violated = step.events.iter().filter(|event| ends(event));
        let violated: Vec<String> = violated.map(|event| events::in_words(self.trace, event)).collect();
        match &step.operands {
            Some(operands) => {
                let to = operands.barrier;
                let state = after.barriers.get(&to).filter(|state| state.active);
                let counted = state.map(|state| format!(" ({})", state.counter())).unwrap_or_default();
                let arrow =
                    if step.events.iter().any(|e| matches!(e, Event::Blocked { .. })) { "->>" } else { "-)" };
                self.line(&format!("{who}{arrow}B{to}: {}", quoted(&format!("{said}{counted}"))));
            }
            None => match landed(step) {
                // What lands is nobody's step.
                Some(barrier) => self.line(&format!("Note over B{barrier}: {}", quoted(said))),
                None => self.line(&format!("Note over {who}: {}", quoted(said))),
            },
        }
        for event in &step.events {
            let told = events::in_words(self.trace, event);
            match event {
                Event::Completed { barrier, .. } => {
                    self.line(&format!("Note over B{barrier}: {}", quoted(&told)));
                }
                Event::Released { barrier, agents } | Event::Notified { barrier, agents } => {
                    let what = if matches!(event, Event::Released { .. }) { "released" } else { "notified" };
                    for to in self.all_of(agents) {
                        self.line(&format!("B{barrier}-->>{to}: {what}"));
                    }
                }
                Event::Passed { barrier } => self.line(&format!("B{barrier}-->>{who}: passes")),
                Event::Parked { .. } | Event::Issued { .. } | Event::Spun {} | Event::LanesExited { .. } => {
                    self.line(&format!("Note over {who}: {}", quoted(&told)));
                }
                _ => {}
            }
        }
        for rule in violated {
            self.line(&format!("Note over {who}: {}", quoted(&format!("violates {rule}"))));
        }
    }

    /// Gives a bar to whoever is blocked, and takes it from whoever is not.
    fn bars(&mut self, now: &Situation) {
        for agent in self.agents.clone() {
            let blocked = now.status(agent) == Status::Blocked;
            if blocked && self.active.insert(agent) {
                self.line(&format!("activate A{agent}"));
            } else if !blocked && self.active.remove(&agent) {
                self.line(&format!("deactivate A{agent}"));
            }
        }
    }
}

/// Where something lands at a step.
fn landed(step: &Step) -> Option<u32> {
    step.events.iter().find_map(|event| match event {
        Event::Landed { barrier } => Some(*barrier),
        _ => None,
    })
}

fn ends(event: &Event) -> bool {
    matches!(event, Event::Violated { .. } | Event::Failed { .. } | Event::Cut { .. })
}

/// The barriers that a step is drawn with.
fn barriers(step: &Step) -> impl Iterator<Item = u32> {
    let operand = step.operands.as_ref().map(|operands| operands.barrier);
    let told = step.events.iter().filter_map(|event| match event {
        Event::Completed { barrier, .. }
        | Event::Released { barrier, .. }
        | Event::Notified { barrier, .. }
        | Event::Landed { barrier }
        | Event::Passed { barrier } => Some(*barrier),
        _ => None,
    });
    operand.into_iter().chain(told)
}

/// A text of several lines.
fn note(text: &str) -> String {
    let mut lines = wrap(&escape::line(text, 4 * MOST_COLUMNS), MOST_COLUMNS);
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines.iter().map(|line| quoted(line)).collect::<Vec<_>>().join("<br/>")
}

/// Text that means nothing to Mermaid. Whatever might is written as the number of its character.
fn quoted(text: &str) -> String {
    let line = escape::line(text, MOST_COLUMNS);
    let mut safe = String::new();
    for (number, word) in line.split(' ').enumerate() {
        if number > 0 {
            safe.push(' ');
        }
        // These words mean something within a text, too.
        let means = ["end", "style", "classdef"].iter().any(|known| word.to_lowercase().contains(known));
        for c in word.chars() {
            if (c.is_alphanumeric() && !means) || ".:,()/+=[]_-*".contains(c) {
                safe.push(c);
            } else {
                let _ = write!(safe, "#{};", u32::from(c));
            }
        }
    }
    // Nothing at all is no text to Mermaid.
    if safe.is_empty() { "#8230;".to_owned() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_to_mermaid_is_text() {
        assert_eq!(quoted("bar.sync 1, 64"), "bar.sync 1, 64");
        assert_eq!(quoted("a;b#c:d"), "a#59;b#35;c:d");
        assert_eq!(quoted("x\nend"), "x #101;#110;#100;");
        assert_eq!(quoted("%%{<br>}"), "#37;#37;#123;#60;br#62;#125;");
    }
}
