//! Some threads make successors ahead of the search, which enters them in order: it goes as if one had done
//! it.
//!
//! States that wait to be explored are handed out in blocks, in order. Whoever is free takes the next one and
//! makes its successors, as far as [`Swift`] can; where it cannot, it leaves a deferred state. The calling
//! thread takes the blocks back in order and does with them what it does alone: it adds the successors to the
//! store, asks the model where there is a deferred state, and looks at the budgets where that is due. So the
//! model is asked the same questions in the same order as by one thread alone, and states get the same
//! numbers; that states behind have been explored before makes no difference, since what is known of a step
//! never changes. Where the search has to pause, what was made of the states behind is forgotten.
//!
//! The other threads have a copy of what is known of steps. The calling thread adds to it what it has learnt,
//! when they let go of it between two states. Until then they leave deferred states where there need not be
//! any.

use super::Search;
use super::position::{BETWEEN_LOOKS, Pause};
use crate::packed::batch::BATCH;
use crate::packed::batch::Batch;
use crate::packed::layout::Packed;
use crate::packed::numbering::to_u32;
use crate::parallel::block::Made;
use crate::parallel::queue::{Block, End, Shared};
use crate::parallel::worker::Worker;
use crate::settings::Settings;
use crate::successors::expand::Opened;
use crate::successors::swift::{Scratch, Swift};
use crate::visited::{StateId, Store};
use std::thread;

/// More threads than this would wait for the calling one, which enters for all of them.
const MOST_THREADS: usize = 4;
/// The search begins with several threads once so many states wait to be explored.
const FEW: u32 = 256;
/// States of a block, at most, and bytes that they take.
const MOST: StateId = 1024;
const MOST_BYTES: usize = 1 << 15;
/// States of a block, at least, if there are so many: to hand over fewer takes as long as to explore them.
const FEWEST: StateId = 256;
/// One part in so many of the states that wait is handed out together.
const SHARE: StateId = 4;
/// Blocks under way for each thread, at most.
const AHEAD: usize = 8;
/// States that the calling thread explores before it looks again whether there is something to enter.
const AT_ONCE: usize = 64;

/// When a search is explored so, and with how many threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pipeline {
    threads: usize,
    /// So many states have to wait.
    few: StateId,
    /// Even before the search has turned out to be large.
    from_the_start: bool,
}

impl Pipeline {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            // Who found a state has to be known to the state, and not to its run, where states are forgotten.
            threads: if settings.compact { 1 } else { settings.threads().min(MOST_THREADS) },
            few: settings.many_states.unwrap_or(FEW),
            from_the_start: settings.many_states.is_some(),
        }
    }

    /// Whether to begin.
    pub(crate) fn begins(self, search: &Search<'_>, states: usize) -> bool {
        self.threads > 1
            && search.at.next > 0
            && (search.has_rehearsed || self.from_the_start)
            && states - search.at.next as usize >= self.few as usize
    }
}

/// What the calling thread keeps.
#[expect(clippy::vec_box, reason = "blocks go to and fro")]
struct Lead<'l, 's, const W: usize> {
    shared: &'l Shared<'s, W>,
    worker: Worker<W>,
    /// How many other threads there are.
    others: usize,
    /// The next state to hand out, and the number of the block that begins with it.
    handed: StateId,
    number: usize,
    /// So many blocks have been taken back.
    taken: usize,
    /// New blocks.
    new: Vec<Box<Block<W>>>,
    /// The block that the calling thread explores itself.
    mine: Option<Box<Block<W>>>,
    /// Blocks to be used again.
    spare: Vec<Box<Block<W>>>,
    has_asked_for_memory: bool,
    /// States at which something was learnt.
    learnt: Vec<Packed<W>>,
    opened: Opened,
    scratch: Scratch,
    batch: Batch<W>,
}

impl<'l, 's, const W: usize> Lead<'l, 's, W> {
    fn new(shared: &'l Shared<'s, W>, others: usize, next: StateId) -> Self {
        Self {
            shared,
            worker: Worker::default(),
            others,
            handed: next,
            number: 0,
            taken: 0,
            new: Vec::new(),
            mine: None,
            spare: Vec::new(),
            has_asked_for_memory: false,
            learnt: Vec::new(),
            opened: Opened::default(),
            scratch: Scratch::default(),
            batch: Batch::default(),
        }
    }

    /// Cuts states that wait into blocks. None goes beyond the end of a level or a state at which a look is
    /// due.
    fn cut(&mut self, level_end: StateId, store: &Store<W>) {
        while self.number - self.taken < AHEAD * (self.others + 1) {
            let waiting = to_u32(store.len()) - self.handed;
            let is_idle = self.number == self.taken;
            if waiting == 0 || waiting < FEWEST && !is_idle {
                return;
            }
            let most = MOST.min(to_u32(MOST_BYTES / size_of::<Packed<W>>())).max(1);
            let most = (waiting / SHARE).max(FEWEST).min(most).min(waiting);
            let next_look = (self.handed + 1) | (BETWEEN_LOOKS - 1);
            let end = (self.handed + most).min(next_look);
            let end = if self.handed < level_end { end.min(level_end) } else { end };
            let mut block = self.spare.pop().unwrap_or_default();
            (block.number, block.first, block.explored) = (self.number, self.handed, 0);
            block.output.clear();
            block.states.clear();
            store.read(self.handed..end, &mut block.states);
            (self.number, self.handed) = (self.number + 1, end);
            if waiting < FEWEST {
                self.mine = Some(block);
            } else {
                self.new.push(block);
            }
        }
    }

    /// Hands out what is new, and takes back the next block if it is made.
    fn exchange(&mut self, store: &mut Store<W>) -> Result<Option<Box<Block<W>>>, Pause> {
        let mut queue = self.shared.lock();
        if queue.is_over {
            // A thread has panicked, and so will this one.
            return Err(Pause::Stopped);
        }
        let slots = self.number - self.taken;
        queue.made.resize_with(slots, || None);
        let mut is_new = !self.new.is_empty();
        queue.open.extend(self.new.drain(..));
        if let Some(memory) = queue.memory.take() {
            store.keep_spare(memory);
            self.has_asked_for_memory = false;
        } else if !self.has_asked_for_memory && store.wants_spare() {
            (queue.wants_memory, self.has_asked_for_memory, is_new) = (true, true, true);
        }
        let made = queue.take();
        // What the others will come to soon is left to them; one may be at the memory.
        let others = self.others - usize::from(self.has_asked_for_memory).min(self.others);
        if made.is_none() && self.mine.is_none() && queue.open.len() > others {
            self.mine = queue.open.pop_front();
        }
        drop(queue);
        if is_new {
            self.shared.tell();
        }
        self.taken += usize::from(made.is_some());
        Ok(made)
    }

    /// Explores for a while, or waits until the queue has changed.
    fn explore_or_wait(&mut self, known: &Swift, seen: u32) {
        let Some(mut block) = self.mine.take() else {
            self.shared.wait(seen);
            return;
        };
        let mut left = AT_ONCE;
        self.shared.explore(known, &mut self.worker, &mut block, || {
            left -= 1;
            left == 0
        });
        if block.explored == block.states.len() {
            self.shared.lock().put(block);
        } else {
            self.mine = Some(block);
        }
    }

    /// Bytes that all threads take, about, given one of the blocks.
    fn bytes(&self, block: &Block<W>, known: &Swift) -> u64 {
        let threads = self.others + 1;
        let each = self.worker.bytes() + AHEAD * block.bytes();
        (threads * each + known.bytes()) as u64
    }
}

impl Search<'_> {
    /// Explores with several threads, until there is a reason to pause.
    pub(crate) fn explore_in_pipeline<const W: usize>(
        &mut self,
        store: &mut Store<W>,
        pipeline: Pipeline,
    ) -> Pause {
        store.threads = pipeline.threads;
        let (symmetry, layout) = (self.symmetry.clone(), self.layout.clone());
        let shared = Shared::new(self.swift.clone(), &symmetry, &layout, self.at.level_end - self.at.next);
        let shared = &shared;
        thread::scope(|scope| {
            let _end = End(shared);
            let name = |number| thread::Builder::new().name(format!("search {number}"));
            // Where there are none to be had, it is as good, but slower.
            let helps = |number: &usize| name(*number).spawn_scoped(scope, || shared.help()).is_ok();
            let others = (1..pipeline.threads).filter(helps).count();
            self.lead(store, Lead::new(shared, others, self.at.next))
        })
    }

    /// What the calling thread does.
    fn lead<const W: usize>(&mut self, store: &mut Store<W>, mut lead: Lead<'_, '_, W>) -> Pause {
        loop {
            lead.cut(self.at.level_end, store);
            let seen = lead.shared.changes();
            let block = match lead.exchange(store) {
                Ok(Some(block)) => block,
                Ok(None) => {
                    lead.explore_or_wait(&self.swift, seen);
                    continue;
                }
                Err(pause) => return pause,
            };
            let pause = self.enter(store, &mut lead, &block);
            if let Some(pause) = pause {
                return pause;
            }
            lead.shared.publish(&self.tables, &mut lead.learnt);
            self.usage.threads = self.usage.threads.max(lead.bytes(&block, &self.swift));
            lead.spare.push(block);
            // What is due before the next state is done as by one thread alone.
            if self.begins_level(store) {
                return Pause::Complete;
            }
            lead.shared.expect(self.at.level_end - self.at.next);
            let looks = self.at.next % BETWEEN_LOOKS == BETWEEN_LOOKS - 1;
            if let Some(pause) = looks.then(|| self.look(store)).flatten() {
                return pause;
            }
        }
    }

    /// Adds what was made of a block to the store, and fills the deferred states. Each thread has dropped
    /// only what it had met itself: what several of them have met is dropped by the store's filter, which
    /// knows all that was entered before.
    fn enter<const W: usize>(
        &mut self,
        store: &mut Store<W>,
        lead: &mut Lead<'_, '_, W>,
        block: &Block<W>,
    ) -> Option<Pause> {
        debug_assert_eq!(self.at.next, block.first);
        let Lead { opened, scratch, batch, learnt, .. } = lead;
        let output = &block.output;
        let (mut counted, mut from) = (0, block.first);
        let pause = output.each(|made| {
            if batch.len() >= BATCH {
                store.insert_batch(batch, from);
            }
            match made {
                Made::Run(states, parent) => {
                    from = if batch.len() == 0 { parent } else { from };
                    batch.extend(states);
                }
                Made::Deferred(deferred_state) => {
                    from = if batch.len() == 0 { deferred_state.state } else { from };
                    self.at.transitions += deferred_state.transitions
                        - std::mem::replace(&mut counted, deferred_state.transitions);
                    self.at.next = deferred_state.state;
                    let before = self.times_learnt;
                    let pause = self.explore(store, (opened, scratch), batch);
                    if self.times_learnt > before {
                        learnt.push(store.get(deferred_state.state));
                    }
                    self.at.next += u32::from(pause.is_none());
                    return pause;
                }
            }
            None
        });
        store.insert_batch(batch, from);
        if pause.is_none() {
            self.at.transitions += output.transitions - counted;
            self.at.next = block.first + to_u32(block.states.len());
        }
        pause
    }
}
