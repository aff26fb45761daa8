//! Split barriers.

use crate::journal::{Journal, both, clash, executions, failure};
use Scope::{Invocation as Alone, Subgroup, Workgroup as All};
use barcheck::barriers::split::{Error, Invocation, Misuse, Scope, Workgroup};
use barcheck::barriers::{Loom, Runtime, Shuttle, Std, Stop};
use barcheck_model::rule::Rule;

fn rule(result: Result<(), Error>) -> Rule {
    result.expect_err("misuse").rule().expect("a rule")
}

#[test]
fn an_invocation_arrives_and_waits_in_turn() {
    for scope in [All, Subgroup, Alone] {
        let workgroup = Workgroup::<Std, u32>::new(1, 1);
        let invocation = workgroup.invocation(0);
        assert_eq!(rule(invocation.wait(scope, 0)), Rule::WaitWithoutArrive);
        assert_eq!(invocation.arrive(scope, 0), Ok(()));
        assert_eq!(rule(invocation.arrive(scope, 0)), Rule::RepeatedArrival);
        assert_eq!(rule(invocation.control_barrier(scope, 1)), Rule::RepeatedArrival);
        assert_eq!(invocation.wait(scope, 0), Ok(()));
        assert_eq!(rule(invocation.wait(scope, 0)), Rule::WaitWithoutArrive);
        assert_eq!(invocation.control_barrier(scope, 1), Ok(()));
        assert_eq!(invocation.arrive(scope, 0), Ok(()));
    }
}

#[test]
fn scopes_do_not_know_of_one_another() {
    let workgroup = Workgroup::<Std, u32>::new(1, 1);
    let invocation = workgroup.invocation(0);
    assert_eq!(invocation.arrive(All, 0), Ok(()));
    assert_eq!(invocation.control_barrier(Subgroup, 0), Ok(()));
    assert_eq!(rule(invocation.wait(Alone, 0)), Rule::WaitWithoutArrive);
    assert_eq!(invocation.wait(All, 0), Ok(()));
}

#[test]
fn arrivals_of_a_generation_come_from_one_instance() {
    let workgroup = Workgroup::<Std, (u32, u32)>::new(2, 2);
    let (one, other) = (workgroup.invocation(0), workgroup.invocation(1));
    assert_eq!(one.arrive(All, (7, 0)), Ok(()));
    assert_eq!(rule(other.arrive(All, (7, 1))), Rule::NonuniformBarrier, "another iteration");
    assert_eq!(rule(other.control_barrier(All, (7, 0))), Rule::NonuniformBarrier, "not an arrive");
    assert_eq!(other.arrive(All, (7, 0)), Ok(()), "nothing had changed");
    assert_eq!(one.arrive(Subgroup, (7, 0)), Ok(()));
    let below = other.arrive(Subgroup, (8, 0));
    assert_eq!(below, Err(Stop::Misuse(Misuse::Nonuniform { scope: Subgroup })));
    assert_eq!(below.expect_err("misuse").rule(), None, "the client API decides");
}

#[test]
fn waits_of_a_generation_come_from_one_instance() {
    let workgroup = Workgroup::<Std, u32>::new(2, 2);
    let (one, other) = (workgroup.invocation(0), workgroup.invocation(1));
    for invocation in [&one, &other] {
        assert_eq!(invocation.arrive(All, 0), Ok(()));
    }
    assert_eq!(one.wait(All, 1), Ok(()));
    assert_eq!(one.arrive(All, 2), Ok(()), "the next generation");
    assert_eq!(rule(other.wait(All, 3)), Rule::NonuniformBarrier, "still the first one");
    assert_eq!(other.wait(All, 1), Ok(()));
    assert_eq!(other.arrive(All, 2), Ok(()));
    assert_eq!(other.wait(All, 3), Ok(()), "the instance of another generation");
    assert_eq!(rule(one.wait(All, 1)), Rule::NonuniformBarrier);
}

#[test]
fn an_exit_leaves_its_waits_behind() {
    let journal = Journal::default();
    let workgroup = Workgroup::<Std, u32>::observed(4, 2, journal.clone());
    let invocation = workgroup.invocation(2);
    for scope in [All, Subgroup, Alone] {
        assert_eq!(invocation.arrive(scope, 0), Ok(()));
    }
    assert_eq!(invocation.memory_barrier(), Ok(()));
    assert_eq!(invocation.exit(), Ok(()));
    assert_eq!(journal.notes(), ["2 missing-wait 0", "2 missing-wait 2", "2 missing-wait"]);
}

fn rounds<R: Runtime>(invocation: &Invocation<R, u32>, scope: Scope) -> Result<(), Error> {
    for round in 0..2 {
        invocation.arrive(scope, round)?;
        invocation.wait(scope, round)?;
    }
    invocation.control_barrier(scope, 9)
}

#[test]
fn both_forms_share_the_generations() {
    let executions = executions(None, || {
        let workgroup = Workgroup::<Loom, u32>::new(2, 2);
        let (one, other) = (workgroup.invocation(0), workgroup.invocation(1));
        let ends = both::<Loom, _, _>(move || rounds(&one, All), || rounds(&other, All));
        assert_eq!(ends, (Ok(()), Ok(())));
    });
    assert!(executions > 2);
}

#[test]
fn subgroups_meet_by_themselves() {
    shuttle::check_random(
        || {
            let workgroup = Workgroup::<Shuttle, u32>::new(5, 2);
            let run = |number| {
                let invocation = workgroup.invocation(number);
                Shuttle::spawn(move || {
                    rounds(&invocation, Subgroup)?;
                    rounds(&invocation, All)?;
                    invocation.exit()
                })
            };
            let handles: Vec<_> = (0..5).map(run).collect();
            for handle in handles {
                assert_eq!(Shuttle::join(handle).expect("no panic"), Ok(()));
            }
        },
        300,
    );
    loom::model(|| {
        let workgroup = Workgroup::<Loom, u32>::new(3, 2);
        let (one, other) = (workgroup.invocation(0), workgroup.invocation(1));
        let ends = both::<Loom, _, _>(move || rounds(&one, Subgroup), || rounds(&other, Subgroup));
        assert_eq!(ends, (Ok(()), Ok(())), "the third is in another one");
    });
}

#[test]
fn a_participant_that_is_missing_hangs_the_rest() {
    let text = failure(|| {
        let workgroup = Workgroup::<Loom, u32>::new(2, 1);
        let (one, other) = (workgroup.invocation(0), workgroup.invocation(1));
        let _ = both::<Loom, _, _>(move || rounds(&one, All), || other.exit());
    });
    assert!(text.contains("deadlock"), "{text}");
}

#[test]
fn either_of_two_instances_is_found_to_differ() {
    loom::model(|| {
        let workgroup = Workgroup::<Loom, u32>::new(2, 2);
        let arrive = |number: usize| {
            let (invocation, workgroup) = (workgroup.invocation(number), workgroup.clone());
            move || {
                let end = invocation.control_barrier(All, number as u32).expect_err("no meeting");
                workgroup.abort();
                end
            }
        };
        assert_eq!(clash(arrive(0), arrive(1)), [None, Some(Rule::NonuniformBarrier)]);
    });
}
