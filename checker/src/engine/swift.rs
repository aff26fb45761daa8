//! The successors of most states, by additions.
//!
//! What [`super::steps`] remembers of a step is laid out here once more, for each agent by itself and for the layout in
//! use: a step adds one number to the word with the agent's field and one to the word with its barrier's field (or, where there
//! are two words at most, their sum for each word). That is the same as setting both fields, since each number is the
//! difference between two values that the field holds: nothing is carried out of it.
//!
//! How many agents stand at arrivals is counted for all groups (see [`super::races`]) in one word: each group has a field,
//! wide enough for twice as many agents as there are, with one bit more, its guard. A step carries the room of its
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

use super::layout::{Field, Layout, Packed, bits};
use super::numbering::{UNKNOWN, to_u32};
use super::races::NOBODY;
use super::recent::Batch;
use super::steps::{Effect, Key, Step};
use super::tables::Tables;

/// No more is taken over once it takes so many bytes: it would leave the caches, for which it is made.
const MOST_BYTES: usize = 1 << 25;

/// [`Change::release`] of a step that completes no generation.
const NONE: u32 = u32::MAX;
/// [`Change::release`] of an exit: it completes none unless some barrier heeds exits.
const EXIT: u32 = u32::MAX - 1;
/// [`Row::count`] of a slot about which nothing is known here.
const NO_ROW: u32 = 1 << 24;

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

/// A step of an agent in a slot.
#[derive(Clone, Copy, Debug)]
struct SwiftStep {
    barrier: Field,
    /// Its effect is remembered under the state of its barrier times this, plus, if all bits of `exits` are set, the agents
    /// exited; else none is.
    times: u32,
    exits: u32,
    agent: u32,
    /// Where its changes are.
    first: u32,
    count: u32,
}

/// What a step does under a key.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// Where states have more than two words, added to the word with the agent's field and to the word with the barrier's
    /// field; else to the first word and to the second.
    add: [u64; 2],
    /// The room of its groups, see the module; 0, with no guard set, if nothing is known.
    room: u64,
    /// The generation completed, in [`Tables::releases`].
    release: u32,
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
    changes: Vec<Change>,
    /// The width of a group's field, the guard included.
    width: u32,
    /// The guards of all fields.
    guards: u64,
    rest: Field,
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
        Self { agents: agents.collect(), width, guards, rest: layout.rest, heeds_exits, ..Self::default() }
    }

    /// Adds every successor of a state, if all that is needed to make them is known and no rule about states may be
    /// violated in it; otherwise nothing.
    #[inline]
    pub(super) fn successors<const W: usize>(
        &self,
        words: &Packed<W>,
        Scratch(ready): &mut Scratch,
        batch: &mut Batch<W>,
    ) -> Option<()> {
        if self.quiet.get(self.rest.get(words) as usize) != Some(&true) {
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
                if row.count == NO_ROW {
                    return None;
                }
                ready.resize(ready.len().max(count + row.count as usize + self.agents.len()), 0);
                for step in row.first + 1..row.first + row.count {
                    ready[count] = step;
                    count += 1;
                }
            }
        }
        if count == 0 {
            return None;
        }
        for (next, step) in batch.room(count).iter_mut().zip(&ready[..count]) {
            let step = &self.steps[*step as usize];
            let change = self.change(step, step.barrier.get(words), exited)?;
            // Whether the change is known, and no more agents stand in the step's groups than there is room for.
            if change.room.wrapping_sub(standing) & change.room & self.guards != self.guards {
                return None;
            }
            *next = if change.release == NONE {
                self.changed(words, step, change)
            } else {
                self.completed(words, step, change)?
            };
        }
        batch.add(count);
        Some(())
    }

    /// The state after a step that concerns no more than its agent and its barrier.
    #[inline(always)]
    fn changed<const W: usize>(&self, words: &Packed<W>, step: &SwiftStep, change: &Change) -> Packed<W> {
        let mut next = *words;
        if W > 2 {
            self.agents[step.agent as usize].field.add(&mut next, change.add[0]);
            step.barrier.add(&mut next, change.add[1]);
        } else {
            next[0] = next[0].wrapping_add(change.add[0]);
            if W == 2 {
                next[W - 1] = next[W - 1].wrapping_add(change.add[1]);
            }
        }
        next
    }

    /// Where a step's change is kept.
    #[inline(always)]
    fn key(step: &SwiftStep, barrier: u32, exited: u32) -> u32 {
        barrier * step.times + (exited & step.exits)
    }

    #[inline(always)]
    fn change(&self, step: &SwiftStep, barrier: u32, exited: u32) -> Option<&Change> {
        let key = Self::key(step, barrier, exited);
        if key >= step.count { None } else { self.changes.get((step.first + key) as usize) }
    }

    /// The state after a step that completes a generation or may do so; `None` if what that does to the other agents is not
    /// all known.
    #[inline(never)]
    fn completed<const W: usize>(
        &self,
        words: &Packed<W>,
        step: &SwiftStep,
        change: &Change,
    ) -> Option<Packed<W>> {
        let mut next = self.changed(words, step, change);
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
        if !tables.quiet[layout.rest.get(words) as usize] || self.bytes() > MOST_BYTES {
            return;
        }
        for agent in 0..self.agents.len() {
            self.learn_row(tables, layout, agent, self.agents[agent].field.get(words));
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
                if self.change(&step, state, exited).is_none_or(|change| change.room == 0) {
                    self.learn_change::<W>(
                        (tables, layout),
                        tables.class_of[agent],
                        (slot, number),
                        (state, exited),
                    );
                }
                if let Some(change) = self.change(&self.steps[(row.first + number) as usize], state, exited)
                    && change.release < EXIT
                {
                    self.learn_release(tables, change.release, words);
                }
            }
        }
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
            let (mine, known) = (&mut mine.after[*class as usize], &known.after[*class as usize]);
            if mine.len() <= slot {
                self.afters += slot + 1 - mine.len();
                mine.resize(slot + 1, UNKNOWN);
            }
            mine[slot] = known.get(slot).copied().unwrap_or(UNKNOWN);
        }
    }

    /// Takes over what the tables know of a step of a class's agents. What one of them meets, the others will meet.
    fn learn_change<const W: usize>(
        &mut self,
        (tables, layout): (&Tables, &Layout),
        class: usize,
        (slot, number): (u32, u32),
        (state, exited): (u32, u32),
    ) {
        let known = tables.steps.get(tables.classes[class].rows[slot as usize].first_step + number);
        for agent in (0..self.agents.len()).filter(|agent| tables.class_of[*agent] == class) {
            self.learn_row(tables, layout, agent, slot);
            let row = self.agents[agent].rows[slot as usize];
            if row.count == NO_ROW {
                continue;
            }
            let step = self.steps[(row.first + number) as usize];
            let key = Self::key(&step, state, exited);
            let effect = tables.steps.effect(known, key).copied();
            let change = effect.and_then(|e| self.change_of::<W>(agent, slot, &step, state, known, e));
            if let Some(change) = change {
                self.remember((row.first + number) as usize, key, change);
            }
        }
    }

    /// Fills the row of an agent's slot, if all of it fits.
    fn learn_row(&mut self, tables: &Tables, layout: &Layout, agent: usize, slot: u32) {
        let rows = &mut self.agents[agent].rows;
        if rows.len() <= slot as usize {
            rows.resize(slot as usize + 1, Row { standing: 0, first: 0, count: NO_ROW, exited: 0 });
        }
        let known = &tables.classes[tables.class_of[agent]].rows[slot as usize];
        if known.slow || rows[slot as usize].count != NO_ROW {
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
        self.steps.extend(steps.iter().zip(fields).map(|(step, barrier)| {
            let (times, exits) = if step.key == Key::BarrierAndExits { (others, u32::MAX) } else { (1, 0) };
            SwiftStep { barrier, times, exits, agent: to_u32(agent), first: 0, count: 0 }
        }));
    }

    /// 1 in the field of a group, if it has one.
    fn one(&self, group: u32) -> Option<u64> {
        if group == NOBODY {
            return Some(0);
        }
        let field = group - 1;
        (field < 64 / self.width).then(|| 1 << (field * self.width))
    }

    fn change_of<const W: usize>(
        &self,
        agent: usize,
        slot: u32,
        step: &SwiftStep,
        state: u32,
        known: &Step,
        effect: Effect,
    ) -> Option<Change> {
        let most = (1_u64 << (self.width - 1)) - 1;
        // Every field has its guard set and is full, so that taking away what is missing borrows from nobody.
        let mut room = (0..64 / self.width).fold(0, |room, field| room | most << (field * self.width));
        room |= self.guards;
        let groups = if known.standing[0] == known.standing[1] { 1 } else { 2 };
        for (group, left) in known.standing.iter().zip(effect.room).take(groups) {
            room -= self.one(*group)? * most.saturating_sub(u64::from(left));
        }
        let field = self.agents[agent].field;
        let mut add = [field.difference(slot, effect.slot)?, step.barrier.difference(state, effect.barrier)?];
        if W <= 2 {
            let first =
                |field: Field, number: u64| if field.is_in_first_word() { [number, 0] } else { [0, number] };
            let (agent, barrier) = (first(field, add[0]), first(step.barrier, add[1]));
            add = [agent[0].wrapping_add(barrier[0]), agent[1].wrapping_add(barrier[1])];
        }
        let release = match (effect.release, known.key) {
            (UNKNOWN, Key::Exit) => EXIT,
            (UNKNOWN, _) => NONE,
            (_, Key::Exit) => return None,
            (release, _) => release,
        };
        Some(Change { add, room, release })
    }

    fn remember(&mut self, step: usize, key: u32, change: Change) {
        let step = &mut self.steps[step];
        if key >= step.count {
            // As in `Steps::remember`.
            let old = step.first as usize..(step.first + step.count) as usize;
            let count = (key + 1).next_power_of_two();
            let first = self.changes.len();
            self.changes.extend_from_within(old);
            let unknown = Change { add: [0; 2], room: 0, release: NONE };
            self.changes.resize(first + count as usize, unknown);
            (step.first, step.count) = (to_u32(first), count);
        }
        self.changes[(step.first + key) as usize] = change;
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let rows: usize = self.agents.iter().map(|agent| agent.rows.capacity()).sum();
        let heeds: usize = self.heeds_exits.iter().map(|(_, heeds)| heeds.capacity()).sum();
        rows * size_of::<Row>()
            + self.steps.capacity() * size_of::<SwiftStep>()
            + self.changes.capacity() * size_of::<Change>()
            + self.afters * size_of::<u32>()
            + self.quiet.capacity()
            + heeds
    }
}
