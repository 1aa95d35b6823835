//! Binding to processors.

use iolab_model::result::Fault;

/// Binds this process, and so every trial, to these processors; none: as it is.
pub fn bind(cpus: &[u32]) -> Result<(), Fault> {
    if cpus.is_empty() {
        return Ok(());
    }
    let doing = format!("bind to processors {cpus:?}");
    let mut set = rustix::thread::CpuSet::new();
    for cpu in cpus {
        if *cpu as usize >= rustix::thread::CpuSet::MAX_CPU {
            return Err(Fault::new(doing, "there are not so many; `--cpus` takes numbers from 0"));
        }
        set.set(*cpu as usize);
    }
    rustix::thread::sched_setaffinity(None, &set).map_err(|e| Fault::of(doing, &e.into()))
}
