//! Tests of the model: the barriers' transition functions as tables, agents by themselves, memory, whole groups.

mod common;
mod rules;
mod tables_bcu;
mod tables_nbarrier;
mod tables_ptx;
mod tables_split;
mod tables_xegpu;
