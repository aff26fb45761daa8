//! What the warps of a cluster and what they leave in flight have in common.

use super::misuse::Misuse;
use super::object::{self, Completed};
use super::operands::Object;
use crate::barriers::group::{Group, Report, Step, Turn};
use crate::barriers::observer::{Observer, Stop};
use crate::barriers::runtime::Runtime;

/// Why an instruction did not go through.
pub type Error = Stop<Misuse>;

/// The objects of all CTAs, and who has yet to exit.
pub(super) struct Shared<R: Runtime> {
    /// In common: the warps of each CTA that have yet to exit.
    pub(super) group: Group<R, Vec<usize>, object::Object, ()>,
    pub(super) ctas: usize,
    /// In each CTA.
    pub(super) warps: usize,
    /// In each CTA.
    pub(super) objects: usize,
}

impl<R: Runtime> Shared<R> {
    pub(super) fn new(ctas: usize, warps: usize, objects: usize, observer: impl Observer + 'static) -> Self {
        let all = std::iter::repeat_with(object::Object::default).take(ctas * objects);
        let group = Group::new(ctas * warps, vec![warps; ctas], all, observer);
        Self { group, ctas, warps, objects }
    }

    /// The number of an object among those of all CTAs.
    pub(super) fn index(&self, object: Object) -> u32 {
        (object.cta * self.objects + object.number) as u32
    }

    pub(super) fn cta_of(&self, warp: usize) -> usize {
        warp / self.warps
    }

    /// A step of a warp on an object.
    // clause: ptx.remote-lifetime
    pub(super) fn execute(
        &self,
        step: Step,
        object: Object,
        act: impl FnOnce(&mut object::Object, &mut Report<()>) -> Result<Turn<()>, Misuse>,
    ) -> Result<(), Error> {
        let is_remote = object.cta != self.cta_of(step.agent);
        self.group.execute(step, is_remote, |live, slot, report| match live {
            Some(live) if live[object.cta] == 0 => Err(Misuse::RemoteAfterExit { cta: object.cta }),
            _ => act(slot, report),
        })
    }
}

/// Lets those go who waited for the phase of an object.
pub(super) fn complete(object: u32, completed: Completed, report: &mut Report<()>) {
    if let Some(released) = completed {
        report.complete(object, released.into_iter().map(|warp| (warp, ())).collect());
    }
}
