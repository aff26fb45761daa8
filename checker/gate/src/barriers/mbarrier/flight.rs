//! Copies and commits that are on their way.

use super::object::{Cargo, Moment};
use super::operands::Object;
use super::shared::{Error, Shared, complete};
use crate::barriers::group::{Step, Turn};
use crate::barriers::runtime::Runtime;
use std::sync::Arc;

/// A copy or a commit on its way to an object.
#[must_use = "what is in flight lands at some time"]
pub struct Flight<R: Runtime> {
    pub(super) shared: Arc<Shared<R>>,
    pub(super) warp: usize,
    /// Of those that the warp has left.
    pub(super) number: u32,
    pub(super) object: Object,
    pub(super) begun: Moment,
    pub(super) cargo: Cargo,
}

impl<R: Runtime> Flight<R> {
    /// The CTA on whose object it lands.
    #[must_use]
    pub fn cta(&self) -> usize {
        self.object.cta
    }

    /// The CTA of the warp that has begun it.
    #[must_use]
    pub fn home(&self) -> usize {
        self.shared.cta_of(self.warp)
    }

    /// Whether it is a commit, and no copy.
    #[must_use]
    pub fn is_commit(&self) -> bool {
        matches!(self.cargo, Cargo::Arrivals(_))
    }

    /// Whether it makes no difference to the object which of the two lands.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let what = |flight: &Self| (flight.warp, flight.object, flight.begun, flight.cargo);
        what(self) == what(other)
    }

    /// Lands.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    pub fn land(self) -> Result<(), Error> {
        let Self { shared, warp, number, object, begun, cargo } = self;
        let index = shared.index(object);
        let step = Step { lands: Some(number), ..Step::of(warp, "lands", Some(index)) };
        shared.execute(step, object, |slot, report| {
            complete(index, slot.land(begun, cargo)?, report);
            Ok(Turn::Done(()))
        })
    }
}
