//! The successors of most states, by additions.
//!
//! What [`super::steps`] remembers is laid out here once more, for each agent by itself and for the layout in use: the turn of a
//! step adds a number to the word with the agent's field, and its deed one to the word with the barrier's field. That is the
//! same as setting both fields, since each number is the difference between two values that the field holds: nothing is carried
//! out of it.
//!
//! How many agents stand at arrivals is counted for all groups (see [`super::races`]) in one word: each group has a field,
//! wide enough for twice as many agents as there are, with one bit more, its guard. A deed carries the room of its
//! groups in the same form, with all guards set, and the most that a field holds for every other group. Subtracting the
//! counts clears the guard of just those groups in which more stand than there is room for; no field borrows from the next.
//!
//! This is a cache of what the tables say and adds nothing to it. It is filled from states that the tables have been
//! asked about; whatever is missing, or does not fit a field, leads back to the tables. It holds for one layout, and needs
//! nothing else, so that threads may have copies.
//!
//! What the tables say of a slot, of a state of a barrier or of a rest never changes. Who may have a seat at a barrier is known
//! before the slot with that seat has a number; a slot is not known here unless it has been taken over, and all seats are
//! taken over before it. So no agent is left out when a generation is completed.

use super::layout::{Bits, Field, Layout, Packed, bits};
use super::numbering::{UNKNOWN, to_u32};
use super::races::NOBODY;
use super::recent::Batch;
use super::steps::{Effect, Key, Step, Steps, put};
use super::tables::Tables;

/// No more is taken over once it takes so many bytes: it would leave the caches, for which it is made.
const MOST_BYTES: usize = 1 << 25;

/// [`Change::release`] of a step that completes no generation.
const NONE: u32 = u32::MAX;
/// [`Change::release`] of an exit: it completes none unless some barrier heeds exits.
const EXIT: u32 = u32::MAX - 1;
/// [`Row::count`] of a slot about which nothing is known here.
const NO_ROW: u32 = 1 << 24;

/// Most deeds have no more turns: whoever arrives waits, or completes the generation.
const TURNS: usize = 2;
/// Turns with a number beyond are left to the tables.
const MOST_TURNS: u32 = 32;

/// An agent's field, and a row for each of its slots, as far as known.
#[derive(Clone, Debug)]
struct Agent {
    field: Field,
    rows: Vec<Row>,
}

/// What every state's successors need to know of an agent in a slot.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// 1 in the field of each group in which the agent stands.
    standing: u64,
    /// Its steps.
    first: u32,
    /// How many; [`NO_ROW`] if the row is not filled.
    count: u32,
    /// 1 if the agent has exited.
    exited: u32,
}

/// A step of an agent in a slot: a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct SwiftStep {
    barrier: Field,
    /// What its deed does is kept under the state of its barrier times this, plus, if all bits of `exits` are set, the agents
    /// exited; else none is.
    times: u32,
    exits: u32,
    /// Where that is.
    first: u32,
    count: u32,
    agent: u32,
    /// A bit for each turn that is known.
    known: u32,
    /// What the first turns do to the agent's field.
    turns: [Add; TURNS],
}

/// What need not be looked at often of a step.
#[derive(Clone, Copy, Debug)]
struct Origin {
    deed: u32,
    /// Where its further turns are.
    turns: u32,
}

/// What is added to a state. Where states have more than two words, to the word with the field concerned, and the other number
/// means nothing; else to the first word and to the second.
type Add = [u64; 2];

/// What a deed does to its barrier under a key.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// For the barrier's field.
    add: Add,
    /// The room of its groups, see the module; 0, with no guard set, if nothing is known.
    room: u64,
    /// The generation completed, in [`Tables::releases`].
    release: u32,
    /// What it comes to for the agent.
    turn: u32,
}

/// Where the changes of a deed are, by key, and the steps that are this deed.
#[derive(Clone, Debug, Default)]
struct Deed {
    first: u32,
    count: u32,
    steps: Vec<u32>,
}

/// The completion of a generation, see [`super::tables::Release`].
#[derive(Clone, Debug, Default)]
struct Released {
    field: usize,
    after: Vec<Vec<u32>>,
}

/// Room for the steps of a state, so that it need not be found for each anew.
#[derive(Debug, Default)]
pub(super) struct Scratch(Vec<u32>);

/// What is known of the steps of each agent, for one layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Swift {
    agents: Vec<Agent>,
    steps: Vec<SwiftStep>,
    /// For each step.
    origins: Vec<Origin>,
    /// What the further turns of steps do.
    turns: Vec<Add>,
    /// As in [`super::steps`].
    deeds: Vec<Deed>,
    changes: Vec<Change>,
    /// The width of a group's field, the guard included.
    width: u32,
    /// The guards of all fields.
    guards: u64,
    rest: Field,
    memory: Bits,
    /// As in [`Tables`], as far as known.
    quiet: Vec<bool>,
    /// For each barrier, whether its states heed exits, as far as known.
    heeds_exits: Vec<(Field, Vec<bool>)>,
    /// As in [`Tables`].
    seated: Vec<Vec<(u32, u32)>>,
    /// As in [`Tables`], as far as known, and how many slots they speak of.
    releases: Vec<Released>,
    afters: usize,
}

impl Swift {
    /// Knows nothing yet.
    pub(super) fn new(layout: &Layout) -> Self {
        let agents = layout.agents.iter().map(|field| Agent { field: *field, rows: Vec::new() });
        // Every agent may stand in two groups, which may be the same.
        let width = bits(2 * layout.agents.len() + 1) + 1;
        let guards = (1..=64 / width).fold(0, |guards, field| guards | 1 << (field * width - 1));
        let heeds_exits = layout.barriers.iter().map(|field| (*field, Vec::new())).collect();
        let (agents, rest, memory) = (agents.collect(), layout.rest, layout.memory.clone());
        Self { agents, width, guards, rest, memory, heeds_exits, ..Self::default() }
    }

    /// Adds every successor of a state, if all that is needed to make them is known and no rule about states may be
    /// violated in it; otherwise nothing.
    #[inline(never)]
    pub(super) fn successors<const W: usize>(
        &self,
        words: &Packed<W>,
        Scratch(ready): &mut Scratch,
        batch: &mut Batch<W>,
    ) -> Option<()> {
        if self.quiet.get(self.rest.get(words) as usize) != Some(&true) || self.memory.are_set(words) {
            return None;
        }
        if ready.len() < self.agents.len() {
            ready.resize(self.agents.len(), 0);
        }
        let (mut count, mut standing, mut exited) = (0, 0_u64, 0);
        for agent in &self.agents {
            let row = agent.rows.get(agent.field.get(words) as usize)?;
            standing = standing.wrapping_add(row.standing);
            exited += row.exited;
            ready[count] = row.first;
            count += usize::from(row.count > 0);
            if row.count > 1 {
                count = self.further(row, ready, count)?;
            }
        }
        if count == 0 {
            return None;
        }
        for (next, at) in batch.room(count).iter_mut().zip(&ready[..count]) {
            let step = &self.steps[*at as usize];
            let change = self.change(step, step.barrier.get(words), exited)?;
            // Whether the change is known, and no more agents stand in the step's groups than there is room for.
            if change.room.wrapping_sub(standing) & change.room & self.guards != self.guards {
                return None;
            }
            let turn = self.turn((step, *at), change.turn)?;
            *next = if change.release == NONE {
                self.changed(words, step, change, turn)
            } else {
                self.completed(words, step, change, turn)?
            };
        }
        batch.add(count);
        Some(())
    }

    /// Notes the further steps of an agent that has several, if that is known; how many there are now.
    #[inline(never)]
    fn further(&self, row: &Row, ready: &mut Vec<u32>, mut count: usize) -> Option<usize> {
        if row.count == NO_ROW {
            return None;
        }
        // Each agent that comes later has room for its first one.
        ready.resize(ready.len().max(count + row.count as usize + self.agents.len()), 0);
        for step in row.first + 1..row.first + row.count {
            ready[count] = step;
            count += 1;
        }
        Some(count)
    }

    /// The state after a step that concerns no more than its agent and its barrier.
    #[inline(always)]
    fn changed<const W: usize>(
        &self,
        words: &Packed<W>,
        step: &SwiftStep,
        change: &Change,
        turn: &Add,
    ) -> Packed<W> {
        let mut next = *words;
        if W > 2 {
            self.agents[step.agent as usize].field.add(&mut next, turn[0]);
            step.barrier.add(&mut next, change.add[0]);
        } else {
            next[0] = next[0].wrapping_add(change.add[0]).wrapping_add(turn[0]);
            if W == 2 {
                next[W - 1] = next[W - 1].wrapping_add(change.add[1]).wrapping_add(turn[1]);
            }
        }
        next
    }

    /// Under which key a step's change is kept.
    #[inline(always)]
    fn key(step: &SwiftStep, barrier: u32, exited: u32) -> u32 {
        barrier * step.times + (exited & step.exits)
    }

    #[inline(always)]
    fn change(&self, step: &SwiftStep, barrier: u32, exited: u32) -> Option<&Change> {
        let key = Self::key(step, barrier, exited);
        if key >= step.count { None } else { self.changes.get((step.first + key) as usize) }
    }

    #[inline(always)]
    fn turn<'s>(&'s self, (step, at): (&'s SwiftStep, u32), turn: u32) -> Option<&'s Add> {
        if step.known >> (turn % MOST_TURNS) & 1 == 0 {
            return None;
        }
        step.turns.get(turn as usize).or_else(|| self.further_turn(at, turn))
    }

    #[inline(never)]
    fn further_turn(&self, step: u32, turn: u32) -> Option<&Add> {
        self.turns.get(self.origins[step as usize].turns as usize + turn as usize - TURNS)
    }

    /// The state after a step that completes a generation or may do so; `None` if what that does to the other agents is not
    /// all known.
    #[inline(never)]
    fn completed<const W: usize>(
        &self,
        words: &Packed<W>,
        step: &SwiftStep,
        change: &Change,
        turn: &Add,
    ) -> Option<Packed<W>> {
        let mut next = self.changed(words, step, change, turn);
        if change.release == EXIT {
            let heed =
                |(field, heeds): &(Field, Vec<bool>)| heeds.get(field.get(words) as usize) != Some(&false);
            return (!self.heeds_exits.iter().any(heed)).then_some(next);
        }
        let release = self.releases.get(change.release as usize)?;
        for (agent, class) in self.seated.get(release.field)? {
            if *agent == step.agent {
                continue;
            }
            let field = self.agents[*agent as usize].field;
            let slot = field.get(words);
            let after = release.after.get(*class as usize)?.get(slot as usize).copied();
            field.change(&mut next, slot, after.filter(|after| *after != UNKNOWN)?);
        }
        Some(next)
    }

    /// Takes over what the tables know of the steps from a state.
    pub(super) fn learn<const W: usize>(&mut self, tables: &Tables, layout: &Layout, words: &Packed<W>) {
        self.learn_components(tables);
        let is_quiet = tables.quiet[layout.rest.get(words) as usize] && !layout.remembers(words);
        if !is_quiet || self.bytes() > MOST_BYTES {
            return;
        }
        for agent in 0..self.agents.len() {
            self.learn_row::<W>(tables, layout, agent, self.agents[agent].field.get(words));
        }
        let rows: Vec<Row> = self.agents.iter().map(|a| a.rows[a.field.get(words) as usize]).collect();
        if rows.iter().any(|row| row.count == NO_ROW) {
            return;
        }
        let exited: u32 = rows.iter().map(|row| row.exited).sum();
        for (agent, row) in rows.iter().enumerate() {
            let slot = self.agents[agent].field.get(words);
            for number in 0..row.count {
                let step = self.steps[(row.first + number) as usize];
                let state = step.barrier.get(words);
                if !self.knows((&step, row.first + number), state, exited) {
                    let class = tables.class_of[agent];
                    self.learn_step::<W>((tables, layout), class, (slot, number), (state, exited));
                }
                if let Some(change) = self.change(&self.steps[(row.first + number) as usize], state, exited)
                    && change.release < EXIT
                {
                    self.learn_release(tables, change.release, words);
                }
            }
        }
    }

    /// Whether it is known what a step does.
    fn knows(&self, (step, at): (&SwiftStep, u32), barrier: u32, exited: u32) -> bool {
        let change = self.change(step, barrier, exited).filter(|change| change.room != 0);
        change.is_some_and(|change| self.turn((step, at), change.turn).is_some())
    }

    /// Takes over what does not depend on steps.
    fn learn_components(&mut self, tables: &Tables) {
        self.quiet.extend(&tables.quiet[self.quiet.len()..]);
        for ((_, heeds), barrier) in self.heeds_exits.iter_mut().zip(&tables.barriers) {
            heeds.extend(&barrier.heeds_exits[heeds.len()..]);
        }
        self.seated.resize(tables.seated.len(), Vec::new());
        for (mine, seated) in self.seated.iter_mut().zip(&tables.seated) {
            mine.extend(&seated[mine.len()..]);
        }
    }

    /// Takes over what becomes of the agents of a state when a generation is completed.
    fn learn_release<const W: usize>(&mut self, tables: &Tables, release: u32, words: &Packed<W>) {
        let (number, known) = (release as usize, &tables.releases[release as usize]);
        if self.releases.len() <= number {
            self.releases.resize_with(number + 1, Released::default);
        }
        let mine = &mut self.releases[number];
        mine.field = known.field;
        mine.after.resize(known.after.len(), Vec::new());
        for (agent, class) in &self.seated[known.field] {
            let slot = self.agents[*agent as usize].field.get(words) as usize;
            let mine = &mut mine.after[*class as usize];
            if mine.len() <= slot {
                self.afters += slot + 1 - mine.len();
                mine.resize(slot + 1, UNKNOWN);
            }
            mine[slot] = tables.after(known, *class as usize, to_u32(slot)).unwrap_or(UNKNOWN);
        }
    }

    /// Takes over what the tables know of a step of a class's agents. What one of them meets, the others will meet.
    fn learn_step<const W: usize>(
        &mut self,
        (tables, layout): (&Tables, &Layout),
        class: usize,
        (slot, number): (u32, u32),
        (state, exited): (u32, u32),
    ) {
        let known = tables.steps.get(tables.classes[class].rows[slot as usize].first_step + number);
        for agent in (0..self.agents.len()).filter(|agent| tables.class_of[*agent] == class) {
            self.learn_row::<W>(tables, layout, agent, slot);
            let row = self.agents[agent].rows[slot as usize];
            if row.count == NO_ROW {
                continue;
            }
            let at = row.first + number;
            let step = self.steps[at as usize];
            let key = Self::key(&step, state, exited);
            if let Some((effect, _)) = tables.steps.effect(known, key)
                && let Some(change) = self.change_of::<W>(&step, state, known, effect)
            {
                self.remember(self.origins[at as usize].deed, key, change);
            }
            self.learn_turns::<W>(tables, at, (slot, known));
        }
    }

    /// Takes over where the turns of a step lead.
    fn learn_turns<const W: usize>(&mut self, tables: &Tables, at: u32, (slot, known): (u32, &Step)) {
        let (step, origin) = (&mut self.steps[at as usize], &mut self.origins[at as usize]);
        let field = self.agents[step.agent as usize].field;
        let count = Steps::turns(known).min(MOST_TURNS);
        let before = step.known;
        for turn in (0..count).filter(|turn| before >> turn & 1 == 0) {
            let after = tables.steps.slot(known, turn).and_then(|after| field.difference(slot, after));
            let Some(difference) = after else { continue };
            if turn as usize >= TURNS && origin.turns == u32::MAX {
                origin.turns = to_u32(self.turns.len());
                self.turns.resize(self.turns.len() + MOST_TURNS as usize - TURNS, [0; 2]);
            }
            let add = add::<W>(field, difference);
            step.known |= 1 << turn;
            match step.turns.get_mut(turn as usize) {
                Some(known) => *known = add,
                None => self.turns[origin.turns as usize + turn as usize - TURNS] = add,
            }
        }
    }

    fn remember(&mut self, number: u32, key: u32, change: Change) {
        let deed = &mut self.deeds[number as usize];
        let before = (deed.first, deed.count);
        put(&mut self.changes, (&mut deed.first, &mut deed.count), key, change, Change::UNKNOWN);
        if (deed.first, deed.count) != before {
            for step in &deed.steps {
                let step = &mut self.steps[*step as usize];
                (step.first, step.count) = (deed.first, deed.count);
            }
        }
    }

    /// Fills the row of an agent's slot, if all of it fits.
    fn learn_row<const W: usize>(&mut self, tables: &Tables, layout: &Layout, agent: usize, slot: u32) {
        let rows = &mut self.agents[agent].rows;
        if rows.len() <= slot as usize {
            rows.resize(slot as usize + 1, Row { standing: 0, first: 0, count: NO_ROW, exited: 0 });
        }
        let known = &tables.classes[tables.class_of[agent]].rows[slot as usize];
        if known.slow || known.accesses || rows[slot as usize].count != NO_ROW {
            return;
        }
        let steps = tables.steps.run(known.first_step, known.steps);
        let fields: Option<Vec<Field>> =
            steps.iter().map(|step| layout.barrier_field(step.barrier)).collect();
        let standing = known.standing.iter().map(|group| self.one(*group)).sum::<Option<u64>>();
        let (Some(fields), Some(standing)) = (fields, standing) else { return };
        let exited = u32::from(known.exited);
        self.agents[agent].rows[slot as usize] =
            Row { standing, first: to_u32(self.steps.len()), count: known.steps, exited };
        let others = to_u32(self.agents.len()) + 1;
        for (step, barrier) in steps.iter().zip(fields) {
            let (times, exits) = if step.key == Key::BarrierAndExits { (others, u32::MAX) } else { (1, 0) };
            let at = to_u32(self.steps.len());
            self.deeds.resize(self.deeds.len().max(step.deed as usize + 1), Deed::default());
            let deed = &mut self.deeds[step.deed as usize];
            deed.steps.push(at);
            self.steps.push(SwiftStep {
                barrier,
                times,
                exits,
                first: deed.first,
                count: deed.count,
                agent: to_u32(agent),
                known: 0,
                turns: [[0; 2]; TURNS],
            });
            self.origins.push(Origin { deed: step.deed, turns: u32::MAX });
            self.learn_turns::<W>(tables, at, (slot, step));
        }
    }

    /// 1 in the field of a group, if it has one.
    fn one(&self, group: u32) -> Option<u64> {
        if group == NOBODY {
            return Some(0);
        }
        let field = group - 1;
        (field < 64 / self.width).then(|| 1 << (field * self.width))
    }

    /// What a deed does to its barrier, if that fits.
    fn change_of<const W: usize>(
        &self,
        step: &SwiftStep,
        state: u32,
        known: &Step,
        effect: &Effect,
    ) -> Option<Change> {
        if effect.turn >= MOST_TURNS {
            return None;
        }
        let most = (1_u64 << (self.width - 1)) - 1;
        // Every field has its guard set and is full, so that taking away what is missing borrows from nobody.
        let mut room = (0..64 / self.width).fold(0, |room, field| room | most << (field * self.width));
        room |= self.guards;
        let groups = if known.standing[0] == known.standing[1] { 1 } else { 2 };
        for (group, left) in known.standing.iter().zip(effect.room).take(groups) {
            room -= self.one(*group)? * most.saturating_sub(u64::from(left));
        }
        let add = add::<W>(step.barrier, step.barrier.difference(state, effect.barrier)?);
        let release = match (effect.release, known.key) {
            (UNKNOWN, Key::Exit) => EXIT,
            (UNKNOWN, _) => NONE,
            (_, Key::Exit) => return None,
            (release, _) => release,
        };
        Some(Change { add, room, release, turn: effect.turn })
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let rows: usize = self.agents.iter().map(|agent| agent.rows.capacity()).sum();
        let heeds: usize = self.heeds_exits.iter().map(|(_, heeds)| heeds.capacity()).sum();
        rows * size_of::<Row>()
            + self.steps.capacity() * size_of::<SwiftStep>()
            + self.turns.capacity() * size_of::<Add>()
            + self.origins.capacity() * (size_of::<Origin>() + size_of::<u32>())
            + self.changes.capacity() * size_of::<Change>()
            + self.deeds.capacity() * size_of::<Deed>()
            + self.afters * size_of::<u32>()
            + self.quiet.capacity()
            + heeds
    }
}

impl Change {
    const UNKNOWN: Self = Self { add: [0; 2], room: 0, release: NONE, turn: 0 };
}

/// What adds a difference to a field.
fn add<const W: usize>(field: Field, difference: u64) -> Add {
    if W > 2 || field.is_in_first_word() { [difference, 0] } else { [0, difference] }
}
