//! Tests of the model: the barriers' transition functions as tables, agents by themselves, memory, whole
//! groups.

mod agents;
mod agents_cluster;
mod agents_lanes;
mod agents_mbarrier;
mod common;
mod machine;
mod machine_alike;
mod machine_bcu;
mod machine_flight;
mod machine_merged;
mod machine_named;
mod machine_ptx;
mod machine_split;
mod memory;
mod memory_proxies;
mod memory_split;
mod phases;
mod rules;
mod tables_bcu;
mod tables_cluster;
mod tables_mbarrier;
mod tables_nbarrier;
mod tables_ptx;
mod tables_split;
mod tables_xegpu;
