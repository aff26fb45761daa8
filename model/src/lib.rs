//! GPU barrier specifications as labelled transition systems.
//!
//! This crate knows programs, agents, barriers and memory order. It knows nothing of text, files,
//! clocks, threads, JSON or search.
//!
//! A [`Program`](program::Program) is what a reader of some notation makes; a [`Machine`](machine::Machine)
//! gives its states and steps. Two warps that meet at barrier 1:
//!
//! ```
//! use barcheck_model::machine::{Choice, Machine, Options, StepOutcome};
//! use barcheck_model::program::{
//!     AgentId, Code, Expr, Op, Place, Program, PtxKind, PtxOp, Role, RoleId, Target,
//! };
//! use std::sync::Arc;
//!
//! let sync = PtxOp { kind: PtxKind::Sync, aligned: true, id: Expr::Int(1), count: Some(Expr::Int(64)) };
//! let place = Place { line: 1, column: 1, length: 0 };
//! let code = Code {
//!     ops: vec![sync.into(), Op::Exit],
//!     places: vec![place; 2],
//!     texts: vec!["bar.sync 1, 64".to_owned(), "exit".to_owned()],
//!     ..Code::default()
//! };
//! let program = Program {
//!     target: Target::Ptx,
//!     threads: 64,
//!     ctas: 1,
//!     registers: 0,
//!     repeats_count: false,
//!     subgroup_size: 1,
//!     arrays: Vec::new(),
//!     objects: Vec::new(),
//!     roles: vec![Role { name: None, code, place }],
//!     agents: vec![RoleId(0); 2],
//!     sequences: Vec::new(),
//! };
//!
//! let mut machine = Machine::new(Arc::new(program), Options::default());
//! let mut state = machine.initial();
//! for agent in [AgentId(0), AgentId(1)] {
//!     assert_eq!(machine.moves(&state, agent).len(), 1);
//!     let first = Choice::of(agent, 0, 0);
//!     let StepOutcome::Progress(progressed) = machine.step(&state, first) else {
//!         panic!("an arrival leads to another state");
//!     };
//!     state = progressed.state;
//! }
//! // The second arrival has released the first warp: both can go on, to their exits.
//! assert_eq!(machine.moves(&state, AgentId(0)).len(), 1);
//! assert!(machine.judge(&state).is_empty());
//! ```

pub mod agent;
pub mod barrier;
pub mod machine;
pub mod memory;
mod patience;
pub mod program;
pub mod rule;
mod systems;

pub use patience::Patience;
