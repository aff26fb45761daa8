//! Who knows that an object has been initialised, or is not live any more. It is as if that were written to a
//! location of the object's own, which whoever uses the object has to know in memory if in time.

use super::mbarrier::{ObjectId, place_of};
use super::memory::{Location, replace};
use super::protocol::*;
use super::state::{AgentId, World};

/// Whether a location is one of an object.
pub fn is_of_object(protocol: &Protocol, location: Location) -> bool {
    location.array >= protocol.arrays.len()
}

/// The location of an object, if it has one.
fn location(world: &World<'_>, object: ObjectId) -> Option<Location> {
    let protocol = world.protocol();
    let (cta, name, index) = place_of(protocol, object);
    let location = Location { cta, array: protocol.arrays.len() + name, index };
    world.code.overview.watched[name].then_some(location)
}

/// An agent is about to execute an instruction on an object. Who does not know in time of what another one
/// has done may come before that, and finds it not live then.
pub fn used(world: &mut World<'_>, agent: AgentId, object: ObjectId) {
    let Some(location) = location(world, object) else {
        return;
    };
    let known = &world.state.memory.agents[agent].known;
    let mut others = world.state.memory.latest.iter().filter(|a| a.location == location && a.agent != agent);
    if others.any(|access| known.time.contains(access) && !known.memory.contains(access)) {
        world.note("missing-fence");
    }
}

/// An agent has initialised an object, or ended its life.
pub fn changed(world: &mut World<'_>, agent: AgentId, object: ObjectId) {
    if let Some(location) = location(world, object) {
        replace(world, agent, AccessKind::Write, location);
    }
}
