//! What a protocol has in it anywhere, by which the meaning of some instructions goes.

use super::protocol::*;

/// All of it. Objects are those of a name.
pub struct Overview {
    /// Some copy by `cp.async`.
    pub fills: bool,
    /// Whose initialisation has to be known in memory: where something is known in time alone.
    pub watched: Vec<bool>,
    /// Which of them something in a cluster of several names by the rank of a CTA.
    pub reached: Vec<bool>,
}

impl Overview {
    /// Of a protocol in which nothing stands for several instructions.
    pub fn new(protocol: &Protocol) -> Self {
        let mut fills = false;
        let mut orders_apart = false;
        let begun = protocol.objects.iter().map(|objects| objects.count.is_none());
        let mut begun: Vec<bool> = begun.collect();
        let mut reached = vec![false; protocol.objects.len()];
        for stmt in protocol.blocks.iter().flat_map(|block| &block.body) {
            visit(stmt, &mut |stmt| {
                fills |= matches!(stmt.kind, Kind::Instr(Instr::Fill(Fill::Begin { .. })));
                orders_apart |= matches!(stmt.kind, Kind::Instr(Instr::ClusterArrive { relaxed: true, .. }));
                if let Some(on) = stmt.on() {
                    orders_apart |= is_in_time_alone(on);
                    begun[on.objects] |= matches!(on.act, Act::Init(_));
                    reached[on.objects] |= on.cta.is_some() && protocol.cluster > 1;
                }
            });
        }
        let watched = begun.into_iter().map(|begun| begun && orders_apart).collect();
        Overview { fills, watched, reached }
    }
}

/// A statement and all that stand in it.
fn visit(stmt: &Stmt, look: &mut dyn FnMut(&Stmt)) {
    look(stmt);
    for inside in stmt.arms().into_iter().flatten() {
        visit(inside, look);
    }
}

/// Whether an instruction says that it orders in time what it does not order in memory. Copies do not say so.
fn is_in_time_alone(on: &Mbarrier) -> bool {
    match &on.act {
        Act::Arrive { relaxed, scope, .. } => *relaxed || *scope == Some(Reach::Cta) && on.cta.is_some(),
        act if act.is_for_a_phase() => on.gains != Gains::All,
        Act::FillArrive { .. } => true,
        _ => false,
    }
}
