//! Split barriers, step by step: generations, instances, scopes.

use crate::common::*;
use barcheck_model::program::Target::SplitBarrier;
use barcheck_model::program::*;

fn arrive() -> S {
    bare(SplitKind::Arrive, Scope::Workgroup)
}

fn wait() -> S {
    bare(SplitKind::Wait, Scope::Workgroup)
}

fn both() -> S {
    bare(SplitKind::Both, Scope::Workgroup)
}

fn many(agents: u32, body: Vec<S>) -> Program {
    Group::new(SplitBarrier, agents).subgroups_of(agents).many(agents, body).build()
}

#[test]
fn all_arrive_and_each_wait_passes_or_blocks() {
    // clause: split_barrier.arrive
    // clause: split_barrier.wait
    let mut run = Run::new(many(3, vec![arrive(), wait()]));
    assert_eq!(run.log("0 0 1"), ["arrive b0", "block", "arrive b0"]);
    assert_eq!(run.play("2"), "arrive b0, complete b0, free 0, notify 1, notify 2");
    assert_eq!(run.log("1 2"), ["pass b0", "pass b0"]);
    assert!(run.state.barriers.is_empty());
}

#[test]
fn whole_barriers_and_split_ones_share_their_generations() {
    // clause: split_barrier.control-barrier
    let role = |first: bool| {
        let body = vec![iff(lt(Expr::Agent, n(i64::from(first))), vec![]), arrive(), wait(), both()];
        Group::new(SplitBarrier, 2).subgroups_of(2).many(2, body).build()
    };
    let mut run = Run::new(role(false));
    assert_eq!(
        run.log("0 1 0 0 1 1")[3..],
        ["arrive b0, block", "pass b0", "arrive b0, block, complete b0, free 0, free 1"]
    );
    // An unsplit barrier does not meet an arrive: they are different statements.
    let mixed = Group::new(SplitBarrier, 2).subgroups_of(2);
    let branch = if_else(eq(Expr::Agent, n(0)), vec![both()], vec![arrive(), wait()]);
    assert_eq!(last(mixed.many(2, vec![branch]).build(), "0 1"), "END nonuniform-barrier");
}

#[test]
fn arriving_twice_or_with_a_whole_barrier_in_between_is_repeated() {
    // clause: split_barrier.opencl-no-second-arrive
    // clause: split_barrier.vulkan-no-second-arrive
    // clause: barcheck.whole-barrier-counts
    assert_eq!(last(many(2, vec![arrive(), arrive()]), "0 0"), "END repeated-arrival");
    assert_eq!(last(many(2, vec![arrive(), both(), wait()]), "0 0"), "END repeated-arrival");
    // Also when the generation has completed in the meantime.
    assert_eq!(last(many(2, vec![arrive(), arrive()]), "0 1 0"), "END repeated-arrival");
}

#[test]
fn waiting_without_an_arrival_ends_the_path() {
    // clause: split_barrier.opencl-wait-after-arrive
    // clause: split_barrier.vulkan-wait-after-arrive
    assert_eq!(last(many(2, vec![wait()]), "0"), "END wait-without-arrive");
    assert_eq!(last(many(1, vec![arrive(), wait(), wait()]), "0 0 0"), "END wait-without-arrive");
    assert_eq!(last(many(1, vec![both(), wait()]), "0 0"), "END wait-without-arrive");
}

#[test]
fn leaving_without_a_wait_is_noted_and_releases_nobody() {
    // clause: split_barrier.opencl-all-wait
    // clause: barcheck.exits-release-nothing
    let mut run = Run::new(many(2, vec![arrive()]));
    assert_eq!(run.log("0 0"), ["arrive b0", "exit ! missing-wait 0"]);
    assert_eq!(run.log("1 1"), ["arrive b0, complete b0, notify 0, notify 1", "exit ! missing-wait 1"]);
    let absent = Group::new(SplitBarrier, 3).many(2, vec![arrive(), wait()]).one(vec![]).build();
    let mut run = Run::new(absent);
    run.play("0 0 1 1");
    assert_eq!(run.judgement(), "! deadlock 0,1");
}

#[test]
fn other_statements_of_arrive_or_wait_are_other_instances() {
    // clause: split_barrier.arrive-uniform
    // clause: split_barrier.wait-uniform
    // clause: split_barrier.opencl-all-arrive
    // clause: barcheck.same-instance
    let first = || eq(Expr::Agent, n(0));
    let arms = |a, b| vec![if_else(first(), a, b)];
    let arrivals = [arms(vec![arrive()], vec![arrive()]), vec![wait()]].concat();
    assert_eq!(last(many(2, arrivals), "0 1"), "END nonuniform-barrier");
    let waits = || [vec![arrive()], arms(vec![wait()], vec![wait()])].concat();
    assert_eq!(last(many(2, waits()), "0 0 1 1"), "END nonuniform-barrier");
    // Passing waits of a completed generation are compared with one another as well.
    assert_eq!(last(many(2, waits()), "0 1 0 1"), "END nonuniform-barrier");
    // An `if` inside shared code is no difference.
    let shared = vec![iff(first(), vec![S::Op(Op::Fence(Fence::Nothing))]), arrive(), wait()];
    assert_eq!(last(many(2, shared), "1 0 0"), "arrive b0, complete b0, notify 0, notify 1");
    // Two blocks with equal text are different statements.
    let body = vec![arrive(), wait()];
    let blocks = Group::new(SplitBarrier, 2).one(body.clone()).one(body).build();
    assert_eq!(last(blocks, "0 1"), "END nonuniform-barrier");
}

/// Agent 0 goes around the loop `ahead` times more, without a barrier, before its arrival.
fn in_iteration(ahead: i64) -> Program {
    let skips = bin(BinaryOp::LogicalAnd, eq(Expr::Agent, n(0)), lt(v(0), n(ahead)));
    let body = vec![iff(skips, vec![S::Continue]), arrive(), wait()];
    many(2, vec![S::For(0, n(0), n(3), body)])
}

#[test]
fn another_iteration_is_another_instance() {
    // clause: barcheck.same-instance
    // clause: split_barrier.opencl-all-arrive
    assert_eq!(last(in_iteration(0), "0 1"), "arrive b0, complete b0, notify 0, notify 1");
    assert_eq!(last(in_iteration(1), "0 1"), "END nonuniform-barrier");
    assert_eq!(last(in_iteration(1), "1 0"), "END nonuniform-barrier");
}

#[test]
fn after_a_generation_that_matched_counting_starts_anew() {
    // clause: barcheck.same-instance
    // Agent 1 skips the second iteration: it arrives from the third while agent 0 arrives from the second.
    let skips = bin(BinaryOp::LogicalAnd, eq(Expr::Agent, n(1)), eq(v(0), n(1)));
    let body = vec![iff(skips, vec![S::Continue]), arrive(), wait()];
    let program = || many(2, vec![S::For(0, n(0), n(4), body.clone())]);
    assert_eq!(last(program(), "0 1 0 1"), "pass b0");
    assert_eq!(last(program(), "0 1 0 1 0 1"), "END nonuniform-barrier");
    // In step for ever, the state comes back.
    for (body, round) in
        [(vec![both()], "0 1"), (vec![arrive(), wait()], "0 1 0 1"), (vec![arrive(), wait()], "0 0 1 1")]
    {
        let mut run = Run::new(many(2, vec![forever(body)]));
        run.play(round);
        let once = run.state.clone();
        run.play(round);
        assert_eq!(run.state, once);
    }
    let body = vec![forever(vec![bare(SplitKind::Both, Scope::Subgroup)])];
    let mut run = Run::new(many(2, body));
    run.play("0 1");
    let once = run.state.clone();
    assert_eq!(run.play("0 1"), "arrive b1, block, complete b1, free 0, free 1");
    assert_eq!(run.state, once, "in a subgroup as well");
}

#[test]
fn iterations_of_a_loop_without_a_barrier_do_not_matter() {
    // clause: barcheck.same-instance
    let times = add(n(1), eq(Expr::Agent, n(0)));
    let inner = S::For(1, n(0), v(2), vec![S::Op(Op::Fence(Fence::Nothing))]);
    let mut run = Run::new(many(2, vec![set(2, times), inner, both()]));
    assert_eq!(run.log("0 0 0")[2], "arrive b0, block");
    assert_eq!(run.play("1 1"), "arrive b0, block, complete b0, free 0, free 1");
}

#[test]
fn a_loop_entered_again_is_counted_from_its_entry() {
    // clause: barcheck.same-instance
    // Agent 0 skips one iteration of the first loop, both end it, and meet in the second loop's first.
    let skips = |i: u32| bin(BinaryOp::LogicalAnd, eq(Expr::Agent, n(0)), lt(v(i), n(1)));
    let inner = S::For(1, n(0), add(n(1), skips(0)), vec![iff(skips(0), vec![S::Continue]), both()]);
    let mut run = Run::new(many(2, vec![S::For(0, n(0), n(2), vec![inner, iff(skips(0), vec![both()])])]));
    // Agent 0 runs its first inner loop twice without a barrier, then meets nobody at the other statement.
    assert_eq!(run.log("0 1"), ["arrive b0, block", "END nonuniform-barrier"]);
    let inner = S::For(1, n(0), n(2), vec![iff(lt(v(0), n(1)), vec![S::Continue]), both()]);
    let outer = S::For(0, bin(BinaryOp::Mul, n(1), eq(Expr::Agent, n(1))), n(2), vec![inner]);
    // Agent 0 has been through the inner loop once more, and is one outer iteration further.
    assert_eq!(last(many(2, vec![outer]), "0 1"), "END nonuniform-barrier");
    let inner = S::For(1, n(0), n(2), vec![iff(lt(v(1), v(2)), vec![S::Continue]), both()]);
    let again = vec![
        set(2, n(2)),
        S::While(
            Some(Condition::Value(lt(n(0), v(2)))),
            vec![set(2, bin(BinaryOp::Mul, n(1), not(eq(v(2), n(1))))), S::Break],
        ),
    ];
    let program = many(2, [again, vec![inner]].concat());
    assert_eq!(last(program, "0 1"), "arrive b0, block, complete b0, free 0, free 1");
}

#[test]
fn barriers_in_an_inner_loop_count_both_loops() {
    // clause: barcheck.same-instance
    // Agent 0 leaves the inner loop early: its next arrival is in the next outer iteration.
    let leaves = bin(BinaryOp::LogicalAnd, eq(Expr::Agent, n(0)), eq(v(1), n(1)));
    let inner = S::For(1, n(0), n(2), vec![iff(leaves, vec![S::Break]), both()]);
    let program = many(2, vec![S::For(0, n(0), n(2), vec![inner])]);
    assert_eq!(last(program.clone(), "0 1"), "arrive b0, block, complete b0, free 0, free 1");
    assert_eq!(last(program, "0 1 0 1"), "END nonuniform-barrier");
}

#[test]
fn counting_starts_at_the_arrival_also_where_the_wait_comes_an_iteration_later() {
    // clause: barcheck.same-instance
    let body = vec![iff(lt(n(0), v(0)), vec![wait()]), arrive()];
    let mut run = Run::new(many(2, vec![S::For(0, n(0), n(3), body), wait()]));
    assert_eq!(run.log("0 0 1"), ["arrive b0", "block", "arrive b0, complete b0, free 0, notify 1"]);
    assert_eq!(run.log("1 1 0"), ["pass b0", "arrive b0", "arrive b0, complete b0, notify 0, notify 1"]);
    assert_eq!(
        run.log("0 0 1 1"),
        ["pass b0", "arrive b0", "pass b0", "arrive b0, complete b0, notify 0, notify 1"]
    );
}

#[test]
fn loops_around_memory_barriers_only_are_not_counted() {
    // clause: split_barrier.memory-barrier
    let fence = bare(SplitKind::MemoryBarrier, Scope::Workgroup);
    let mut run = Run::new(many(2, vec![forever(vec![fence]), both()]));
    run.play("0");
    let once = run.state.clone();
    assert_eq!(run.play("0 0 0"), "fence");
    assert_eq!(run.state, once, "the iterations mean nothing to anybody");
}

#[test]
fn iterations_of_either_loop_tell_instances_apart() {
    // clause: barcheck.same-instance
    // clause: split_barrier.opencl-all-arrive
    let met = "arrive b0, block, complete b0, free 0, free 1";
    let is =
        |agent: i64, local: u32| bin(BinaryOp::LogicalAnd, eq(Expr::Agent, n(agent)), eq(v(local), n(0)));
    // Agent 0 comes to the inner loop's barrier in the outer loop's second iteration, and in the inner one's
    // first.
    let outer = |agent| {
        let inner = while_do(v(1), vec![both(), set(1, n(0))]);
        many(2, vec![S::For(0, n(0), n(3), vec![set(1, not(is(agent, 0))), inner])])
    };
    assert_eq!(
        (last(outer(0), "0 1").as_str(), last(outer(2), "0 1").as_str()),
        ("END nonuniform-barrier", met)
    );
    // In the same iteration of the outer loop, but in another of the inner.
    let inner = |agent| {
        let body = vec![iff(is(agent, 1), vec![S::Continue]), both()];
        many(2, vec![S::For(0, n(0), n(2), vec![S::For(1, n(0), n(2), body)])])
    };
    assert_eq!(
        (last(inner(0), "0 1").as_str(), last(inner(2), "0 1").as_str()),
        ("END nonuniform-barrier", met)
    );
}

#[test]
fn subgroups_have_barriers_of_their_own_and_the_last_is_smaller() {
    // clause: split_barrier.execution-scope
    let body = vec![bare(SplitKind::Both, Scope::Subgroup)];
    let mut run = Run::new(Group::new(SplitBarrier, 5).subgroups_of(2).many(5, body).build());
    assert_eq!(run.play("0"), "arrive b1, block");
    assert_eq!(run.play("2"), "arrive b2, block");
    assert_eq!(run.play("4"), "arrive b3, block, complete b3, free 4");
    assert_eq!(run.play("1"), "arrive b1, block, complete b1, free 0, free 1");
    let body = vec![bare(SplitKind::Arrive, Scope::Invocation), bare(SplitKind::Wait, Scope::Invocation)];
    let mut run = Run::new(Group::new(SplitBarrier, 2).subgroups_of(2).many(2, body).build());
    assert_eq!(run.log("1 1"), ["arrive b3, complete b3, notify 1", "pass b3"]);
}

#[test]
fn scopes_do_not_count_each_others_iterations() {
    // clause: barcheck.same-instance
    let sub = || bare(SplitKind::Both, Scope::Subgroup);
    let lone = vec![S::For(0, n(0), add(n(1), Expr::Agent), vec![sub()]), both()];
    let program = Group::new(SplitBarrier, 2).subgroups_of(1).many(2, lone).build();
    let mut run = Run::new(program);
    assert_eq!(run.log("0 1 1 0")[3], "arrive b0, block");
    assert_eq!(run.play("1"), "arrive b0, block, complete b0, free 0, free 1");
}

#[test]
fn what_the_client_api_decides_is_not_modelled() {
    // clause: split_barrier.subgroup-client
    // clause: split_barrier.device-scope
    // clause: barcheck.not-modelled
    let sub = || vec![bare(SplitKind::Both, Scope::Subgroup)];
    let arms = vec![if_else(eq(Expr::Agent, n(0)), sub(), sub())];
    assert_eq!(last(many(2, arms), "0 1"), "CUT SubgroupDivergence");
    assert_eq!(last(many(2, vec![bare(SplitKind::Arrive, Scope::Device)]), "0"), "CUT DeviceScope");
    // By iteration, too: agent 0 arrives from its second while agent 1 arrives from its first.
    let skip = bin(BinaryOp::LogicalAnd, eq(Expr::Agent, n(0)), eq(v(0), n(0)));
    let looped = S::For(0, n(0), n(4), [vec![iff(skip, vec![S::Continue])], sub()].concat());
    assert_eq!(last(many(2, vec![looped]), "0 1"), "CUT SubgroupDivergence");
}
