//! What stands for several instructions: a multicast is one issue after the other, in the order of the
//! ranks.

use super::protocol::*;

/// The protocol with nothing in it that stands for several instructions.
pub fn expanded(protocol: &Protocol) -> Protocol {
    let mut result = protocol.clone();
    for block in &mut result.blocks {
        block.body = list(&block.body, protocol.cluster);
    }
    result.number();
    result
}

fn list(stmts: &[Stmt], ctas: usize) -> Vec<Stmt> {
    stmts.iter().flat_map(|s| stmt(s, ctas)).collect()
}

fn stmt(it: &Stmt, ctas: usize) -> Vec<Stmt> {
    let mut result = it.clone();
    match &mut result.kind {
        Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => *body = list(body, ctas),
        Kind::If(_, then, other) => {
            *then = list(then, ctas);
            *other = list(other, ctas);
        }
        Kind::Instr(Instr::Mbarrier(on)) => {
            let (act, mask) = match &on.act {
                Act::Multicast(bytes, to, mask) => (Act::Copy(bytes.clone(), to.clone()), *mask),
                Act::CommitAll(mask) => (Act::Commit, *mask),
                Act::Cancel { to, everywhere } => {
                    let copy = Act::Copy(16.into(), Some(to.clone()));
                    if !*everywhere {
                        on.act = copy;
                        return vec![result];
                    }
                    (copy, (1 << ctas) - 1)
                }
                _ => return vec![result],
            };
            let to = |rank: usize| Mbarrier {
                objects: on.objects,
                index: on.index.clone(),
                cta: Some(Expr::Int(rank as i64)),
                gains: on.gains,
                act: act.clone(),
            };
            let ranks = (0..ctas).filter(|rank| mask >> rank & 1 == 1);
            let each = ranks.map(|rank| Stmt { id: 0, kind: Kind::Instr(Instr::Mbarrier(to(rank))) });
            return each.collect();
        }
        _ => {}
    }
    vec![result]
}
