//! Places as people name them, and the operations of a protocol that are there.

use super::answer::Named;
use barcheck_engine::{MOST_WANTED, Wanted};
use barcheck_model::program::{AgentId, Code, Condition, Op, Pc, Program};
use barcheck_specs::{Extracted, Loaded};
use std::collections::BTreeSet;
use std::ops::Range;

/// Lines that a message lists.
const MOST_LISTED: usize = 12;

/// Where agents are to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// Which agents.
    pub who: Who,
    /// Where.
    pub spot: Spot,
}

/// Which agents are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// These numbers.
    Agents(Range<u32>),
    /// All of this role.
    Role(String),
}

/// Where an agent is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// At this line of the file.
    Line(u32),
    /// At this line of a file: of the source from which a kernel was compiled, or of the file itself.
    Source(String, u32),
    /// It has exited.
    Exited,
}

/// The operations at which agents are to be. The error is a message.
pub(super) fn resolve(name: &str, loaded: &Loaded, at: &[At]) -> Result<(Vec<Wanted>, Vec<Named>), String> {
    let program = &loaded.program;
    let text = Text { name, program, extracted: loaded.extracted.as_ref() };
    let (mut goal, mut named): (Vec<Wanted>, Vec<Named>) = (Vec::new(), Vec::new());
    for at in at {
        for agent in text.agents(&at.who)? {
            let who = program.agent_name(agent);
            if goal.iter().any(|wanted| wanted.agent == agent) {
                return Err(format!("{who} is looked for in two places: it is in one at a time"));
            }
            let pcs = text.operations(agent, &at.spot)?;
            let place = text.place(agent, &at.spot, &pcs);
            goal.push(Wanted { agent, exited: at.spot == Spot::Exited, at: pcs });
            named.push(Named { agent: agent.0, name: who, place });
        }
    }
    if goal.len() > MOST_WANTED {
        let count = goal.len();
        return Err(format!(
            "{count} agents are looked for, more than {MOST_WANTED}: name those that matter"
        ));
    }
    Ok((goal, named))
}

struct Text<'t> {
    name: &'t str,
    program: &'t Program,
    extracted: Option<&'t Extracted>,
}

impl Text<'_> {
    fn agents(&self, who: &Who) -> Result<Vec<AgentId>, String> {
        let program = self.program;
        let all = program.agents.len();
        let (noun, last) = (program.target.agent_noun(), all.saturating_sub(1));
        match who {
            Who::Agents(range) if range.end as usize > all => {
                Err(format!("there is no {noun} {}: they are numbered from 0 to {last}", range.end - 1))
            }
            Who::Agents(range) => Ok(range.clone().map(AgentId).collect()),
            Who::Role(name) => {
                let is_of = |agent: &AgentId| {
                    program.roles[program.agents[agent.index()].index()].name.as_ref() == Some(name)
                };
                let agents: Vec<AgentId> = (0..all).map(AgentId::from_index).filter(is_of).collect();
                if agents.is_empty() { Err(self.no_such_role(name)) } else { Ok(agents) }
            }
        }
    }

    fn no_such_role(&self, name: &str) -> String {
        let roles: Vec<&str> = self.program.roles.iter().filter_map(|role| role.name.as_deref()).collect();
        let noun = self.program.target.agent_noun();
        match roles.as_slice() {
            [] => format!("there is no role `{name}`: no role has a name here; give numbers of {noun}s"),
            roles => format!("there is no role `{name}`; there are: {}", roles.join(", ")),
        }
    }

    /// The operations of an agent at a place. The error says where there are some.
    fn operations(&self, agent: AgentId, spot: &Spot) -> Result<Vec<Pc>, String> {
        let code = self.program.code(agent);
        let here: Vec<Pc> =
            visible(code).filter(|pc| self.is_at(code.places[pc.index()].line, spot)).collect();
        if !here.is_empty() || *spot == Spot::Exited {
            return Ok(here);
        }
        let who = self.program.agent_name(agent);
        let lines: BTreeSet<u32> = visible(code).map(|pc| code.places[pc.index()].line).collect();
        let wanted = match spot {
            Spot::Line(line) | Spot::Source(_, line) => *line,
            Spot::Exited => 0,
        };
        let said = match spot {
            Spot::Line(line) => format!("line {line}"),
            Spot::Source(file, line) => format!("{file}:{line}"),
            Spot::Exited => "its end".to_owned(),
        };
        let mut nearest: Vec<u32> = lines.into_iter().collect();
        nearest.sort_by_key(|line| (self.shown_line(*line, spot).abs_diff(wanted), *line));
        nearest.truncate(MOST_LISTED);
        nearest.sort_unstable();
        let listed: Vec<String> = nearest.into_iter().map(|line| self.line(line)).collect();
        let what = "nothing that concerns other agents is at";
        Err(match listed.as_slice() {
            [] => format!("{what} {said} for {who}: it does nothing at all"),
            listed => format!("{what} {said} for {who}; it can be at {}, or `exit`", listed.join(", ")),
        })
    }

    fn shown_line(&self, line: u32, spot: &Spot) -> u32 {
        let origin = self.extracted.and_then(|extracted| extracted.origin(line));
        match (spot, origin) {
            (Spot::Source(..), Some(origin)) => origin.outermost().1,
            _ => line,
        }
    }

    fn is_at(&self, line: u32, spot: &Spot) -> bool {
        match spot {
            Spot::Line(wanted) => line == *wanted,
            Spot::Source(file, wanted) => {
                let origin = self.extracted.and_then(|extracted| extracted.origin(line));
                let is_origin = origin.is_some_and(|origin| {
                    let (outer, at) = origin.outermost();
                    origin.line == *wanted && is_file(&origin.file, file)
                        || at == *wanted && is_file(outer, file)
                });
                is_origin || line == *wanted && is_file(self.name, file)
            }
            Spot::Exited => false,
        }
    }

    /// A line, and that of the source where it is known.
    fn line(&self, line: u32) -> String {
        match self.extracted.and_then(|extracted| extracted.origin(line)) {
            Some(origin) => {
                let (file, at) = origin.outermost();
                format!("line {line} ({}:{at})", file_name(file))
            }
            None => format!("line {line}"),
        }
    }

    fn place(&self, agent: AgentId, spot: &Spot, pcs: &[Pc]) -> String {
        let places = &self.program.code(agent).places;
        let lines: BTreeSet<u32> = pcs.iter().map(|pc| places[pc.index()].line).collect();
        match spot {
            Spot::Exited => "exited".to_owned(),
            _ => lines.into_iter().map(|line| self.line(line)).collect::<Vec<_>>().join(" or "),
        }
    }
}

/// Operations at which an agent can be between two steps of the group.
fn visible(code: &Code) -> impl Iterator<Item = Pc> + '_ {
    let is_visible = |op: &Op| match op {
        Op::Branch { condition, .. } | Op::Test { condition, .. } => {
            !matches!(condition, Condition::Value(_))
        }
        Op::Any(..) | Op::Exit | Op::Access(..) | Op::Fence(_) | Op::Proxy(_) | Op::Barrier(_) => true,
        Op::Set(..)
        | Op::Jump(_)
        | Op::Enter(_)
        | Op::Back(..)
        | Op::Break(_)
        | Op::Continue(..)
        | Op::End(_)
        | Op::Assert(_) => false,
    };
    let is_written = |index: &usize| code.places.get(*index).is_some_and(|place| place.line > 0);
    let visible = code.ops.iter().enumerate().filter(move |(_, op)| is_visible(op));
    visible.map(|(index, _)| index).filter(is_written).map(Pc::from_index)
}

/// Whether a path is what a user means by a name: the same, or it ends in it.
fn is_file(path: &str, named: &str) -> bool {
    let (path, named) = (path.replace('\\', "/"), named.replace('\\', "/"));
    let named = named.trim_start_matches("./");
    path == named || path.strip_suffix(named).is_some_and(|before| before.ends_with('/'))
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_their_ends() {
        assert!(is_file("/home/me/src/attn.cu", "attn.cu"));
        assert!(is_file("/home/me/src/attn.cu", "src/attn.cu"));
        assert!(is_file("./attn.cu", "attn.cu"));
        assert!(!is_file("/home/me/src/attn.cu", "n.cu"));
        assert!(!is_file("attn.cu", "src/attn.cu"));
    }
}
