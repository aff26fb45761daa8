//! One agent by itself: expressions, locals, local loops, what is forgotten.

use crate::common::*;
use barcheck_model::agent::{FaultKind, Value};
use barcheck_model::program::Target::{Bcu, Nbarrier, Ptx, Xegpu};
use barcheck_model::program::*;

/// What an expression evaluates to in the first lane.
fn eval(expr: Expr) -> Result<i64, FaultKind> {
    let run = Run::new(Group::new(Ptx, 32).one(vec![set(0, expr), fence(SHARED), assert(v(0))]).build());
    match &run.config(0).fault {
        Some(fault) => Err(fault.kind.clone()),
        None => match run.value(0, 0) {
            Value::Int(value) => Ok(value),
            other => panic!("{other:?}"),
        },
    }
}

fn calc(op: BinaryOp, a: i64, b: i64) -> Result<i64, FaultKind> {
    eval(bin(op, n(a), n(b)))
}

#[test]
fn arithmetic_is_exact_or_overflows() {
    // clause: barcheck.evaluation-error
    use BinaryOp::{Add, Div, Mul, Rem, Sub};
    let overflow = Err(FaultKind::Overflow);
    assert_eq!((calc(Add, 2, 3), calc(Add, i64::MAX, -1)), (Ok(5), Ok(i64::MAX - 1)));
    assert_eq!((calc(Add, i64::MAX, 1), calc(Add, i64::MIN, -1)), (overflow.clone(), overflow.clone()));
    assert_eq!((calc(Sub, 2, 3), calc(Sub, i64::MIN, 1)), (Ok(-1), overflow.clone()));
    assert_eq!((calc(Mul, -4, 3), calc(Mul, i64::MAX, 2)), (Ok(-12), overflow.clone()));
    assert_eq!((calc(Div, -7, 2), calc(Rem, -7, 2), calc(Rem, 7, 4)), (Ok(-3), Ok(-1), Ok(3)));
    assert_eq!((calc(Div, i64::MIN, -1), calc(Rem, i64::MIN, -1)), (overflow.clone(), overflow.clone()));
    let by_zero = Err(FaultKind::DivisionByZero);
    assert_eq!((calc(Div, 1, 0), calc(Rem, 0, 0)), (by_zero.clone(), by_zero));
    assert_eq!((calc(Add, 1, 0), calc(Mul, 5, 0), calc(Div, 6, 3)), (Ok(1), Ok(0), Ok(2)));
    let neg = |value| eval(Expr::Unary(UnaryOp::Neg, Box::new(n(value))));
    assert_eq!((neg(5), neg(0), neg(i64::MIN)), (Ok(-5), Ok(0), overflow));
}

#[test]
fn shifts_lose_no_bits_and_go_from_0_to_63() {
    use BinaryOp::{Shl, Shr};
    let overflow = Err(FaultKind::Overflow);
    assert_eq!((calc(Shl, 3, 4), calc(Shl, -1, 63), calc(Shl, 1, 62)), (Ok(48), Ok(i64::MIN), Ok(1 << 62)));
    assert_eq!((calc(Shl, 5, 0), calc(Shl, 0, 63)), (Ok(5), Ok(0)));
    for (op, a, b) in [(Shl, 1, 63), (Shl, 2, 62), (Shl, 0, 64), (Shr, 1, 64), (Shl, 1, -1), (Shr, 1, -1)] {
        assert_eq!(calc(op, a, b), overflow, "{a} {op:?} {b}");
    }
    assert_eq!((calc(Shr, 48, 4), calc(Shr, -1, 63), calc(Shr, i64::MAX, 62)), (Ok(3), Ok(-1), Ok(1)));
}

#[test]
fn bits_comparisons_and_logic() {
    use BinaryOp::{And, Eq, Ge, Gt, Le, LogicalAnd, LogicalOr, Lt, Ne, Or, Xor};
    assert_eq!((calc(And, 12, 10), calc(Or, 12, 10), calc(Xor, 12, 10)), (Ok(8), Ok(14), Ok(6)));
    for (a, b) in [(1, 2), (2, 2), (3, 2), (-1, 0)] {
        let expect = [(Eq, a == b), (Ne, a != b), (Lt, a < b), (Le, a <= b), (Gt, a > b), (Ge, a >= b)];
        for (op, holds) in expect {
            assert_eq!(calc(op, a, b), Ok(i64::from(holds)), "{a} {op:?} {b}");
        }
    }
    for (a, b) in [(0, 0), (0, 5), (5, 0), (5, -1)] {
        assert_eq!(calc(LogicalAnd, a, b), Ok(i64::from(a != 0 && b != 0)));
        assert_eq!(calc(LogicalOr, a, b), Ok(i64::from(a != 0 || b != 0)));
    }
    assert_eq!((eval(not(n(0))), eval(not(n(7))), eval(not(n(-1)))), (Ok(1), Ok(0), Ok(0)));
}

#[test]
fn logic_evaluates_its_right_side_only_where_it_matters() {
    let fails = || bin(BinaryOp::Div, n(1), n(0));
    let by_zero = Err(FaultKind::DivisionByZero);
    assert_eq!(eval(bin(BinaryOp::LogicalAnd, n(0), fails())), Ok(0));
    assert_eq!(eval(bin(BinaryOp::LogicalAnd, n(1), fails())), by_zero);
    assert_eq!(eval(bin(BinaryOp::LogicalOr, n(1), fails())), Ok(1));
    assert_eq!(eval(bin(BinaryOp::LogicalOr, n(0), fails())), by_zero);
    assert_eq!(eval(bin(BinaryOp::And, n(0), fails())), by_zero);
}

#[test]
fn agents_and_lanes_know_their_numbers() {
    let body =
        vec![set(0, add(bin(BinaryOp::Mul, Expr::Agent, n(100)), Expr::Lane)), fence(SHARED), assert(v(0))];
    let run = Run::new(Group::new(Ptx, 40).many(2, body).build());
    assert_eq!((run.lane_value(0, 0, 0), run.lane_value(0, 0, 31)), (Value::Int(0), Value::Int(31)));
    assert_eq!(run.lane_value(1, 0, 7), Value::Int(107));
    assert_eq!((run.config(0).live_lanes(), run.config(1).live_lanes()), (u32::MAX, 0xff));
}

#[test]
fn a_local_is_read_only_once_it_is_set() {
    // clause: barcheck.evaluation-error
    assert_eq!(eval(v(1)), Err(FaultKind::Unset(LocalId(1))));
    assert_eq!(eval(add(n(1), v(3))), Err(FaultKind::Unset(LocalId(3))));
    // In the lanes that need it, which need not be all.
    let half = vec![iff(lanes_below(4), vec![set(1, n(5))]), iff(lanes_below(4), vec![assert(v(1))])];
    assert_eq!(last(Group::new(Ptx, 32).one(half).build(), "0"), "");
    let all = vec![iff(lanes_below(4), vec![set(1, n(5))]), assert(v(1))];
    assert_eq!(last(Group::new(Ptx, 32).one(all).build(), "0"), "FAULT Unset(LocalId(1))");
}

fn stored(local: u32, value: Expr) -> Option<FaultKind> {
    let run = Run::new(Group::new(Bcu, 32).one(vec![set(local, value), fence(SHARED)]).build());
    run.config(0).fault.as_ref().map(|fault| fault.kind.clone())
}

#[test]
fn registers_hold_32_bits_and_predicates_one() {
    // clause: bcu.operand-registers
    for value in [0, 1, 1 << 31, (1 << 32) - 1] {
        assert_eq!(stored(4, n(value)), None);
    }
    for value in [-1, 1 << 32, i64::MAX, i64::MIN] {
        assert_eq!(stored(4, n(value)), Some(FaultKind::Overflow));
    }
    assert_eq!((stored(6, n(0)), stored(7, n(1))), (None, None));
    assert_eq!((stored(6, n(2)), stored(6, n(-1))), (Some(FaultKind::Overflow), Some(FaultKind::Overflow)));
    assert_eq!(stored(0, n(i64::MIN)), None);
    // Every lane has to fit.
    assert_eq!(stored(6, bin(BinaryOp::Shr, Expr::Lane, n(4))), None);
    assert_eq!(stored(6, bin(BinaryOp::Shr, Expr::Lane, n(3))), Some(FaultKind::Overflow));
    assert_eq!(stored(4, bin(BinaryOp::Sub, Expr::Lane, n(1))), Some(FaultKind::Overflow));
}

#[test]
fn a_value_picked_from_a_range_has_to_fit_as_well() {
    let body = vec![any(4, n((1 << 32) - 1), n((1 << 32) + 1)), assert(v(4))];
    let program = || Group::new(Bcu, 32).one(body.clone()).build();
    assert_eq!(last(program(), "0.0.0"), "decide 0");
    assert_eq!(last(program(), "0.0.1"), "FAULT Overflow");
    for (low, high) in [(3, 3), (4, 3)] {
        let empty = vec![any(0, n(low), n(high)), assert(v(0))];
        assert_eq!(last(Group::new(Ptx, 32).one(empty).build(), "0"), "FAULT EmptyRange");
    }
    let mut run = Run::new(Group::new(Ptx, 32).one(vec![any(0, n(-3), n(-1)), assert(v(0))]).build());
    assert_eq!(run.play("0.0.1"), "decide 1");
    assert_eq!(run.value(0, 0), Value::Int(-2));
}

#[test]
fn if_and_loops_go_the_way_that_their_conditions_say() {
    let chosen = |value| {
        let arms = if_else(eq(v(1), n(3)), vec![set(0, n(10))], vec![set(0, n(20))]);
        let run = Run::new(
            Group::new(Ptx, 32).one(vec![set(1, n(value)), arms, fence(SHARED), assert(v(0))]).build(),
        );
        run.value(0, 0)
    };
    assert_eq!((chosen(3), chosen(4)), (Value::Int(10), Value::Int(20)));
    let sum = |body: Vec<S>| {
        let all = vec![set(0, n(0)), S::For(1, n(0), n(10), body), fence(SHARED), assert(v(0))];
        Run::new(Group::new(Ptx, 32).one(all).build()).value(0, 0)
    };
    let adds = || set(0, add(v(0), v(1)));
    assert_eq!(sum(vec![adds()]), Value::Int(45));
    assert_eq!(sum(vec![iff(eq(v(1), n(4)), vec![S::Break]), adds()]), Value::Int(6));
    assert_eq!(sum(vec![iff(eq(v(1), n(4)), vec![S::Continue]), adds()]), Value::Int(41));
}

#[test]
fn an_exit_in_a_loop_ends_the_agent() {
    let body = vec![S::For(0, n(0), n(3), vec![fence(SHARED), iff(eq(v(0), n(1)), vec![exit()])])];
    let mut run = Run::new(Group::new(Nbarrier, 1).one(body).build());
    assert_eq!(run.log("0 0 0 0"), ["fence", "fence", "exit", "disabled"]);
    assert!(run.config(0).has_exited());
}

#[test]
fn an_agent_without_statements_has_exited_before_the_first_step() {
    let run = Run::new(Group::new(Ptx, 64).one(vec![]).one(vec![fence(SHARED)]).build());
    assert!(run.config(0).has_exited() && !run.config(1).has_exited());
    assert_eq!((run.moves(0), run.moves(1)), (0, 1));
}

#[test]
fn a_loop_without_end_spins_also_when_locals_go_around() {
    let spins = |body: Vec<S>| {
        let mut run = Run::new(Group::new(Nbarrier, 1).one(body).build());
        assert!(!run.config(0).is_blocked());
        run.play("0")
    };
    assert_eq!(spins(vec![forever(vec![])]), "no effect");
    let flip = set(0, bin(BinaryOp::Xor, v(0), n(1)));
    assert_eq!(spins(vec![set(0, n(0)), forever(vec![flip])]), "no effect");
    let step = set(0, bin(BinaryOp::Rem, add(v(0), n(1)), n(1000)));
    assert_eq!(spins(vec![set(0, n(0)), while_do(lt(v(0), n(1000)), vec![step])]), "no effect");
}

#[test]
fn a_long_loop_that_ends_does_not_spin() {
    let count = S::For(0, n(0), n(20_000), vec![]);
    let mut run = Run::new(Group::new(Nbarrier, 1).one(vec![count, fence(SHARED), assert(v(0))]).build());
    assert_eq!(run.play("0"), "fence");
    assert_eq!(run.value(0, 0), Value::Int(20_000));
}

#[test]
fn a_loop_that_never_repeats_itself_is_cut_and_names_the_local_that_changes() {
    // clause: barcheck.verdict
    // clause: barcheck.not-modelled
    let counts = vec![set(0, n(1)), set(2, n(0)), fence(SHARED), forever(vec![set(2, add(v(2), v(0)))])];
    let mut run = Run::new(Group::new(Nbarrier, 1).one(counts).build());
    assert_eq!(run.play("0"), "CUT endless Some(\"x2\")");
}

/// Whether an agent that has picked 0 or 1 for `local` can still be told from one that picked otherwise.
fn told_apart(target: Target, local: u32, before: Vec<S>, after: Vec<S>) -> bool {
    let steps = before.len();
    let body = [before, vec![any(local, n(0), n(2))], after].concat();
    let reached = |pick: u32| {
        let program = Group::new(target, 32).array(Space::Shared, Some(4)).one(body.clone());
        let mut run = Run::new(program.build());
        for _ in 0..steps {
            run.choose(0, 0, 0);
        }
        run.choose(0, 0, pick);
        run
    };
    reached(0).config(0) != reached(1).config(0)
}

#[test]
fn a_local_that_may_still_be_read_is_remembered() {
    let expressions: Vec<fn(Expr) -> Expr> = vec![|e| e, |e| not(e), |e| add(e, n(1)), |e| add(n(1), e)];
    for expr in expressions {
        for after in [
            vec![assert(expr(v(1)))],
            vec![fence(SHARED), assert(expr(v(1)))],
            vec![fence(SHARED), set(2, expr(v(1))), fence(SHARED), assert(v(2))],
            vec![S::If(Condition::Private, vec![], vec![fence(SHARED), assert(expr(v(1)))])],
            vec![S::While(Some(Condition::Private), vec![]), fence(SHARED), assert(expr(v(1)))],
            vec![forever(vec![fence(SHARED), iff(expr(v(1)), vec![S::Break])])],
            vec![fence(SHARED), any(2, expr(v(1)), n(9))],
            vec![fence(SHARED), any(2, n(-9), expr(v(1)))],
            vec![fence(SHARED), access_at(AccessKind::Read, 0, expr(v(1)))],
            vec![fence(SHARED), sync_of(expr(v(1)), None)],
            vec![fence(SHARED), sync_of(n(1), Some(expr(v(1))))],
            vec![fence(SHARED), red_unkept(ReductionOp::Or, 1, 0, truth(expr(v(1))))],
        ] {
            assert!(told_apart(Ptx, 1, vec![], after.clone()), "{:?}", code(after).ops);
        }
    }
}

#[test]
fn a_local_that_is_set_before_it_is_read_is_forgotten() {
    for after in [
        vec![],
        vec![fence(SHARED), assert(v(2))],
        vec![fence(SHARED), set(1, n(7)), assert(v(1))],
        vec![fence(SHARED), any(1, n(0), n(2)), assert(v(1))],
        vec![fence(SHARED), S::For(1, n(0), n(2), vec![fence(SHARED)])],
        vec![exit(), assert(v(1))],
        vec![forever(vec![fence(SHARED), S::Break, assert(v(1))])],
        vec![forever(vec![fence(SHARED), S::Continue, assert(v(1))])],
        vec![forever(vec![fence(SHARED)]), assert(v(1))],
    ] {
        assert!(!told_apart(Ptx, 1, vec![], after.clone()), "{:?}", code(after).ops);
    }
    let kept = vec![fence(SHARED), red(ReductionOp::Popc, 1, 0, truth(n(1))), assert(v(0))];
    assert!(!told_apart(Ptx, 0, vec![], kept));
    let unkept = vec![fence(SHARED), red_unkept(ReductionOp::Popc, 1, 0, truth(n(1))), assert(v(0))];
    assert!(told_apart(Ptx, 0, vec![], unkept));
}

#[test]
fn bcu_instructions_read_and_write_registers() {
    let reads = |instruction: BcuOp| told_apart(Bcu, 4, vec![], vec![fence(SHARED), bcu(instruction)]);
    let reg = || register(v(4));
    let (id, count) = (|| immediate(1), || immediate(32));
    let red = |operands, predicate| BcuOp::Red { op: ReductionOp::Or, operands, predicate };
    let separate = |id, count| BcuRedOperands::Separate(id, Some(count));
    assert!(reads(BcuOp::Sync { id: reg(), count: None }));
    assert!(reads(BcuOp::Sync { id: id(), count: Some(reg()) }));
    assert!(reads(BcuOp::Arv { id: reg(), count: count() }) && reads(BcuOp::Arv { id: id(), count: reg() }));
    assert!(reads(red(separate(reg(), count()), OPEN)) && reads(red(separate(id(), reg()), OPEN)));
    assert!(reads(red(BcuRedOperands::Packed(v(4)), OPEN)));
    assert!(reads(red(separate(id(), count()), truth(v(4)))));
    assert!(!reads(red(separate(id(), count()), OPEN)));
    assert!(reads(BcuOp::ReadBarrier { dest: None, id: v(4) }));
    assert!(reads(BcuOp::ReadWarp { dest: None, id: Some(v(4)) }));
    assert!(reads(BcuOp::WriteBarrier { id: v(4), source: v(5) }));
    assert!(reads(BcuOp::WriteBarrier { id: n(1), source: v(4) }));
    assert!(reads(BcuOp::WriteWarp { id: Some(v(4)), source: v(5) }));
    assert!(reads(BcuOp::WriteWarp { id: None, source: v(4) }));
    let writes = |instruction: BcuOp| {
        let after = vec![fence(SHARED), bcu(instruction), assert(v(4))];
        !told_apart(Bcu, 4, vec![], after)
    };
    assert!(writes(BcuOp::ReadBarrier { dest: Some(LocalId(4)), id: n(1) }));
    assert!(writes(BcuOp::ReadWarp { dest: Some(LocalId(4)), id: None }));
    assert!(writes(BcuOp::Result { register: Some(LocalId(4)), predicate: None }));
    assert!(writes(BcuOp::Result { register: None, predicate: Some(LocalId(4)) }));
    assert!(!writes(BcuOp::Result { register: Some(LocalId(5)), predicate: None }));
    assert!(!writes(BcuOp::ReadBarrier { dest: None, id: n(1) }));
    assert!(!writes(BcuOp::ReadBarrier { dest: Some(LocalId(5)), id: n(1) }));
}

#[test]
fn named_barrier_instructions_read_their_operands() {
    let reads = |op: NbarrierOp| told_apart(Nbarrier, 1, vec![], vec![fence(SHARED), S::Op(Op::from(op))]);
    assert!(reads(NbarrierOp::Wait { id: v(1) }));
    assert!(reads(NbarrierOp::SignalAll { id: v(1), threads: n(1) }));
    assert!(reads(NbarrierOp::SignalAll { id: n(1), threads: v(1) }));
    for at in 0..4 {
        let operand = |i| if i == at { v(1) } else { n(1) };
        let (id, kind, producers, consumers) = (operand(0), operand(1), operand(2), operand(3));
        assert!(reads(NbarrierOp::Signal { id, kind, producers, consumers }));
    }
    let reads = |op: XegpuOp| told_apart(Xegpu, 1, vec![alloc(4)], vec![fence(SHARED), xegpu(op)]);
    assert!(reads(XegpuOp::Alloc { count: v(1) }));
    assert!(reads(XegpuOp::Init { handle: LocalId(8), id: v(1), participants: n(1) }));
    assert!(reads(XegpuOp::Init { handle: LocalId(8), id: n(1), participants: v(1) }));
    assert!(told_apart(Xegpu, 8, vec![alloc(4)], vec![fence(SHARED), xarrive()]));
    assert!(told_apart(Xegpu, 8, vec![alloc(4)], vec![fence(SHARED), xwait()]));
    assert!(!told_apart(Xegpu, 8, vec![alloc(4)], vec![fence(SHARED), init(0, 1), xarrive()]));
}

#[test]
fn programs_name_their_locations() {
    let program = Group::new(Ptx, 72)
        .scalar(Space::Shared)
        .array(Space::Global, Some(3))
        .scalar(Space::Shared)
        .many(3, vec![])
        .build();
    assert_eq!(program.locations(), 5);
    let names: Vec<_> = (0..5).map(|i| program.location_name(LocationId(i))).collect();
    assert_eq!(names, ["a0", "a1[0]", "a1[1]", "a1[2]", "a2"]);
    assert_eq!(program.array_of(LocationId(3)).space, Space::Global);
    let lanes: Vec<_> = (0..3).map(|agent| program.lanes(AgentId(agent))).collect();
    assert_eq!(lanes, [32, 32, 8]);
    assert_eq!(Program { target: Nbarrier, ..program.clone() }.lanes(AgentId(2)), 1);
    assert!(program.code(AgentId(0)).empty);
}

#[test]
fn an_index_outside_its_array_ends_the_path() {
    // clause: barcheck.evaluation-error
    let access = |length, index| {
        let program = Group::new(Ptx, 32).array(Space::Shared, length);
        last(program.one(vec![access_at(AccessKind::Read, 0, index)]).build(), "0")
    };
    assert_eq!(access(Some(3), n(2)), "access 2");
    assert_eq!(access(Some(3), n(3)), "FAULT IndexOutside { index: 3, length: 3 }");
    assert_eq!(access(Some(3), n(-1)), "FAULT IndexOutside { index: -1, length: 3 }");
    assert_eq!(access(Some(32), Expr::Lane).split(' ').count(), 33);
    assert_eq!(access(Some(31), Expr::Lane), "FAULT IndexOutside { index: 31, length: 31 }");
    // Lanes with the same index touch one location.
    assert_eq!(access(Some(4), bin(BinaryOp::Rem, Expr::Lane, n(3))), "access 0 1 2");
}
