//! mbarrier objects of the PTX ISA, and what lands on them: copies and commits.
//!
//! Source: PTX ISA, the sections on `mbarrier`, on asynchronous copies and on the shared memory of clusters.
//! What it leaves open follows the readings of the project: a landing in another phase than it was begun in,
//! and a phase that has all its arrivals and too many bytes, are errors.
//!
//! A warp is one thread here. What its lanes do at one instruction they do together, as one step: arrivals
//! and bytes are those of one lane, taken as often as there are active lanes ([`Warp::set_lanes`], one in
//! the beginning).
//!
//! A copy or a commit is left in flight: [`Warp::copy`] and [`Warp::commit`] give a [`Flight`], which lands
//! on whatever thread calls [`Flight::land`], at whatever time. Where that is a thread of its own, loom and
//! shuttle try every time, or many.
//!
//! ```
//! use barcheck_gate::barriers::mbarrier::{Arrival, Cluster, Phase};
//! use barcheck_gate::barriers::{Runtime, Std};
//!
//! let cta = Cluster::<Std>::new(2, 1);
//! let full = cta.object(0, 0);
//! cta.begin_with(full, 1);
//! let (load, math) = (cta.warp(0), cta.warp(1));
//! let math = Std::spawn(move || math.wait(full, Phase::Parity(0)));
//! load.arrive(full, Arrival::expecting(4096)).expect("the one arrival");
//! let copy = load.copy(full, 4096).expect("the object is live");
//! let landing = Std::spawn(move || copy.land());
//! Std::join(landing).expect("no panic").expect("as many bytes as announced");
//! Std::join(math).expect("no panic").expect("the phase completes");
//! ```

mod flight;
mod misuse;
mod object;
mod operands;
mod shared;

pub use flight::Flight;
pub use misuse::Misuse;
pub use operands::{Arrival, Object, Phase, Token};
pub use shared::Error;

use super::group::{Report, Step, Turn};
use super::observer::Observer;
use super::runtime::Runtime;
use object::{Arrivals, Awaited, Cargo, Completed, Life};
use shared::{Shared, complete};
use std::cell;
use std::sync::Arc;

/// The CTAs of a cluster, or a single one: their warps and mbarrier objects. Clones are the same.
///
/// The observer knows warps and objects by their numbers, those of one CTA after the other.
pub struct Cluster<R: Runtime> {
    shared: Arc<Shared<R>>,
}

/// The hand that one warp has on the objects.
pub struct Warp<R: Runtime> {
    of: Cluster<R>,
    number: usize,
    lanes: cell::Cell<u32>,
    /// Operations left in flight.
    left: cell::Cell<u32>,
}

impl<R: Runtime> Cluster<R> {
    /// One CTA of so many warps and objects.
    #[must_use]
    pub fn new(warps: usize, objects: usize) -> Self {
        Self::observed(1, warps, objects, ())
    }

    /// CTAs, each of so many warps and objects, with somebody who is told of every step.
    #[must_use]
    pub fn observed(ctas: usize, warps: usize, objects: usize, observer: impl Observer + 'static) -> Self {
        Self { shared: Arc::new(Shared::new(ctas, warps, objects, observer)) }
    }

    /// An object.
    ///
    /// # Panics
    ///
    /// If there is no such CTA, or no such object in it.
    #[must_use]
    pub fn object(&self, cta: usize, number: usize) -> Object {
        assert!(cta < self.shared.ctas && number < self.shared.objects, "object {number} of CTA {cta}");
        Object { cta, number }
    }

    /// The hand of one warp, by its number among those of all CTAs. It is to be taken once.
    ///
    /// # Panics
    ///
    /// If there is no such warp.
    #[must_use]
    pub fn warp(&self, number: usize) -> Warp<R> {
        let warps = self.shared.ctas * self.shared.warps;
        assert!(number < warps, "warp {number} of {warps}");
        Warp { of: self.clone(), number, lanes: cell::Cell::new(1), left: cell::Cell::new(0) }
    }

    /// Initialises an object before the first step, which nobody is told.
    ///
    /// # Panics
    ///
    /// If it is initialised already, or no object can expect so many arrivals.
    pub fn begin_with(&self, object: Object, count: u32) {
        let checked = object::count(i64::from(count));
        let begun = self.shared.group.within(self.shared.index(object), |slot, _| slot.init(checked?));
        begun.expect("an object that is not in use, and a count in range");
    }

    /// The objects whose present phase has arrivals or bytes and is not complete, by their numbers.
    #[must_use]
    pub fn holding_arrivals(&self) -> Vec<u32> {
        let mut found = Vec::new();
        self.shared.group.look(|number, slot| found.extend(slot.holds_arrivals().then_some(number)));
        found
    }

    /// Gives the cluster up: every blocked and every later instruction ends with
    /// [`Stop::Aborted`](super::Stop::Aborted).
    pub fn abort(&self) {
        self.shared.group.abort();
    }
}

impl<R: Runtime> Clone for Cluster<R> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<R: Runtime> Warp<R> {
    /// The warp's number among those of all CTAs.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The CTA that the warp belongs to.
    #[must_use]
    pub fn cta(&self) -> usize {
        self.of.shared.cta_of(self.number)
    }

    /// So many lanes execute what comes next.
    pub fn set_lanes(&self, lanes: u32) {
        self.lanes.set(lanes);
    }

    /// `mbarrier.init`: begins the life of an object.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    pub fn init(&self, object: Object, count: i64) -> Result<(), Error> {
        let several = if self.lanes.get() > 1 { Err(Misuse::InitialisedTwice) } else { Ok(()) };
        let checked =
            self.local(object).and_then(|()| object::count(count)).and_then(|count| several.map(|()| count));
        self.on_slot("mbarrier.init", object, checked, |slot, count, _| slot.init(count))
    }

    /// `mbarrier.inval`: ends the life of an object.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    pub fn inval(&self, object: Object) -> Result<(), Error> {
        let several = if self.lanes.get() > 1 { Err(Misuse::NotLive) } else { Ok(()) };
        let checked = self.local(object).and(several);
        self.on_slot("mbarrier.inval", object, checked, |slot, (), _| slot.inval())
    }

    /// `mbarrier.arrive`, `mbarrier.arrive.expect_tx`, `mbarrier.arrive_drop`: arrives and goes on. The token
    /// names the phase; of the object of another CTA there is none to be had.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    // clause: ptx.mbarrier-every-lane, ptx.mbarrier-token, ptx.remote-arrive
    pub fn arrive(&self, object: Object, arrival: Arrival) -> Result<Option<Token>, Error> {
        let lanes = self.lanes.get();
        let checked = object::count(arrival.count).and_then(|count| {
            let bytes = object::bytes(arrival.bytes, lanes)?;
            let Arrival { drops, no_complete, .. } = arrival;
            Ok(Arrivals { count: count.saturating_mul(lanes), bytes, drops, no_complete })
        });
        let mut moment = None;
        self.on_life("mbarrier.arrive", object, checked, |life, arrivals| {
            moment = Some(life.now());
            life.arrive(arrivals)
        })?;
        Ok(moment.filter(|_| !self.is_remote(object)).map(|moment| Token { object, moment }))
    }

    /// `mbarrier.expect_tx`: announces bytes.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    pub fn expect_tx(&self, object: Object, bytes: i64) -> Result<(), Error> {
        let checked = object::bytes(bytes, self.lanes.get());
        self.on_life("mbarrier.expect_tx", object, checked, Life::count_bytes)
    }

    /// `mbarrier.complete_tx`: completes bytes.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    pub fn complete_tx(&self, object: Object, bytes: i64) -> Result<(), Error> {
        let checked = object::bytes(bytes, self.lanes.get());
        self.on_life("mbarrier.complete_tx", object, checked, |life, bytes| life.count_bytes(-bytes))
    }

    /// Waits until a phase is complete: `mbarrier.try_wait` in a loop.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    pub fn wait(&self, object: Object, phase: Phase) -> Result<(), Error> {
        let checked = self.awaited(object, phase);
        let step = self.step("mbarrier.wait", object);
        match checked {
            Err(misuse) => self.of.shared.group.alone(step, Err(misuse), None),
            Ok(awaited) => self.of.shared.execute(step, object, |slot, _| {
                let complete = slot.live()?.wait(self.number, awaited)?;
                Ok(if complete { Turn::Done(()) } else { Turn::Blocked })
            }),
        }
    }

    /// `mbarrier.test_wait`: whether a phase is complete.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    pub fn test_wait(&self, object: Object, phase: Phase) -> Result<bool, Error> {
        self.ask("mbarrier.test_wait", object, phase, false)
    }

    /// A single `mbarrier.try_wait`, which may give up though the phase is complete.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    pub fn try_wait(&self, object: Object, phase: Phase, gives_up: bool) -> Result<bool, Error> {
        self.ask("mbarrier.try_wait", object, phase, gives_up)
    }

    /// `cp.async.bulk` and its relatives: begins a copy that completes so many bytes when it lands.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    // clause: ptx.bulk-copy-asynchronous
    pub fn copy(&self, object: Object, bytes: i64) -> Result<Flight<R>, Error> {
        self.leave("cp.async.bulk", object, object::bytes(bytes, self.lanes.get()).map(Cargo::Bytes))
    }

    /// `tcgen05.commit` and its relatives: one arrival for each lane, when what it began before is done.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    pub fn commit(&self, object: Object) -> Result<Flight<R>, Error> {
        self.leave("commit", object, Ok(Cargo::Arrivals(self.lanes.get())))
    }

    /// An access to the shared memory of CTAs, none of which must have exited.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    pub fn reach(&self, ctas: impl IntoIterator<Item = usize>) -> Result<(), Error> {
        let step = Step::of(self.number, "access", None);
        self.of.shared.group.in_common(step, |live| {
            let gone = ctas.into_iter().find(|cta| *cta != self.cta() && live[*cta] == 0);
            gone.map_or(Ok(()), |cta| Err(Misuse::RemoteAfterExit { cta }))
        })
    }

    /// The end of the warp's program.
    ///
    /// # Errors
    ///
    /// The cluster given up.
    pub fn exit(self) -> Result<(), Error> {
        let group = &self.of.shared.group;
        group.in_common(Step::of(self.number, "exit", None), |live| {
            live[self.cta()] -= 1;
            Ok(())
        })
    }

    /// The same, where `rest` tells the step: what else belongs to it.
    pub(crate) fn exit_with<T>(self, rest: impl FnOnce() -> T) -> T {
        // Without others nobody asks who has exited.
        if self.of.shared.ctas == 1 {
            return rest();
        }
        self.of.shared.group.within_common(|live| {
            live[self.cta()] -= 1;
            rest()
        })
    }
}

impl<R: Runtime> Warp<R> {
    fn step(&self, name: &'static str, object: Object) -> Step {
        Step::of(self.number, name, Some(self.of.shared.index(object)))
    }

    fn is_remote(&self, object: Object) -> bool {
        object.cta != self.cta()
    }

    // clause: ptx.mbarrier-local
    fn local(&self, object: Object) -> Result<(), Misuse> {
        if self.is_remote(object) { Err(Misuse::NotLocal { cta: object.cta }) } else { Ok(()) }
    }

    fn awaited(&self, object: Object, phase: Phase) -> Result<Awaited, Misuse> {
        self.local(object)?;
        Ok(match phase {
            Phase::Parity(parity) => Awaited::Parity(object::parity(parity)?),
            Phase::Of(token) => token.awaited_on(object),
        })
    }

    /// An instruction with operands that have been checked.
    fn on_slot<O>(
        &self,
        name: &'static str,
        object: Object,
        operands: Result<O, Misuse>,
        act: impl FnOnce(&mut object::Object, O, &mut Report<()>) -> Result<(), Misuse>,
    ) -> Result<(), Error> {
        let step = self.step(name, object);
        match operands {
            Err(misuse) => self.of.shared.group.alone(step, Err(misuse), None),
            Ok(operands) => self
                .of
                .shared
                .execute(step, object, |slot, report| act(slot, operands, report).map(Turn::Done)),
        }
    }

    /// The same on a live object, whose phase it may complete.
    fn on_life<O>(
        &self,
        name: &'static str,
        object: Object,
        operands: Result<O, Misuse>,
        act: impl FnOnce(&mut Life, O) -> Result<Completed, Misuse>,
    ) -> Result<(), Error> {
        let index = self.of.shared.index(object);
        self.on_slot(name, object, operands, |slot, operands, report| {
            let completed = act(slot.live()?, operands)?;
            complete(index, completed, report);
            Ok(())
        })
    }

    fn ask(&self, name: &'static str, object: Object, phase: Phase, gives_up: bool) -> Result<bool, Error> {
        let mut answer = false;
        self.on_slot(name, object, self.awaited(object, phase), |slot, awaited, _| {
            answer = slot.live()?.test(awaited, gives_up)?;
            Ok(())
        })?;
        Ok(answer)
    }

    fn leave(
        &self,
        name: &'static str,
        object: Object,
        cargo: Result<Cargo, Misuse>,
    ) -> Result<Flight<R>, Error> {
        let mut begun = None;
        self.on_slot(name, object, cargo, |slot, cargo, _| {
            begun = Some((slot.leave()?, cargo));
            Ok(())
        })?;
        let number = self.left.replace(self.left.get() + 1);
        let (begun, cargo) = begun.expect("it has gone through");
        let shared = Arc::clone(&self.of.shared);
        Ok(Flight { shared, warp: self.number, number, object, begun, cargo })
    }
}
