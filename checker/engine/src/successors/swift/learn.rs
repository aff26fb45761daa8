//! How [`Swift`] is filled from what the tables say.

use super::{
    Add, Change, Deed, EXIT, MOST_BYTES, MOST_TURNS, NO_ROW, NONE, Origin, Released, Row, Swift, SwiftStep,
    TURNS,
};
use crate::packed::layout::{Field, Layout, Packed};
use crate::packed::numbering::{UNKNOWN, to_u32};
use crate::packed::rows::put;
use crate::successors::races::NOBODY;
use crate::successors::steps::{Effect, Key, Step, Steps};
use crate::successors::tables::Tables;

impl Swift {
    /// Takes over what the tables know of the steps from a state.
    pub(crate) fn learn<const W: usize>(&mut self, tables: &Tables, layout: &Layout, words: &Packed<W>) {
        self.learn_components(tables);
        if !tables.quiet[layout.rest.get(words) as usize] || self.bytes() > MOST_BYTES {
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
        if !self.memory.is_none() && (self.memory.is_held(words) || rows.iter().any(|row| row.accesses)) {
            self.learn_memory(tables, layout, words, (&rows, exited));
        }
    }

    /// Takes over what the tables know of what steps from a state do to memory.
    fn learn_memory<const W: usize>(
        &mut self,
        tables: &Tables,
        layout: &Layout,
        words: &Packed<W>,
        (rows, exited): (&[Row], u32),
    ) {
        let Some(held) = self.memory.learn_held(tables, layout, words) else { return };
        for (agent, row) in rows.iter().enumerate() {
            let slot = self.agents[agent].field.get(words);
            for number in 0..row.count {
                let at = row.first + number;
                let step = self.steps[at as usize];
                let key = Self::key(&step, step.barrier.get(words), exited);
                let first = tables.classes[tables.class_of[agent]].rows[slot as usize].first_step;
                let known = tables.steps.get(first + number);
                let Some((effect, after)) = tables.steps.effect(known, key) else { continue };
                let Some(change) = self.change(&step, step.barrier.get(words), exited) else { continue };
                let Some(turn) = self.turn((&step, at), change.turn) else { continue };
                let (next, others) = if change.release < EXIT {
                    let next = self.completed(words, &step, change, turn);
                    (next, self.others(words, step.agent, change.release))
                } else {
                    (Some(self.changed(words, &step, change, turn)), None)
                };
                let Some(next) = next else { continue };
                let acts = ((agent, after), known);
                self.memory.learn((tables, layout), (words, &next), held, at, acts, (effect, key, others));
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
            let after = tables.after(known, *class as usize, to_u32(slot));
            mine[slot] = after.unwrap_or(UNKNOWN);
            if let Some(after) = after {
                self.memory.learn_posture(tables, release, *class as usize, (to_u32(slot), after));
            }
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
            rows.resize(
                slot as usize + 1,
                Row { standing: 0, first: 0, count: NO_ROW, exited: 0, accesses: false },
            );
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
        let (first, exited) = (to_u32(self.steps.len()), u32::from(known.exited));
        self.agents[agent].rows[slot as usize] =
            Row { standing, first, count: known.steps, exited, accesses: known.accesses };
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
            self.memory.add_step(tables, step);
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
}

/// What adds a difference to a field.
fn add<const W: usize>(field: Field, difference: u64) -> Add {
    if W > 2 || field.is_in_first_word() { [difference, 0] } else { [0, difference] }
}
