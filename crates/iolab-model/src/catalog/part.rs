//! A part: a workload, a method, an operation, a metric. It says what it is and what it needs.

use super::factor::Factor;

/// Which list a part belongs to (`iolab list methods`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// What is done.
    Workload,
    /// How it is done.
    Method,
    /// A rung of the system-call ladder or a metadata call.
    Operation,
    /// Where it is done.
    Place,
    /// What is counted beside time.
    Metric,
    /// What a report is written as.
    Format,
}

/// What a method can do. A workload asks for a capability, never for a method by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Brings bytes of a file to where the program can use them.
    Read,
    /// Puts bytes into a file.
    Write,
    /// Moves bytes from file to file.
    Copy,
    /// Makes one call.
    Call,
    /// Can bypass the page cache (O_DIRECT).
    Direct,
    /// Its buffers, one a request under way, are locked in memory (RLIMIT_MEMLOCK).
    Locks,
    /// Moves bytes that no program looks at: never compared with methods whose bytes are consumed.
    Unconsumed,
    /// Makes a call on a name or an attribute of a file.
    Metadata,
    /// That attribute is an extended one, which its file must have.
    Attributes,
    /// Does something with each of many files.
    Files,
    /// Does again what a recorded program did with files.
    Replay,
    /// Stands for its kind where a directory is surveyed: what people write first, and its rivals.
    Surveyed,
}

/// The description of a part.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The name as written on the command line and in results.
    pub id: &'static str,
    /// Which list it stands in.
    pub kind: PartKind,
    /// One line for lists and help.
    pub summary: &'static str,
    /// What it can do (methods and operations).
    pub capabilities: &'static [Capability],
    /// Factors whose levels make no difference to it: they are collapsed, not repeated.
    pub ignores: &'static [Factor],
    /// What it needs of the kernel or the person, in words; empty where nothing special.
    pub needs: &'static str,
    /// Left out unless asked for by name (`null`, unconsumed methods).
    pub by_name_only: bool,
}

impl Part {
    /// One that can do nothing and ignores nothing, needs nothing special and is taken unasked.
    pub const fn new(kind: PartKind, id: &'static str, summary: &'static str) -> Part {
        let (capabilities, ignores) = (&[], &[]);
        Part { id, kind, summary, capabilities, ignores, needs: "", by_name_only: false }
    }

    /// A way to do something.
    pub const fn method(id: &'static str, summary: &'static str) -> Part {
        Part::new(PartKind::Method, id, summary)
    }

    /// A call, or something done with each of many files.
    pub const fn operation(id: &'static str, summary: &'static str) -> Part {
        Part::new(PartKind::Operation, id, summary)
    }

    /// A place that is made only where somebody names it.
    pub const fn place(id: &'static str, summary: &'static str) -> Part {
        Part::new(PartKind::Place, id, summary).by_name_only()
    }

    /// Something to do.
    pub const fn workload(id: &'static str, summary: &'static str) -> Part {
        Part::new(PartKind::Workload, id, summary)
    }

    /// The same with what it can do.
    pub const fn with(mut self, capabilities: &'static [Capability]) -> Part {
        self.capabilities = capabilities;
        self
    }

    /// The same, indifferent to these factors.
    pub const fn ignoring(mut self, factors: &'static [Factor]) -> Part {
        self.ignores = factors;
        self
    }

    /// The same with what it needs, in words.
    pub const fn needing(mut self, needs: &'static str) -> Part {
        self.needs = needs;
        self
    }

    /// The same, left out unless it is asked for by name.
    pub const fn by_name_only(mut self) -> Part {
        self.by_name_only = true;
        self
    }

    /// Whether it has this capability.
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }
}

/// One axis of a workload and the levels taken when the person names none.
#[derive(Clone, Copy, Debug)]
pub struct FactorUse {
    /// The axis.
    pub factor: Factor,
    /// Levels as a person would write them: `4Ki,64Ki`. Empty: decided by the machine's facts.
    pub default: &'static str,
    /// The words allowed, for a factor of words whose list is not a list of parts.
    pub words: &'static [&'static str],
    /// Whether its levels are the question only where nothing else that was named is: then the first
    /// of them is held.
    pub gives_way: bool,
}

impl FactorUse {
    /// An axis whose words, where it has any, are the ids of parts.
    pub const fn new(factor: Factor, default: &'static str) -> FactorUse {
        FactorUse { factor, default, words: &[], gives_way: false }
    }

    /// The same with the words that it takes.
    pub const fn among(self, words: &'static [&'static str]) -> FactorUse {
        FactorUse { words, ..self }
    }

    /// The same, held at its first level beside whatever else is asked about.
    pub const fn giving_way(self) -> FactorUse {
        FactorUse { gives_way: true, ..self }
    }
}

/// The description of a workload: a part, its axes and what it asks of a method.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadInfo {
    /// Name and summary.
    pub part: Part,
    /// Its axes, in the order they are shown.
    pub factors: &'static [FactorUse],
    /// The capability that a method must have.
    pub capability: Capability,
    /// True where every cell is wanted (a ladder, a table): nothing is eliminated.
    pub sweep: bool,
    /// Examples for the help: what follows `iolab`, and what it answers.
    pub examples: &'static [(&'static str, &'static str)],
}

impl WorkloadInfo {
    /// Whether it has this axis.
    pub fn has(&self, factor: Factor) -> bool {
        self.factors.iter().any(|axis| axis.factor == factor)
    }
}

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// A number of events.
    Count,
    /// A share of one.
    Ratio,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Neither.
    Neither,
}

/// The description of a metric.
#[derive(Clone, Copy, Debug)]
pub struct MetricInfo {
    /// The name in results: `minor_faults`.
    pub id: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
}
