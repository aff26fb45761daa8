//! Decisions of which some agents make more and more that others have yet to make: then there are states
//! without end.
//!
//! A path shows it that comes twice to the same state but for such decisions. Let every agent have made none
//! of a sequence's decisions in between, or be one that was ahead of all others both times. Then whoever made
//! a decision in between found none that was made before, and may make it again; everybody else did not look.
//! So the same steps are possible once more, and once more after that, and each time the decisions that
//! others have yet to make are more by as many.

use barcheck_model::agent::Choices;
use barcheck_model::machine::{Advanced, Choice, Log, Machine, State};
use barcheck_model::program::{AgentId, SequenceId};
use rustc_hash::FxHashMap;

/// Steps of a path that is looked at, at most.
const MOST_STEPS: usize = 1 << 15;
/// Times that a path comes to the same state to which it is compared.
const MOST_COMPARED: usize = 16;

/// A sequence, and an agent that is ahead of others without end.
pub(crate) type Ahead = (SequenceId, AgentId);

/// How far the agents have come in the sequences.
struct Marks {
    /// By sequence and agent, the decisions made.
    made: Vec<Vec<u32>>,
    /// By sequence, the decisions that somebody has yet to make.
    backlogs: Vec<usize>,
}

/// Who gets ahead of others without end, if a path shows it.
pub(crate) fn without_end(machine: &mut Machine, steps: &[Choice]) -> Option<Ahead> {
    if steps.len() > MOST_STEPS {
        return None;
    }
    let (agents, sequences) = (machine.program().agents.len(), machine.program().sequences.len());
    let (mut state, mut made, mut log) =
        (machine.initial(), vec![vec![0; agents]; sequences], Log::default());
    let mut known: FxHashMap<State, Vec<Marks>> = FxHashMap::default();
    for choice in steps {
        let decides = decided(machine, &state, *choice);
        log.events.clear();
        log.noted.clear();
        if !matches!(machine.advance(&mut state, *choice, &mut log), Advanced::Progress | Advanced::NoEffect)
        {
            return None;
        }
        let Some(SequenceId(sequence)) = decides else { continue };
        made[sequence as usize][choice.agent().index()] += 1;
        let mut rest = state.clone();
        let left = std::mem::take(&mut rest.sequences);
        let marks = Marks {
            made: made.clone(),
            backlogs: left.iter().map(|sequence| sequence.ahead.len()).collect(),
        };
        let earlier = known.entry(rest).or_default();
        if let Some(ahead) = earlier.iter().rev().take(MOST_COMPARED).find_map(|before| marks.gain(before)) {
            return Some(ahead);
        }
        earlier.push(marks);
    }
    None
}

/// The sequence of which a step makes a decision.
fn decided(machine: &Machine, state: &State, choice: Choice) -> Option<SequenceId> {
    if choice.is_landing() {
        return None;
    }
    match machine.moves(state, choice.agent()).get(choice.index as usize)?.choices {
        Choices::Uniform(sequence) => Some(sequence),
        Choices::One | Choices::Open(_) => None,
    }
}

impl Marks {
    /// Who has got ahead since, in a way that can go on.
    fn gain(&self, before: &Self) -> Option<Ahead> {
        let mut gain = None;
        for (sequence, (made, made_before)) in self.made.iter().zip(&before.made).enumerate() {
            let first = |made: &[u32]| made.iter().copied().max().unwrap_or(0);
            let (front, front_before) = (first(made), first(made_before));
            let repeats = |(now, then): (&u32, &u32)| now == then || (*now, *then) == (front, front_before);
            if !made.iter().zip(made_before).all(repeats)
                || self.backlogs[sequence] < before.backlogs[sequence]
            {
                return None;
            }
            if self.backlogs[sequence] > before.backlogs[sequence] {
                let ahead = made.iter().position(|count| *count == front)?;
                gain = Some((SequenceId(u32::try_from(sequence).ok()?), AgentId::from_index(ahead)));
            }
        }
        gain
    }
}
