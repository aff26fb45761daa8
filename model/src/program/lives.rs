//! Who needs to know that an mbarrier object has been initialised, and on which objects other CTAs arrive.

use super::instruction::BarrierOp as _;
use super::{Array, ArrayId, BarrierInstruction, LocationId, MbarrierKind, ObjectsId, Op, Program, Space};

/// Whether an instruction says that it orders in time what it does not order in memory. Copies do so too, but
/// no initialisation is known by their landing alone in practice.
fn orders_in_time_alone(op: &Op) -> bool {
    let is_copy = |op: &Op| match op {
        Op::Barrier(BarrierInstruction::Mbarrier(op)) => matches!(op.kind, MbarrierKind::Copy { .. }),
        _ => false,
    };
    op.is_relaxed() && !is_copy(op)
}

impl Program {
    /// The same program with locations for objects that agents initialise, where what orders them may order
    /// nothing in memory: the initialisation is a write, and every use of the object needs to know of it.
    // clause: ptx.mbarrier-init-order
    #[must_use]
    pub fn with_lives(mut self) -> Self {
        let ops = || self.roles.iter().flat_map(|role| &role.code.ops);
        let mut made: Vec<usize> = Vec::new();
        if ops().any(orders_in_time_alone) {
            let initialised = ops().filter_map(|op| match op {
                Op::Barrier(BarrierInstruction::Mbarrier(op)) if op.initialises() => Some(op.objects.index()),
                _ => None,
            });
            made.extend(initialised);
        }
        made.sort_unstable();
        made.dedup();
        for number in made {
            let first = LocationId(self.declared_locations());
            let objects = &mut self.objects[number];
            objects.lives = Some(ArrayId::from_index(self.arrays.len()));
            let (name, length) = (objects.name.clone(), objects.length);
            self.arrays.push(Array { name, space: Space::Shared, first, length });
        }
        self
    }

    /// Whether other CTAs arrive on some of these objects, or let something land there.
    #[must_use]
    pub fn is_reached_from_afar(&self, objects: ObjectsId) -> bool {
        let mut ops = self.roles.iter().flat_map(|role| &role.code.ops);
        let is_far = |op: &Op| match op {
            Op::Barrier(BarrierInstruction::Mbarrier(op)) => op.objects == objects && op.is_remote(),
            _ => false,
        };
        self.ctas > 1 && ops.any(is_far)
    }

    /// Whether a location stands for an object.
    #[must_use]
    pub fn is_life(&self, location: LocationId) -> bool {
        let number = location.0 % self.declared_locations().max(1);
        let first = self.objects.iter().filter_map(|objects| objects.lives).min();
        first.is_some_and(|first| number >= self.arrays[first.index()].first.0)
    }
}
