//! What the launcher says of the job, through variables of the environment: a library that belongs to
//! another launcher believes to be alone.

/// How many ranks were started; the first that is set tells.
const SIZES: [&str; 4] =
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"];
/// Which of them this is.
const RANKS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"];

fn number(names: &[&'static str]) -> Option<(&'static str, u64)> {
    let read = |name: &&'static str| Some((*name, std::env::var(name).ok()?.parse().ok()?));
    names.iter().find_map(read)
}

/// Whether this is the rank that speaks for all.
pub fn is_first() -> bool {
    number(&RANKS).is_none_or(|(_, rank)| rank == 0)
}

/// Whether the library sees as many ranks as there are.
///
/// # Errors
/// It believes to be alone and is not, with the remedy.
pub fn fits(size: i32, library: &str) -> Result<(), String> {
    let Some((name, started)) = number(&SIZES).filter(|(_, started)| *started > 1 && size == 1)
    else {
        return Ok(());
    };
    Err(format!(
        "{started} ranks were started ({name}), and each believes to be alone: iolab-mpi was built with \
         {library}, and the launcher is another one's. Start it with the mpirun of that library, or \
         build it with this one's: MPICC=… cargo build --release -p iolab-mpi --features mpi"
    ))
}
