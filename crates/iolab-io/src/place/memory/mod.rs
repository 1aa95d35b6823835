//! A memory limit for a trial, so that a file larger than memory needs no huge file: a control
//! group of its own, swap off. Page cache is charged to the group that first touches a page, so
//! pages must be evicted before a process enters (Documentation/admin-guide/cgroup-v2.rst).

mod cgroup_backend;
mod group;

pub use cgroup_backend::{CgroupBackend, cgroup_backend, scope_command, sweep_groups};
pub use group::{Evidence, Limit};

/// Smallest limit: below it the trial itself does not fit and is killed.
pub const LEAST_LIMIT_BYTES: u64 = 16 << 20;
