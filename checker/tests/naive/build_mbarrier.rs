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

/// What one lane does for its warp.
pub fn one_lane(body: Vec<Stmt>) -> Stmt {
    if_(eq(lane(), 0), body, vec![])
}

impl Object {
    pub fn act(&self, act: Act) -> Stmt {
        instr(Instr::Mbarrier(Mbarrier { objects: self.0, index: self.1.clone(), act }))
    }

    pub fn init(&self, count: impl Into<Expr>) -> Stmt {
        self.act(Act::Init(count.into()))
    }

    pub fn inval(&self) -> Stmt {
        self.act(Act::Inval)
    }

    pub fn arrive(&self) -> Stmt {
        self.act(Act::Arrive { count: None, bytes: None, drops: false, relaxed: false })
    }

    /// So many arrivals by each lane.
    pub fn arrive_by(&self, count: impl Into<Expr>) -> Stmt {
        self.act(Act::Arrive { count: Some(count.into()), bytes: None, drops: false, relaxed: false })
    }

    pub fn arrive_relaxed(&self) -> Stmt {
        self.act(Act::Arrive { count: None, bytes: None, drops: false, relaxed: true })
    }

    pub fn arrive_drop(&self) -> Stmt {
        self.act(Act::Arrive { count: None, bytes: None, drops: true, relaxed: false })
    }

    /// `mbarrier.arrive.expect_tx`.
    pub fn arrive_expect(&self, bytes: impl Into<Expr>) -> Stmt {
        self.act(Act::Arrive { count: None, bytes: Some(bytes.into()), drops: false, relaxed: false })
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

    pub fn commit(&self) -> Stmt {
        self.act(Act::Commit)
    }
}

impl Protocol {
    /// With one more object, or array of objects if it has a length.
    pub fn with_objects(mut self, name: &str, len: Option<i64>, count: Option<i64>) -> Protocol {
        self.objects.push(Objects { name: name.into(), len, count });
        self
    }
}
