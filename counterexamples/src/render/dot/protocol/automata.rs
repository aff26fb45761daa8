//! What each kind of agent can do by itself: its positions, and what leads from one to another.

use std::collections::BTreeMap;

use barcheck_model::agent::{Action, Config, Fragment, Move};
use barcheck_model::machine::{Automaton, ConfigId, Label, Machine};
use petgraph::graph::NodeIndex;

use super::kinds::{Kind, title};
use crate::build::unfollowed::fault_message;
use crate::names;
use crate::render::dot::Picture;
use crate::wording::{self, Reader, show_local};

/// Lines of text beside an arrow, at most.
const MOST_LINES: usize = 5;

/// What leads from one position to another: the agent's own steps, and with which results it is released.
#[derive(Default)]
struct Arrow {
    steps: Vec<String>,
    results: Vec<u32>,
}

pub(super) fn draw(machine: &Machine, kinds: &[Kind], file: &str) -> String {
    let says = "What agents can do by themselves; dashed arrows: others release them.";
    let mut picture = Picture { title: title(machine, file, says), ..Picture::default() };
    for kind in kinds {
        let scene =
            Scene { machine, kind, automaton: &machine.automata()[machine.class(kind.representative)] };
        scene.draw(&mut picture);
    }
    picture.to_dot()
}

struct Scene<'m> {
    machine: &'m Machine,
    kind: &'m Kind,
    automaton: &'m Automaton,
}

impl Scene<'_> {
    fn draw(&self, picture: &mut Picture) {
        let ids = (0..self.automaton.len()).map(|id| ConfigId(u32::try_from(id).unwrap_or(u32::MAX)));
        let nodes: Vec<NodeIndex> = ids.map(|id| self.node(picture, id)).collect();
        // Releases are others' doing, so they have arrows of their own.
        let mut arrows: BTreeMap<(ConfigId, ConfigId, bool), Arrow> = BTreeMap::new();
        for (from, label, to) in self.automaton.labelled_edges() {
            let released = matches!(label, Label::Released(_));
            let arrow = arrows.entry((from, to, released)).or_default();
            match label {
                Label::Made(index, pick, _) => {
                    let text = self.resolved(from, &self.automaton.moves(from)[index as usize], pick);
                    if !arrow.steps.contains(&text) {
                        arrow.steps.push(text);
                    }
                }
                Label::Released(result) => arrow.results.extend(result),
            }
        }
        for ((from, to, released), arrow) in arrows {
            let look = if released { "style=dashed" } else { "" };
            picture.edge(nodes[from.0 as usize], nodes[to.0 as usize], lines(&arrow, released), look);
        }
        let name = format!("{}: {} positions", self.kind.name, nodes.len());
        picture.frames.push((name, nodes));
    }

    fn node(&self, picture: &mut Picture, id: ConfigId) -> NodeIndex {
        let config = self.automaton.config(id);
        let mut text = Vec::new();
        if id == ConfigId(0) {
            text.push("start".to_owned());
        }
        let look = if let Some(fault) = &config.fault {
            let why = fault_message(self.machine.program(), self.kind.representative, &fault.kind);
            text.push(format!("fails: {why}"));
            "shape=octagon"
        } else if config.has_exited() {
            text.push("exited".to_owned());
            "shape=box, peripheries=2"
        } else if config.is_blocked() {
            "shape=box, style=filled, fillcolor=gray90"
        } else {
            "shape=box, style=rounded"
        };
        text.extend(config.fragments.iter().map(|fragment| self.position(config, fragment)));
        text.extend(self.automaton.moves(id).iter().filter_map(|made| self.end(config, made)));
        picture.node(text, look)
    }

    /// Where lanes are: `line 12, waits on b1; i = 2`.
    fn position(&self, config: &Config, fragment: &Fragment) -> String {
        let program = self.machine.program();
        let waiting = config.waiting.filter(|waiting| waiting.lanes & fragment.lanes != 0);
        let pc = waiting.map_or(fragment.pc, |waiting| waiting.at);
        let short = |id| wording::barrier(program, id).short;
        let mut text = format!("line {}", self.machine.place(self.kind.representative, pc).line);
        if config.fragments.len() > 1 {
            text = format!("{}: {text}", names::lanes_in_words(fragment.lanes));
        }
        if let Some(waiting) = waiting {
            text.push_str(&format!(", waits on {}", short(waiting.barrier)));
        } else if let Some(parked) = &fragment.parked {
            text.push_str(&format!(", waits for other lanes at {}", short(parked.what.id)));
        } else if fragment.join.is_some() {
            text.push_str(", waits for other lanes");
        }
        let names = &program.code(self.kind.representative).locals;
        let locals = names.iter().zip(&fragment.locals).filter_map(|(local, values)| {
            show_local(values, fragment.lanes).map(|value| format!("{} = {value}", local.name))
        });
        let locals: Vec<String> = locals.collect();
        if locals.is_empty() { text } else { format!("{text}; {}", locals.join(", ")) }
    }

    /// A step that leads nowhere, in words.
    fn end(&self, config: &Config, made: &Move) -> Option<String> {
        let says = match &made.action {
            Action::Spin => return Some("runs for ever".to_owned()),
            Action::Refuse(rule, value) => format!("violates {} ({value})", rule.name()),
            Action::NotModelled(what) => what.describe().to_owned(),
            Action::Fault(kind) => fault_message(self.machine.program(), self.kind.representative, kind),
            Action::Assert(false) => "the assertion is false".to_owned(),
            _ => return None,
        };
        Some(format!("{}: {says}", self.resolved_by(config, made, 0)))
    }

    fn resolved(&self, from: ConfigId, made: &Move, pick: u32) -> String {
        self.resolved_by(self.automaton.config(from), made, pick)
    }

    fn resolved_by(&self, config: &Config, made: &Move, pick: u32) -> String {
        let program = self.machine.program();
        config.fragments.get(made.fragment).map_or_else(String::new, |fragment| {
            Reader { program, agent: self.kind.representative, fragment }.resolved(made.pc, made, pick)
        })
    }
}

/// What stands beside an arrow.
fn lines(arrow: &Arrow, released: bool) -> Vec<String> {
    if released {
        return vec![match arrow.results.as_slice() {
            [] => "released".to_owned(),
            results => format!("released: result {}", names::numbers(results)),
        }];
    }
    let mut lines: Vec<String> = arrow.steps.iter().take(MOST_LINES).cloned().collect();
    if arrow.steps.len() > MOST_LINES {
        lines.push(format!("and {} more", arrow.steps.len() - MOST_LINES));
    }
    lines
}
