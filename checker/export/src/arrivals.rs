//! Who stands at which arrival: what the rule `arrival-race` compares with the room that there is.

use super::columns::Barriers;
use super::group::Group;
use super::node::Act;
use barcheck_model::barrier::Announced;
use std::collections::{BTreeMap, BTreeSet};

/// Nodes, and how often an agent there counts.
pub(super) type Standing = BTreeMap<usize, usize>;

/// What arrivals have in common that are counted together.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) bar: usize,
    /// `nbarrier`, `xegpu`: producers announced; elsewhere the count, in warps.
    pub(super) producers: usize,
    pub(super) consumers: Option<usize>,
}

/// Who stands at an arrival: the nodes by how many fragments of an agent there stand at one, for all arrivals
/// or, with consumers, for producers and consumers.
pub(super) fn arrivals(group: &Group, barriers: &Barriers) -> BTreeMap<Key, [Standing; 2]> {
    let mut found: BTreeMap<Key, [Standing; 2]> = BTreeMap::new();
    for (number, node) in group.nodes.iter().enumerate() {
        let mut fragments = BTreeSet::new();
        // The alternatives of one fragment are one arrival.
        for step in node.steps.iter().filter(|step| fragments.insert(step.fragment)) {
            let Some((key, counts)) = announced(&step.act, barriers) else { continue };
            let standing = found.entry(key).or_default();
            for (standing, counts) in standing.iter_mut().zip(counts) {
                if counts {
                    *standing.entry(number).or_default() += 1;
                }
            }
        }
    }
    found
}

/// What an arrival announces, and whether it counts among the first and the second of those that stand there.
fn announced(act: &Act, barriers: &Barriers) -> Option<(Key, [bool; 2])> {
    let at = act.standing()?;
    let (producers, consumers) = match at.announced {
        // A barrier that waits for every live agent always has room.
        Announced::Live => return None,
        Announced::Whole(arrivals) => (arrivals, None),
        Announced::Sides(producers, consumers) => (producers, Some(consumers as usize)),
    };
    let key = Key { bar: barriers.number(at.barrier), producers: producers as usize, consumers };
    Some((key, [at.produces, at.consumes && at.announced.has_sides()]))
}
