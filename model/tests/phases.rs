//! What barriers of phases answer to the questions that every system is asked: mbarrier objects, what is in
//! flight to them, and the barrier of the cluster.

use barcheck_model::barrier::mbarrier::{self, Acquire, Delivery, Live, MOST, Moved};
use barcheck_model::barrier::{
    Announced, Applied, Around, Arrival, BarrierId, BarrierState, Blocking, Dependence, Instruction, Landing,
    Operation, Part, Seat, Token, cluster, registers,
};
use barcheck_model::program::{AccessKind, LocationId, Reach};
use barcheck_model::rule::Rule;

struct Nobody;

impl Around for Nobody {
    fn agents(&self, _: BarrierId) -> u32 {
        2
    }

    fn exits_release(&self) -> bool {
        false
    }

    fn exited(&self) -> u32 {
        0
    }

    fn exited_outside(&self, _: BarrierId) -> u32 {
        0
    }

    fn is_in_flight(&self, _: BarrierId) -> bool {
        false
    }
}

const HERE: LocationId = LocationId(3);

fn on_object(what: mbarrier::What) -> mbarrier::Action {
    mbarrier::Action { object: 0, what }
}

fn arrive(how: Arrival, token: bool) -> mbarrier::What {
    let kept = if token { mbarrier::Keeping::Token } else { mbarrier::Keeping::Nothing };
    mbarrier::What::Arrive { count: 1, bytes: 0, dropped: 0, no_complete: false, how, kept }
}

fn is(instruction: &impl Instruction) -> (Part, Dependence, Blocking) {
    (instruction.part(), instruction.dependence(false), instruction.blocking())
}

#[test]
fn each_instruction_on_an_object_is_what_it_is_to_a_phase() {
    use mbarrier::What;
    let even = mbarrier::Phase::Parity(false);
    let (alone, more) = (Dependence::Barrier, Dependence::More);
    for (what, expected) in [
        (What::Init(1), (Part::Begins, more, Blocking::Never)),
        (What::Inval, (Part::Begins, more, Blocking::Never)),
        (arrive(Arrival::Publishing, false), (Part::Arrives, alone, Blocking::Never)),
        (What::CountBytes(8), (Part::Counts, alone, Blocking::Never)),
        (What::Wait(even, Acquire::Now), (Part::Observes, alone, Blocking::Sometimes)),
        (What::Ask(even, Acquire::Now, true), (Part::Asks, alone, Blocking::Asks)),
        (What::Copy(8, Moved::to(HERE)), (Part::Counts, more, Blocking::Never)),
        (What::Commit(1), (Part::Arrives, more, Blocking::Never)),
        (fills_arrive(1, true), (Part::Arrives, more, Blocking::Never)),
    ] {
        let action = on_object(what);
        assert_eq!(is(&action), expected, "{what:?}");
        let waits = matches!(what, What::Ask(..)).then_some(on_object(What::Wait(even, Acquire::Now)));
        assert_eq!(action.as_wait(), waits, "{what:?}");
        let written = matches!(what, What::Copy(..)).then_some((AccessKind::Copy, HERE));
        assert_eq!(action.begins(), [None, written], "{what:?}");
        let stands = matches!(what, What::FillsArrive { .. }).then_some(0);
        assert_eq!(action.stands_for_fills(), stands, "{what:?}");
    }
}

/// Who waits for a phase need not have arrived, and others count neither its arrivals nor its predicates:
/// what engines ask for the sake of other barriers is answered with no.
fn asks_nothing_of_others(instruction: &impl Instruction) {
    assert_eq!((instruction.standing(), instruction.ordering()), (None, None));
    let seats = [true, false].map(|notified| Seat { notified, ..Seat::default() });
    assert!(seats.iter().all(|seat| !instruction.may_overtake_wait(*seat)));
    assert!(!instruction.is_alone());
    assert_eq!(instruction.most_counted(64), None);
}

// clause: ptx.mbarrier-every-lane, ptx.cluster-wait, ptx.registers-aligned
#[test]
fn lanes_wait_for_an_object_apart_and_for_the_cluster_and_for_registers_together() {
    use mbarrier::{Phase, What};
    let objects = [
        What::Init(1),
        arrive(Arrival::AfterFence(Reach::Cta), false),
        What::Wait(Phase::OfToken, Acquire::Now),
        What::Commit(1),
    ];
    for action in objects.map(on_object) {
        asks_nothing_of_others(&action);
        assert!(action.is_by_fragment());
    }
    for what in [cluster::What::Arrive { how: Arrival::Publishing }, cluster::What::Wait] {
        let action = cluster::Action { barrier: BarrierId(16), what };
        asks_nothing_of_others(&action);
        assert!(!action.is_by_fragment());
        assert_eq!((action.as_wait(), action.begins(), action.stands_for_fills()), (None, [None; 2], None));
        assert_eq!([0, 1].map(|pick| action.with_pick(pick)), [action; 2]);
    }
    for takes in [true, false] {
        let action = registers::Action::check(BarrierId(17), (64, 64), takes).expect("as many as it has");
        asks_nothing_of_others(&action);
        assert!(!action.is_by_fragment());
    }
}

/// Phases go on without announcements, without exits, and without instances of one instruction.
fn is_a_barrier_of_phases(barrier: &impl BarrierState) {
    let room = [Announced::Live, Announced::Whole(3), Announced::Sides(2, 1)].map(|all| barrier.room(all));
    assert_eq!(room, [None, Some((3, 3)), Some((2, 1))], "what is announced decides alone");
    assert!(barrier.is_kept_for_waits(), "a wait may come at any later time");
    assert_eq!(barrier.instances(), [None, None]);
}

// clause: ptx.mbarrier-phase-complete, ptx.cluster-exited
#[test]
fn exits_complete_nothing_but_the_generation_of_the_cluster() {
    use mbarrier::Barrier;
    let object = Barrier::Live(Live { pending: 1, ..Live::new(2) });
    is_a_barrier_of_phases(&object);
    assert!([false, true].iter().all(|release| !object.depends_on_exits(*release)));
    assert!(object.completed_by_exit(mbarrier::id(0), &Nobody).is_none());
    let barrier = cluster::Barrier { arrived: 2 };
    is_a_barrier_of_phases(&barrier);
    assert!([false, true].iter().all(|release| barrier.depends_on_exits(*release)));
    assert!(barrier.completed_by_exit(BarrierId(16), &Nobody).is_some());
    // It counts arrivals, and nothing that would come in another order, or besides them.
    assert!(!barrier.depends_on_order() && !barrier.has_all_arrivals());
    assert!(!Nobody.repeats_count(), "that is a matter of barriers with counts");
}

#[test]
fn announcements_of_two_sides_are_told_apart() {
    let announced = [Announced::Live, Announced::Whole(2), Announced::Sides(1, 1)];
    assert_eq!(announced.map(Announced::has_sides), [false, false, true]);
}

/// What lands and does nothing besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lands;

impl Operation<cluster::Barrier> for Lands {
    fn barrier(&self) -> BarrierId {
        BarrierId(16)
    }

    fn land(&self, barrier: &cluster::Barrier) -> Result<Landing<cluster::Barrier>, Rule> {
        Ok(Landing { barrier: *barrier, completed: None })
    }
}

#[test]
fn what_lands_is_awaited_and_carries_nothing_unless_it_says_so() {
    assert!(Lands.is_awaited() && !Lands.publishes() && !Lands.is_arrival());
    assert_eq!((Lands.slot(), Lands.with_slot(5)), (None, Lands));
    assert_eq!((Lands.bytes(), Lands.accesses()), (None, [None; 2]));
}

// clause: ptx.mbarrier-try-wait
#[test]
fn who_asks_gives_up_only_where_that_is_open_and_picked() {
    use mbarrier::{Phase, What};
    let asks = |gives_up| on_object(What::Ask(Phase::OfToken, Acquire::Now, gives_up));
    assert_eq!([0, 1].map(|pick| asks(true).with_pick(pick)), [asks(false), asks(true)]);
    assert_eq!([0, 1].map(|pick| asks(false).with_pick(pick)), [asks(false); 2]);
    let waits = on_object(What::Wait(Phase::OfToken, Acquire::Now));
    assert_eq!(waits.with_pick(1), waits);
}

#[test]
fn each_instruction_on_the_barrier_of_the_cluster_is_what_it_is_to_a_generation() {
    let action = |what| cluster::Action { barrier: BarrierId(16), what };
    let arrives = action(cluster::What::Arrive { how: Arrival::Publishing });
    assert_eq!(is(&arrives), (Part::Arrives, Dependence::BarrierAndExits, Blocking::Never));
    assert_eq!(is(&action(cluster::What::Wait)), (Part::Waits, Dependence::Barrier, Blocking::Sometimes));
    for (arrived, holds) in [(0, false), (1, true)] {
        let barrier = cluster::Barrier { arrived };
        assert_eq!(barrier.is_initial(), !holds);
        assert_eq!([barrier.holds_arrivals(), barrier.depends_on_exits(false)], [holds; 2]);
    }
}

/// An arrival for `cp.async`, which publishes what its agent knew or not.
fn fills_arrive(lanes: u32, publishes: bool) -> mbarrier::What {
    mbarrier::What::FillsArrive { lanes, counted: false, publishes }
}

// clause: ptx.mbarrier-relaxed-wait
#[test]
fn a_wait_that_is_relaxed_says_how_far_the_fence_has_to_reach() {
    use barcheck_model::program::Scope;
    use mbarrier::{Phase, What};
    let even = Phase::Parity(false);
    for (acquire, scope) in [
        (Acquire::Now, None),
        (Acquire::AtFence(Reach::Cta), Some(Scope::Workgroup)),
        (Acquire::AtFence(Reach::Cluster), Some(Scope::Device)),
    ] {
        for what in [What::Wait(even, acquire), What::Ask(even, acquire, true)] {
            let ordering = on_object(what).ordering();
            assert_eq!(ordering.map(|(scope, _)| scope), scope, "{what:?}");
            assert!(ordering.is_none_or(|(_, semantics)| !semantics.acquire && !semantics.release));
        }
    }
}

/// What an instruction leaves in flight, from the even phase of an object that expects some arrivals.
fn left(what: mbarrier::What) -> Delivery {
    let barrier = mbarrier::Barrier::Live(Live::new(4));
    match on_object(what).apply(&barrier, Seat::default(), 0, &Nobody) {
        Ok(Applied::Leaves(_, operation) | Applied::LeavesCounted(_, operation)) => operation,
        other => panic!("{other:?}"),
    }
}

// clause: ptx.bulk-copy-completes, ptx.commit-arrives
#[test]
fn copies_bring_bytes_and_their_own_write_and_commits_all_that_came_before() {
    use mbarrier::What;
    for (what, awaited, publishes, bytes) in [
        (What::Copy(8, Moved::to(HERE)), true, false, Some(8)),
        (What::Copy(0, Moved::to(HERE)), false, false, Some(0)),
        (What::Commit(3), true, true, None),
        (fills_arrive(3, false), true, false, None),
        (fills_arrive(3, true), true, true, None),
    ] {
        let operation = left(what);
        assert_eq!((operation.is_awaited(), operation.publishes()), (awaited, publishes), "{what:?}");
        assert_eq!((operation.bytes(), operation.is_arrival()), (bytes, bytes.is_none()), "{what:?}");
        assert_eq!(operation.accesses(), [None, bytes.map(|_| (AccessKind::Copy, HERE))], "{what:?}");
        assert_eq!((operation.slot(), operation.with_slot(5).slot()), (None, Some(5)));
    }
}

// clause: ptx.commit-arrives, ptx.mbarrier-every-lane
#[test]
fn a_commit_arrives_once_for_each_lane() {
    let lands = |pending| {
        let barrier = mbarrier::Barrier::Live(Live { pending, ..Live::new(4) });
        let landing = left(mbarrier::What::Commit(3)).land(&barrier)?;
        Ok(landing.completed.is_some())
    };
    assert_eq!([lands(4), lands(3), lands(2)], [Ok(false), Ok(true), Err(Rule::OverArrival)]);
}

// clause: ptx.mbarrier-token
#[test]
fn a_token_is_kept_where_the_arrival_says_so() {
    let barrier = mbarrier::Barrier::Live(Live::new(4));
    let seat = |token| match on_object(arrive(Arrival::Publishing, token)).apply(
        &barrier,
        Seat::default(),
        0,
        &Nobody,
    ) {
        Ok(Applied::Arrives(effect, Arrival::Publishing)) => effect.seat.token,
        other => panic!("{other:?}"),
    };
    assert_eq!([seat(true), seat(false)], [Token::Present, Token::None]);
}

#[test]
fn an_object_in_use_is_not_as_it_was_in_the_beginning_and_knows_whether_all_have_arrived() {
    use mbarrier::Barrier;
    let all = Barrier::Live(Live { pending: 0, bytes: 8, ..Live::new(1) });
    let some = Barrier::Live(Live::new(1));
    assert_eq!([Barrier::Dead, some, all].map(|object| object.is_initial()), [true, false, false]);
    assert_eq!([Barrier::Dead, some, all].map(|object| object.has_all_arrivals()), [false, false, true]);
    // More was announced than may be waited for at a time, though less of it is left.
    let most = i32::try_from(MOST).unwrap_or(i32::MAX);
    let much = Barrier::Live(Live { bytes: most, announced: MOST + 1, ..Live::new(1) });
    assert!(much.depends_on_order());
}
