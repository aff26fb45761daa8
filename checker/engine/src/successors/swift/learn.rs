//! How [`Swift`] is filled from what the tables say.

use super::{
    Add, Change, EXIT, LOCAL_EFFECTS, MOST_BYTES, MOST_LOCAL_EFFECTS, NO_ROW, NONE, Operation, Origin,
    Released, Row, Swift, SwiftStep,
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
        if !tables.quiet[layout.residual.get(words) as usize] || self.bytes() > MOST_BYTES {
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
                let Some(local_effect) = self.local_effect((&step, at), change.local_effect) else {
                    continue;
                };
                let (next, others) = if change.release < EXIT {
                    let next = self.completed(words, &step, change, local_effect);
                    (next, self.others(words, step.agent, change.release))
                } else {
                    (Some(self.changed(words, &step, change, local_effect)), None)
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
        change.is_some_and(|change| self.local_effect((step, at), change.local_effect).is_some())
    }

    /// Takes over what does not depend on steps.
    fn learn_components(&mut self, tables: &Tables) {
        self.quiet.extend(&tables.quiet[self.quiet.len()..]);
        for ((_, depends), barrier) in self.depends_on_exits.iter_mut().zip(&tables.barriers) {
            depends.extend(&barrier.depends_on_exits[depends.len()..]);
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

    /// Takes over what the tables know of a step of a class's agents. What one of them meets, the others will
    /// meet.
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
                self.remember(self.origins[at as usize].operation, key, change);
            }
            self.learn_local_effects::<W>(tables, at, (slot, known));
        }
    }

    /// Takes over where the local effects of a step lead.
    fn learn_local_effects<const W: usize>(&mut self, tables: &Tables, at: u32, (slot, known): (u32, &Step)) {
        let (step, origin) = (&mut self.steps[at as usize], &mut self.origins[at as usize]);
        let field = self.agents[step.agent as usize].field;
        let count = Steps::local_effects(known).min(MOST_LOCAL_EFFECTS);
        let before = step.known;
        for local_effect in (0..count).filter(|local_effect| before >> local_effect & 1 == 0) {
            let after =
                tables.steps.slot(known, local_effect).and_then(|after| field.difference(slot, after));
            let Some(difference) = after else { continue };
            if local_effect as usize >= LOCAL_EFFECTS && origin.local_effects == u32::MAX {
                origin.local_effects = to_u32(self.local_effects.len());
                self.local_effects
                    .resize(self.local_effects.len() + MOST_LOCAL_EFFECTS as usize - LOCAL_EFFECTS, [0; 2]);
            }
            let add = add::<W>(field, difference);
            step.known |= 1 << local_effect;
            match step.local_effects.get_mut(local_effect as usize) {
                Some(known) => *known = add,
                None => {
                    self.local_effects
                        [origin.local_effects as usize + local_effect as usize - LOCAL_EFFECTS] = add;
                }
            }
        }
    }

    fn remember(&mut self, number: u32, key: u32, change: Change) {
        let operation = &mut self.operations[number as usize];
        let before = (operation.first, operation.count);
        put(&mut self.changes, (&mut operation.first, &mut operation.count), key, change, Change::UNKNOWN);
        if (operation.first, operation.count) != before {
            for step in &operation.steps {
                let step = &mut self.steps[*step as usize];
                (step.first, step.count) = (operation.first, operation.count);
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
            self.operations
                .resize(self.operations.len().max(step.operation as usize + 1), Operation::default());
            let operation = &mut self.operations[step.operation as usize];
            operation.steps.push(at);
            self.steps.push(SwiftStep {
                barrier,
                times,
                exits,
                first: operation.first,
                count: operation.count,
                agent: to_u32(agent),
                known: 0,
                local_effects: [[0; 2]; LOCAL_EFFECTS],
            });
            self.origins.push(Origin { operation: step.operation, local_effects: u32::MAX });
            self.memory.add_step(tables, step);
            self.learn_local_effects::<W>(tables, at, (slot, step));
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

    /// What an operation class does to its barrier, if that fits.
    fn change_of<const W: usize>(
        &self,
        step: &SwiftStep,
        state: u32,
        known: &Step,
        effect: &Effect,
    ) -> Option<Change> {
        if effect.local_effect >= MOST_LOCAL_EFFECTS {
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
        Some(Change { add, room, release, local_effect: effect.local_effect })
    }
}

/// What adds a difference to a field.
fn add<const W: usize>(field: Field, difference: u64) -> Add {
    if W > 2 || field.is_in_first_word() { [difference, 0] } else { [0, difference] }
}
