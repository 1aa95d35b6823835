//! One pass over the calls: counts, bytes and times of each file, kind and size.

use std::collections::{BTreeMap, HashMap};

use super::cost::{Cost, Timed, Waited};
use super::extents::Extents;
use super::origin::Origins;
use super::pattern::{Steps, Walk};
use super::sum::Sum;
use super::{FileRow, KindRow, SizeRow, Whole};
use crate::call::{Call, CallKind, NONE, OpenFlags, Result};
use crate::trace::{FileKind, Trace};

/// The program's own side of a call, at most: what it does to make one and to go on after it counts as
/// time of its own code, and goes with the call.
const CALL_USER_NS: u64 = 100;

/// Blocks of this size and on this boundary are whole pages.
const PAGE_BYTES: u64 = 4096;

/// One file's calls.
#[derive(Clone, Debug, Default)]
pub(super) struct OfFile {
    pub(super) all: Sum,
    pub(super) reads: Sum,
    pub(super) writes: Sum,
    /// Of fewer bytes than a page, those that met the end of the file left out.
    pub(super) small_reads: Sum,
    pub(super) small_writes: Sum,
    pub(super) syncs: Sum,
    pub(super) opens: Sum,
    pub(super) looked_up: Sum,
    /// Of one process at most.
    pub(super) most_opens: u64,
    /// Of one process at most.
    pub(super) most_looks: u64,
    pub(super) steps: Steps,
    pub(super) read: Extents,
    /// It was used beyond being opened and closed.
    pub(super) used: bool,
    aligned: u64,
    blocks: u64,
}

/// Everything of the pass.
pub(super) struct Gathered {
    pub(super) cost: Cost,
    pub(super) files: Vec<OfFile>,
    pub(super) kinds: BTreeMap<CallKind, Sum>,
    /// Names that are not there, of each file.
    pub(super) not_found: HashMap<u32, Sum>,
    pub(super) all: Sum,
    /// Reads that brought as many bytes as the same thread's next write took, by both files.
    pub(super) passed_on: HashMap<(u32, u32), Sum>,
    sizes: BTreeMap<(&'static str, u32), Sum>,
    elsewhere: u64,
    rings: u64,
}

pub(super) fn gather(trace: &Trace) -> Gathered {
    let cost = Cost::of(trace);
    let waited = Waited::of(&trace.calls, cost);
    let mut gathered = Gathered {
        cost,
        files: vec![OfFile::default(); trace.files.len()],
        kinds: BTreeMap::new(),
        not_found: HashMap::new(),
        all: Sum::default(),
        passed_on: HashMap::new(),
        sizes: BTreeMap::new(),
        elsewhere: 0,
        rings: 0,
    };
    let mut walks = vec![Walk::default(); trace.handles.len()];
    let mut last_reads: HashMap<u32, Timed> = HashMap::new();
    let mut asked: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
    for call in &trace.calls {
        gathered.rings += u64::from(call.kind == CallKind::Ring);
        if !is_of_files(call) {
            continue;
        }
        if !stays_in_file_systems(trace, call) {
            gathered.elsewhere += 1;
            continue;
        }
        let call = &waited.timed(call);
        gathered.call(call, &mut walks);
        gathered.copied(trace, call);
        gathered.pass_on(trace, call, &mut last_reads);
        gathered.ask(trace, call, &mut asked);
    }
    let waited_ns = gathered.all.waited_ns(gathered.cost);
    let waits_ns = gathered.waits_ns(trace);
    if waited_ns > waits_ns {
        gathered.cost.tail_scale = waits_ns as f64 / waited_ns as f64;
    }
    let beyond = gathered.all.file_ns(gathered.cost);
    let most = gathered.most_ns(trace);
    if beyond > most {
        gathered.cost.scale = most as f64 / beyond as f64;
    }
    gathered
}

fn is_of_files(call: &Call) -> bool {
    !call.kind.is_of_processes() && call.kind != CallKind::Ring
}

/// Not to a terminal, a pipe or a socket. A name that leads to no file was looked up in a file system.
fn stays_in_file_systems(trace: &Trace, call: &Call) -> bool {
    trace.file(call.file).is_none_or(|file| file.kind.is_of_file_system())
}

/// Whether calls on files of several threads were under way at once for more than a tenth of the time
/// that they took: then their sum may be longer than the program.
fn calls_meet(trace: &Trace) -> bool {
    let calls = trace.calls.iter().filter(|call| is_of_files(call));
    let calls = calls.filter(|call| stays_in_file_systems(trace, call));
    let mut spans: Vec<(u64, u64)> =
        calls.map(|call| (call.at_ns, call.at_ns.saturating_add(call.took_ns))).collect();
    spans.sort_unstable();
    let (mut sum, mut covered, mut end) = (0_u64, 0_u64, 0_u64);
    for (from, to) in spans {
        sum = sum.saturating_add(to - from);
        covered = covered.saturating_add(to.saturating_sub(from.max(end)));
        end = end.max(to);
    }
    sum > covered.saturating_add(covered / 10)
}

impl Gathered {
    fn call(&mut self, call: &Timed, walks: &mut [Walk]) {
        self.all.add(call);
        self.kinds.entry(call.kind).or_default().add(call);
        let is_lookup = matches!(call.kind, CallKind::Stat | CallKind::Open | CallKind::ReadLink);
        if is_lookup && call.outcome() == Result::Failed(2) {
            self.not_found.entry(call.file).or_default().add(call);
        }
        if call.kind.moves_bytes() {
            let direction = if call.kind.writes() { "write" } else { "read" };
            let power = call.asked.max(1).ilog2();
            self.sizes.entry((direction, power)).or_default().add(call);
        }
        if let Some(file) = self.files.get_mut(call.file as usize) {
            file.call(call, walks.get_mut(call.handle as usize));
        }
    }

    /// What a copy wrote is the other file's, its time the first one's alone.
    fn copied(&mut self, trace: &Trace, call: &Timed) {
        let target = trace.file_of_handle(call.other).filter(|_| call.kind.copies());
        if let Some(file) = target.and_then(|file| self.files.get_mut(file as usize)) {
            let untimed = Timed { call: Call { took_ns: 0, ..call.call }, tail_ns: 0 };
            file.writes.add(&untimed);
            file.used = true;
        }
    }

    /// One process that opens or asks about a file over and over could keep it; of many each must.
    fn ask(&mut self, trace: &Trace, call: &Call, asked: &mut HashMap<(u32, u32), (u64, u64)>) {
        let is_open = call.kind == CallKind::Open;
        let Some(file) = self.files.get_mut(call.file as usize) else { return };
        if is_open || matches!(call.kind, CallKind::Stat | CallKind::ReadLink) {
            let process = trace.threads.get(call.thread as usize).map_or(NONE, |t| t.process);
            let (opens, looks) = asked.entry((call.file, process)).or_default();
            *(if is_open { &mut *opens } else { &mut *looks }) += 1;
            file.most_opens = file.most_opens.max(*opens);
            file.most_looks = file.most_looks.max(*looks);
        }
    }

    /// What file calls can have taken at most.
    fn most_ns(&self, trace: &Trace) -> u64 {
        let Some(run) = trace.middle_run() else { return u64::MAX };
        match trace.threads.len() {
            // File calls that never meet are none of the time in which the program's own code ran, and
            // a shell that waits for its children makes none.
            threads if threads > 1 && calls_meet(trace) => {
                run.wall_ns.saturating_mul(threads as u64)
            }
            _ => run.wall_ns.saturating_sub(run.user_ns),
        }
    }

    /// How long calls can have waited at most: a program that computes, or the kernel for it, waits for
    /// nothing meanwhile.
    fn waits_ns(&self, trace: &Trace) -> u64 {
        let Some(run) = trace.middle_run() else { return u64::MAX };
        let waits = run.wall_ns.saturating_sub(run.user_ns.saturating_add(run.system_ns));
        match trace.threads.len() {
            threads if threads > 1 => run.wall_ns.saturating_mul(threads as u64),
            _ => waits,
        }
    }

    /// A thread that reads from one file and writes as many bytes to another carries them.
    fn pass_on(&mut self, trace: &Trace, call: &Timed, last: &mut HashMap<u32, Timed>) {
        if call.kind.reads() && call.moved_bytes() > 0 {
            last.insert(call.thread, *call);
        } else if call.kind.writes() {
            let Some(read) = last.remove(&call.thread) else { return };
            let regular = |file| trace.file(file).is_some_and(|f| f.kind == FileKind::Regular);
            let same = read.moved_bytes() == call.moved_bytes() && read.file != call.file;
            if same && regular(read.file) && regular(call.file) {
                let sum = self.passed_on.entry((read.file, call.file)).or_default();
                sum.add(&read);
                sum.add(call);
            }
        }
    }

    pub(super) fn whole(&self, trace: &Trace) -> Whole {
        let run = trace.middle_run();
        let has_times = self.all.took_ns > 0;
        let traced = trace.wall_ns;
        // Without a run of its own, what is left of the traced one without the tracer's time.
        let tracers = self.cost.wall_ns.saturating_mul(trace.calls.len() as u64);
        let file_ns = self.all.file_ns(self.cost);
        let most_ns = self.most_ns(trace).min(run.map_or(traced, |_| u64::MAX));
        let (low_ns, high_ns) = self.all.range_ns(self.cost, most_ns, self.waits_ns(trace));
        let own = traced.saturating_sub(tracers).max(high_ns);
        let wall_ns = run.map_or(own, |run| run.wall_ns);
        let has_times = has_times && wall_ns > 0;
        let share_of = |ns: u64| has_times.then(|| (ns as f64 / wall_ns as f64).clamp(0.0, 1.0));
        // What there is to gain at most is of what they take at most.
        let most_of_calls = if run.is_some() { high_ns } else { file_ns };
        let of_calls = most_of_calls.saturating_add(self.all.calls.saturating_mul(CALL_USER_NS));
        let rest_ns = wall_ns.saturating_sub(of_calls);
        // Below a thousandth nothing is known any more.
        let gain = (has_times && rest_ns > wall_ns / 1000).then(|| wall_ns as f64 / rest_ns as f64);
        let of = |kinds: fn(CallKind) -> bool| {
            let sums = self.kinds.iter().filter(|(kind, _)| kinds(**kind)).map(|(_, sum)| *sum);
            sums.fold((0, 0), |(calls, bytes), sum| (calls + sum.calls, sum.bytes + bytes))
        };
        let (reads, read_bytes) = of(|kind| kind.reads() || kind.copies());
        let (writes, written_bytes) = of(|kind| kind.writes() || kind.copies());
        Whole {
            traced_wall_ns: traced,
            wall_ns: run.map(|run| run.wall_ns),
            runs: trace.runs.len(),
            tracer_ns_per_call: self.cost.tracer_ns,
            tracer_low_ns_per_call: self.cost.low_ns,
            tracer_high_ns_per_call: self.cost.high_ns,
            tracer_is_calibrated: trace.tracer_cost.is_some(),
            file_ns: has_times.then_some(file_ns),
            file_low_ns: has_times.then_some(low_ns),
            file_high_ns: has_times.then_some(high_ns),
            share_of_ns: wall_ns,
            file_share: share_of(file_ns),
            file_low_share: share_of(low_ns),
            file_high_share: share_of(high_ns),
            gain_at_most: gain,
            gain_is_bound: run.is_some() && trace.threads.len() == 1,
            calls: self.all.calls,
            files: self.files.iter().filter(|file| file.all.calls > 0).count(),
            read_bytes,
            reads,
            written_bytes,
            writes,
            elsewhere_calls: self.elsewhere,
            ring_calls: self.rings,
            threads: trace.threads.len(),
        }
    }

    /// The dearest first, then those with the most calls.
    pub(super) fn file_rows(&self, trace: &Trace, origins: &Origins) -> Vec<FileRow> {
        let all = trace.files.iter().zip(&self.files).enumerate();
        let used = all.filter(|(_, (_, of))| of.all.calls > 0);
        let row = |(index, (file, of)): (usize, (&crate::trace::File, &OfFile))| FileRow {
            of_start: origins.is_of_start(index as u32),
            name: String::from_utf8_lossy(&file.name).into_owned(),
            kind: file.kind.word(),
            size_bytes: file.size_bytes,
            file_ns: of.all.file_ns(self.cost),
            calls: of.all.calls,
            read_bytes: of.reads.bytes,
            reads: of.reads.calls,
            written_bytes: of.writes.bytes,
            writes: of.writes.calls,
            read_again_bytes: of.read.clone().again_bytes(),
            pattern: of.steps.pattern(),
            aligned_share: (of.blocks > 0).then(|| of.aligned as f64 / of.blocks as f64),
        };
        let mut rows: Vec<FileRow> = used.map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.file_ns, row.calls)));
        rows
    }

    pub(super) fn kind_rows(&self) -> Vec<KindRow> {
        let row = |(kind, sum): (&CallKind, &Sum)| KindRow {
            kind: kind.word(),
            calls: sum.calls,
            failed: sum.failed,
            file_ns: sum.file_ns(self.cost),
        };
        let mut rows: Vec<KindRow> = self.kinds.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.file_ns, row.calls)));
        rows
    }

    pub(super) fn size_rows(&self) -> Vec<SizeRow> {
        let row = |((direction, power), sum): (&(&'static str, u32), &Sum)| SizeRow {
            direction,
            from_bytes: 1 << power,
            calls: sum.calls,
            bytes: sum.bytes,
        };
        self.sizes.iter().map(row).collect()
    }
}

impl OfFile {
    fn call(&mut self, call: &Timed, walk: Option<&mut Walk>) {
        self.all.add(call);
        match call.kind {
            kind if kind.syncs() => self.syncs.add(call),
            CallKind::Open => self.opens.add(call),
            CallKind::Stat | CallKind::ReadLink => self.looked_up.add(call),
            kind if kind.reads() || kind.copies() => {
                self.reads.add(call);
                self.block(call, walk);
            }
            kind if kind.writes() => {
                self.writes.add(call);
                self.block(call, walk);
            }
            _ => (),
        }
        let open_or_close =
            matches!(call.kind, CallKind::Open | CallKind::Close | CallKind::Duplicate);
        let flags = OpenFlags(call.detail);
        let for_its_own_sake = call.kind == CallKind::Open
            && ["O_CREAT", "O_TRUNC", "O_DIRECTORY", "O_PATH"].iter().any(|word| flags.has(word));
        let by_name = call.handle == NONE;
        self.used |= for_its_own_sake
            || !(open_or_close
                || by_name
                || call.kind == CallKind::StatHandle
                || is_idle(call.kind));
    }

    fn block(&mut self, call: &Timed, walk: Option<&mut Walk>) {
        let moved = call.moved_bytes();
        if moved == 0 {
            return;
        }
        let end = call.offset.saturating_add(moved);
        if let Some(walk) = walk {
            walk.block(call.offset, end, &mut self.steps);
        }
        self.blocks += 1;
        let whole = |bytes: u64| bytes.is_multiple_of(PAGE_BYTES);
        self.aligned += u64::from(whole(call.offset) && whole(call.asked));
        // The last block of a file is as small as it is.
        let is_small = moved < PAGE_BYTES && (moved == call.asked || call.kind.writes());
        match call.kind.writes() {
            true if is_small => self.small_writes.add(call),
            false if is_small => self.small_reads.add(call),
            _ => (),
        }
        if !call.kind.writes() {
            self.read.add(call.offset, end);
        }
    }
}

/// Calls that do not use what a file holds.
fn is_idle(kind: CallKind) -> bool {
    matches!(kind, CallKind::Advise | CallKind::Other | CallKind::Seek)
}
