//! XeGPU named barriers.

use crate::journal::{Journal, both, failure};
use barcheck::barriers::xegpu::{Error, MemoryKind, Misuse, Subgroup, Workgroup};
use barcheck::barriers::{Loom, Std, Stop};
use barcheck_model::rule::Rule;

fn rule<T: std::fmt::Debug>(result: Result<T, Error>) -> Rule {
    result.expect_err("misuse").rule().expect("a rule")
}

#[test]
fn one_to_32_barriers_are_allocated_by_all_alike() {
    let workgroup = Workgroup::<Std>::new(2);
    let (one, other) = (workgroup.subgroup(0), workgroup.subgroup(1));
    assert_eq!(rule(one.alloc(0)), Rule::BarrierIdRange);
    assert_eq!(rule(one.alloc(33)), Rule::BarrierIdRange);
    assert_eq!(one.alloc(32), Ok(()));
    assert_eq!(one.alloc(32), Ok(()), "again");
    assert_eq!(rule(other.alloc(31)), Rule::CountMismatch);
    assert_eq!(rule(one.alloc(1)), Rule::CountMismatch);
    assert_eq!(other.alloc(32), Ok(()));
}

#[test]
fn a_handle_needs_an_allocation_of_its_own_subgroup() {
    let workgroup = Workgroup::<Std>::new(2);
    let (one, other) = (workgroup.subgroup(0), workgroup.subgroup(1));
    assert_eq!(rule(one.init(32, 0)), Rule::BarrierIdRange);
    assert_eq!(rule(one.init(0, 0)), Rule::BarrierNotAllocated);
    assert_eq!(one.alloc(4), Ok(()));
    let not_there = Misuse::BarrierNotAllocated { barrier: 4, allocated: Some(4) };
    assert_eq!(one.init(4, 1), Err(Stop::Misuse(not_there)));
    assert_eq!(rule(other.init(3, 1)), Rule::BarrierNotAllocated);
    assert_eq!(rule(one.init(3, 0)), Rule::CountRange);
    assert_eq!(rule(one.init(3, 3)), Rule::CountRange);
    let handle = one.init(3, 2).expect("in range");
    assert_eq!((handle.barrier(), handle.participants()), (3, 2));
}

#[test]
fn arrivals_follow_the_lowering() {
    let journal = Journal::default();
    let workgroup = Workgroup::<Std>::observed(2, journal.clone());
    let (one, other) = (workgroup.subgroup(0), workgroup.subgroup(1));
    assert_eq!((one.alloc(2), other.alloc(2)), (Ok(()), Ok(())));
    let (pair, single) = (one.init(0, 2).expect("a handle"), other.init(0, 1).expect("a handle"));
    assert_eq!(rule(one.wait(pair)), Rule::WaitWithoutArrive);
    assert_eq!(one.arrive(pair), Ok(()));
    assert_eq!(rule(other.arrive(single)), Rule::CountMismatch);
    assert_eq!(rule(one.arrive(pair)), Rule::RepeatedArrival);
    assert_eq!(one.mfence(MemoryKind::Slm), Ok(()));
    assert_eq!(other.arrive(pair), Ok(()));
    assert_eq!(other.wait(single), Ok(()), "a wait uses the id alone");
    assert_eq!(other.arrive(single).map_err(|stop| stop.rule()), Ok(()), "complete at once");
    assert_eq!(other.arrive(single).expect_err("not waited").rule(), Some(Rule::LostNotification));
    assert_eq!((one.exit(), other.exit()), (Ok(()), Ok(())));
    assert_eq!(journal.notes(), ["1 reuse-before-free 0", "0 missing-wait 0", "1 missing-wait 0"]);
}

#[test]
fn what_is_left_in_a_barrier_is_told() {
    let journal = Journal::default();
    let workgroup = Workgroup::<Std>::observed(1, journal.clone());
    let subgroup = workgroup.subgroup(0);
    assert_eq!(subgroup.alloc(1), Ok(()));
    assert_eq!(subgroup.exit(), Ok(()));
    assert_eq!(journal.lines(), ["0 alloc_nbarrier", "0 exit"]);
}

fn meet(subgroup: Subgroup<Loom>, rounds: usize) -> Result<(), Error> {
    subgroup.alloc(1)?;
    let handle = subgroup.init(0, 2)?;
    for _ in 0..rounds {
        subgroup.arrive(handle)?;
        subgroup.wait(handle)?;
    }
    subgroup.exit()
}

#[test]
fn two_subgroups_meet_again_and_again() {
    loom::model(|| {
        let workgroup = Workgroup::<Loom>::new(2);
        let (one, other) = (workgroup.subgroup(0), workgroup.subgroup(1));
        assert_eq!(both::<Loom, _, _>(move || meet(one, 2), || meet(other, 2)), (Ok(()), Ok(())));
    });
}

#[test]
fn a_subgroup_that_comes_once_more_hangs() {
    let text = failure(|| {
        let workgroup = Workgroup::<Loom>::new(2);
        let (one, other) = (workgroup.subgroup(0), workgroup.subgroup(1));
        let _ = both::<Loom, _, _>(move || meet(one, 2), || meet(other, 1));
    });
    assert!(text.contains("deadlock"), "{text}");
}
