//! Every workload and method on real files.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/mod.rs"]
mod cli_support;

mod agent_process;
mod agent_real;
mod conformance;
mod conformance_write;
mod contender_programs;
mod contenders;
mod contenders_harm;
mod copy_methods;
mod copy_run;
mod fault_bench;
mod faults;
mod file_system_faults;
mod files_theirs;
mod files_work;
mod hosts;
mod hosts_compared;
mod hosts_unlike;
mod kept;
mod load;
mod location;
mod meta_calls;
mod other_machines;
mod ranks;
mod ranks_faults;
mod ranks_hosts;
mod ranks_latency;
mod ranks_metadata;
mod ranks_shared;
mod ranks_srun;
mod ranks_support;
mod read_ways;
mod ssh_server;
mod write_run;
