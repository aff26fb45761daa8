//! XeGPU: allocation and initialisation at all boundaries, and the signal that an arrival is.

use crate::common::{ByOutcome, rule_names};
use barcheck_model::barrier::BarrierId;
use barcheck_model::barrier::nbarrier::Kind;
use barcheck_model::barrier::xegpu::{Handle, alloc, init};
use barcheck_model::rule::Rule;

const EDGES: [i64; 13] = [i64::MIN, -1, 0, 1, 2, 4, 5, 31, 32, 33, 4096, 1 << 32, i64::MAX];

fn word<T>(outcome: Result<T, Rule>, value: impl Fn(T) -> String) -> String {
    outcome.map_or_else(|rule| rule_names(&[rule]), value)
}

#[test]
fn every_allocation_by_what_the_group_has_allocated() {
    let mut table = String::new();
    for before in [None, Some(1), Some(4), Some(32)] {
        let mut outcomes = ByOutcome::default();
        for count in EDGES {
            outcomes.add(count.to_string(), word(alloc(count, before), |n| format!("{n} allocated")));
        }
        table += &outcomes.under(&format!("before {before:?}"));
    }
    insta::assert_snapshot!(table);
}

#[test]
fn every_initialisation_by_what_the_subgroup_has_allocated() {
    let mut table = String::new();
    for allocated in [None, Some(1), Some(4), Some(32)] {
        let mut outcomes = ByOutcome::default();
        for id in EDGES {
            for participants in [-1, 0, 1, 4, 5] {
                let outcome = word(init(id, participants, allocated, 4), |handle| {
                    format!("barrier {} of {}", handle.id.0, handle.participants)
                });
                outcomes.add(format!("{id} of {participants}"), outcome);
            }
        }
        table += &outcomes.under(&format!("allocated {allocated:?}"));
    }
    insta::assert_snapshot!(table);
}

#[test]
fn one_to_32_barriers_are_allocated_and_all_subgroups_agree() {
    // clause: barcheck.xegpu-id-range
    // clause: barcheck.alloc-agrees
    // clause: xegpu.alloc
    for count in [-1, 0, 33, 4096, 1 << 32, i64::MIN, i64::MAX] {
        assert_eq!(alloc(count, None), Err(Rule::BarrierIdRange));
        assert_eq!(alloc(count, Some(4)), Err(Rule::BarrierIdRange), "the range is checked first");
    }
    assert_eq!((alloc(1, None), alloc(32, None), alloc(4, Some(4))), (Ok(1), Ok(32), Ok(4)));
    assert_eq!(alloc(4, Some(5)), Err(Rule::CountMismatch));
}

#[test]
fn an_id_is_checked_before_its_allocation_and_that_before_the_count() {
    // clause: barcheck.one-rule
    // clause: barcheck.xegpu-id-range
    // clause: xegpu.participants
    assert_eq!(init(32, 0, None, 4), Err(Rule::BarrierIdRange));
    assert_eq!(init(-1, 0, Some(32), 4), Err(Rule::BarrierIdRange));
    assert_eq!(init(0, 0, None, 4), Err(Rule::BarrierNotAllocated));
    assert_eq!(init(4, 0, Some(4), 4), Err(Rule::BarrierNotAllocated));
    assert_eq!(init(3, 0, Some(4), 4), Err(Rule::CountRange));
    assert_eq!(init(3, 5, Some(4), 4), Err(Rule::CountRange));
    assert_eq!(init(31, 4, Some(32), 4), Ok(Handle { id: BarrierId(31), participants: 4 }));
}

#[test]
fn an_arrival_is_a_signal_of_type_0_with_both_counts_equal() {
    // clause: barcheck.xegpu-lowering
    // clause: xegpu.init
    // clause: xegpu.handle
    let what = Handle { id: BarrierId(7), participants: 3 }.arrival();
    assert_eq!((what.id, what.kind, what.producers, what.consumers), (BarrierId(7), Kind::Both, 3, 3));
}
