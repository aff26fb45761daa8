//! What warps do by themselves, and the registers of their CTA.

use crate::{comes_to, shows};
use barcheck_naive::build::*;
use barcheck_naive::explore::Verdict;
use barcheck_naive::protocol::*;

const ALL: i64 = u32::MAX as i64;

fn meet(mask: impl Into<Expr>) -> Stmt {
    instr(Instr::Own(Own::Sync(mask.into())))
}

fn gives(count: i32) -> Stmt {
    instr(Instr::Own(Own::Registers { takes: false, count: count.into() }))
}

fn takes(count: i32) -> Stmt {
    instr(Instr::Own(Own::Registers { takes: true, count: count.into() }))
}

/// Warps of which each thread has 64 registers.
fn warps(bodies: Vec<Vec<Stmt>>) -> Protocol {
    let blocks: Vec<_> = bodies.into_iter().enumerate().map(|(n, body)| (n..n + 1, body)).collect();
    let mut result = protocol(Target::Ptx, 32 * blocks.len() as i64, blocks);
    result.registers = Some(64);
    result
}

fn alone(body: Vec<Stmt>) -> Protocol {
    warps(vec![body])
}

fn half(then: Stmt, other: Vec<Stmt>) -> Protocol {
    alone(vec![if_(lt(lane(), 16), vec![then], other)])
}

#[test]
fn lanes_of_a_mask_meet_where_they_are_together() {
    shows(&alone(vec![meet(Expr::Int(ALL))]), &[]);
    shows(&alone(vec![meet(1)]), &["partial-warp"]);
    shows(&alone(vec![meet(-1)]), &["partial-warp"]);
    shows(&alone(vec![meet(bin(Op::Shl, Expr::Int(0xffff), lane() / 16 * 16))]), &[]);
    shows(&half(meet(0xffff), vec![meet(Expr::Int(ALL - 0xffff))]), &[]);
    shows(&half(meet(0xff), vec![]), &["partial-warp"]);
    comes_to(&half(meet(Expr::Int(ALL)), vec![]), Verdict::Inconclusive);
    shows(&alone(vec![if_(lt(lane(), 16), vec![exit()], vec![]), meet(Expr::Int(ALL))]), &[]);
}

#[test]
fn registers_are_given_and_taken_in_eights_by_whole_warps() {
    shows(&warps(vec![vec![gives(40)], vec![takes(88)]]), &[]);
    shows(&warps(vec![vec![gives(40)], vec![takes(96)]]), &["deadlock"]);
    // Who has given may take it back before another has it, and keeps it.
    shows(&warps(vec![vec![gives(40), takes(64)], vec![takes(88), gives(64)]]), &["deadlock"]);
    shows(&warps(vec![vec![gives(40), takes(64)], vec![takes(88)]]), &["deadlock"]);
    for odd in [gives(16), gives(44), gives(72), takes(56), takes(264)] {
        shows(&alone(vec![odd]), &["count-range"]);
    }
    shows(&alone(vec![gives(64), takes(64)]), &[]);
    shows(&half(gives(40), vec![]), &["partial-warp"]);
    shows(&half(gives(44), vec![]), &["count-range"]);
}

#[test]
fn what_is_enough_for_one_does_not_let_another_go_on() {
    let to_and_fro = |last: Vec<Stmt>| {
        let give = loop_(vec![gives(56), takes(64)]);
        let take = loop_(vec![takes(72), gives(64)]);
        warps(vec![vec![give], vec![take], last])
    };
    shows(&to_and_fro(vec![takes(128)]), &["stuck-agent"]);
    shows(&to_and_fro(vec![takes(72), gives(64)]), &[]);
}

#[test]
fn registers_order_no_memory() {
    let mut p = warps(vec![
        vec![access(AccessKind::Write, 0, None), gives(40)],
        vec![takes(88), access(AccessKind::Read, 0, None)],
    ]);
    p.arrays.push(Array { name: "x".into(), len: None, space: Space::Shared });
    shows(&p, &["data-race"]);
}

#[test]
fn other_grids_come_to_their_ends() {
    let grid = |launches| instr(Instr::Own(Own::Grid { launches }));
    shows(&alone(vec![grid(false), if_(lt(lane(), 3), vec![grid(true)], vec![])]), &[]);
}
