//! A second judge of barrier protocols, written straight from the semantics: plain data, complete
//! exploration, no reduction. It shares no code with the library that it judges.
//!
//! Its parts are named as in the semantics, and described there.
#![allow(missing_docs)]

pub mod bcu;
pub mod build;
pub mod build_mbarrier;
pub mod cluster;
pub mod damage_cluster;
pub mod damage_mbarrier;
pub mod damage_stores;
pub mod expand;
pub mod explore;
pub mod expr;
pub mod fences;
pub mod fills;
pub mod flight;
pub mod generate;
pub mod generate_apart;
pub mod generate_arriving;
pub mod generate_asks;
pub mod generate_cluster;
pub mod generate_fenced;
pub mod generate_fills;
pub mod generate_flight;
pub mod generate_kernel;
pub mod generate_lanes;
pub mod generate_mbarrier;
pub mod generate_rounds;
pub mod generate_stores;
pub mod generate_threads;
pub mod generate_warps;
pub mod graph;
pub mod initialised;
pub mod local;
pub mod loose_mbarrier;
pub mod mbarrier;
pub mod memory;
pub mod mutate;
pub mod nbarrier;
pub mod objects;
pub mod odd_loops;
pub mod overview;
pub mod print;
pub mod print_mbarrier;
pub mod protocol;
pub mod ptx;
pub mod rules;
pub mod shrink;
pub mod split;
pub mod state;
pub mod step;
pub mod stores;
pub mod uniform;
pub mod warps;
pub mod wellformed;
pub mod xegpu;
