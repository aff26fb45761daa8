//! Short ways to write instructions on mbarrier objects.

use super::build::*;
use super::protocol::*;

/// An object as an operand: the number of its name, and an index.
#[derive(Clone, Debug)]
pub struct Object(pub usize, pub Option<Expr>);

/// The single object of a name.
pub fn object(objects: usize) -> Object {
    Object(objects, None)
}

/// One of the objects of a name.
pub fn object_at(objects: usize, index: impl Into<Expr>) -> Object {
    Object(objects, Some(index.into()))
}

/// One arrival by each lane.
pub fn arrival(scope: Option<Reach>) -> Act {
    Act::Arrive { count: None, bytes: None, drops: false, no_complete: false, relaxed: false, scope }
}

/// A question for a phase; the answer may be no although it is complete, if it is that of `try_wait`.
pub fn ask(may_miss: bool, of: Phase) -> Act {
    Act::Ask { may_miss, of }
}

pub fn let_on(name: &str, on: Mbarrier) -> Stmt {
    stmt(Kind::Let(name.into(), Rhs::On(on)))
}

pub fn set_on(name: &str, on: Mbarrier) -> Stmt {
    stmt(Kind::Assign(name.into(), Rhs::On(on)))
}

/// What is done if a question is answered with yes, or with no.
pub fn if_asked(negated: bool, on: Mbarrier, then: Vec<Stmt>) -> Stmt {
    stmt(Kind::If(Cond::Ask { negated, on }, then, vec![]))
}

pub fn cluster_arrive() -> Stmt {
    instr(Instr::ClusterArrive { relaxed: false, aligned: false })
}

pub fn cluster_wait() -> Stmt {
    instr(Instr::ClusterWait { aligned: false })
}

/// An access to the memory of a CTA.
pub fn access_at(kind: AccessKind, array: usize, index: Option<Expr>, cta: impl Into<Expr>) -> Stmt {
    stmt(Kind::Access { kind, array, index, cta: Some(cta.into()) })
}

/// What one lane does for its warp.
pub fn one_lane(body: Vec<Stmt>) -> Stmt {
    if_(eq(lane(), 0), body, vec![])
}

impl Object {
    pub fn act(&self, act: Act) -> Stmt {
        instr(Instr::Mbarrier(Mbarrier {
            objects: self.0,
            index: self.1.clone(),
            cta: None,
            gains: Gains::All,
            act,
        }))
    }

    pub fn init(&self, count: impl Into<Expr>) -> Stmt {
        self.act(Act::Init(count.into()))
    }

    pub fn inval(&self) -> Stmt {
        self.act(Act::Inval)
    }

    pub fn arrive(&self) -> Stmt {
        self.act(Act::Arrive {
            count: None,
            bytes: None,
            drops: false,
            no_complete: false,
            relaxed: false,
            scope: None,
        })
    }

    /// So many arrivals by each lane.
    pub fn arrive_by(&self, count: impl Into<Expr>) -> Stmt {
        self.act(Act::Arrive {
            count: Some(count.into()),
            bytes: None,
            drops: false,
            no_complete: false,
            relaxed: false,
            scope: None,
        })
    }

    /// So many arrivals by each lane, of which none may complete the phase.
    pub fn arrive_no_complete(&self, count: impl Into<Expr>) -> Stmt {
        self.act(Act::Arrive {
            count: Some(count.into()),
            bytes: None,
            drops: false,
            no_complete: true,
            relaxed: false,
            scope: None,
        })
    }

    pub fn arrive_relaxed(&self) -> Stmt {
        self.act(Act::Arrive {
            count: None,
            bytes: None,
            drops: false,
            no_complete: false,
            relaxed: true,
            scope: None,
        })
    }

    pub fn arrive_drop(&self) -> Stmt {
        self.act(Act::Arrive {
            count: None,
            bytes: None,
            drops: true,
            no_complete: false,
            relaxed: false,
            scope: None,
        })
    }

    /// `mbarrier.arrive.expect_tx`.
    pub fn arrive_expect(&self, bytes: impl Into<Expr>) -> Stmt {
        self.act(Act::Arrive {
            count: None,
            bytes: Some(bytes.into()),
            drops: false,
            no_complete: false,
            relaxed: false,
            scope: None,
        })
    }

    pub fn expect(&self, bytes: impl Into<Expr>) -> Stmt {
        self.act(Act::ExpectTx(bytes.into()))
    }

    pub fn complete(&self, bytes: impl Into<Expr>) -> Stmt {
        self.act(Act::CompleteTx(bytes.into()))
    }

    pub fn wait(&self, parity: impl Into<Expr>) -> Stmt {
        self.act(Act::Wait(parity.into()))
    }

    /// A copy to the single location of an array.
    pub fn copy(&self, bytes: impl Into<Expr>, array: usize) -> Stmt {
        self.act(Act::Copy(bytes.into(), Some((array, None))))
    }

    /// A copy to an element of an array.
    pub fn copy_at(&self, bytes: impl Into<Expr>, array: usize, index: impl Into<Expr>) -> Stmt {
        self.act(Act::Copy(bytes.into(), Some((array, Some(index.into())))))
    }

    /// A copy to no location.
    pub fn copy_nowhere(&self, bytes: impl Into<Expr>) -> Stmt {
        self.act(Act::Copy(bytes.into(), None))
    }

    /// A wait that is written as a loop that asks.
    pub fn ask_until(&self, asking: Asking, of: Phase) -> Stmt {
        self.act(Act::AskUntil(asking, of))
    }

    pub fn wait_token(&self, token: &str) -> Stmt {
        self.act(Act::WaitToken(token.into()))
    }

    /// What yields a token or an answer.
    pub fn on(&self, act: Act) -> Mbarrier {
        Mbarrier { objects: self.0, index: self.1.clone(), cta: None, gains: Gains::All, act }
    }

    /// An instruction on the object of another CTA.
    pub fn at(&self, cta: impl Into<Expr>, act: Act) -> Stmt {
        instr(Instr::Mbarrier(Mbarrier { cta: Some(cta.into()), ..self.on(act) }))
    }

    /// `cp.async.mbarrier.arrive`, with `.noinc` if it is counted.
    pub fn fill_arrive(&self, counted: bool, spelled: bool) -> Stmt {
        self.act(Act::FillArrive { counted, spelled })
    }

    pub fn commit(&self) -> Stmt {
        self.act(Act::Commit)
    }
}

impl Protocol {
    /// With one more object, or array of objects if it has a length.
    /// With so many CTAs.
    pub fn with_ctas(mut self, ctas: usize) -> Protocol {
        self.cluster = ctas;
        self
    }

    pub fn with_objects(mut self, name: &str, len: Option<i64>, count: Option<i64>) -> Protocol {
        self.objects.push(Objects { name: name.into(), len, count });
        self
    }
}

impl std::ops::BitXor<i32> for Expr {
    type Output = Expr;
    fn bitxor(self, other: i32) -> Expr {
        bin(Op::BitXor, self, other)
    }
}
