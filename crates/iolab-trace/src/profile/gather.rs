//! One pass over the calls: counts, bytes and times of each file, kind and size.

use std::collections::{BTreeMap, HashMap};

use super::cost::Cost;
use super::extents::Extents;
use super::origin::Origins;
use super::pattern::{Steps, Walk};
use super::sum::{During, Sum, Timed};
use super::times::Times;
use super::{FileRow, KindRow, SizeRow, Whole};
use crate::call::{Call, CallKind, NONE, OpenFlags, Result};
use crate::trace::{FileKind, Trace};

/// A share of the program's time below which what is left beside file calls is not known well enough
/// for a gain.
const LEAST_REST: f64 = 0.05;

/// The row of calls on no file.
const NO_FILE: &str = "(no file)";

/// Blocks of this size and on this boundary are whole pages.
const PAGE_BYTES: u64 = 4096;

/// An opening that does what it is for.
const FOR_ITS_OWN_SAKE: OpenFlags =
    OpenFlags::CREAT.with(OpenFlags::TRUNC).with(OpenFlags::DIRECTORY).with(OpenFlags::PATH);

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
    during: During,
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
    /// Of no file that is known.
    fileless: OfFile,
    elsewhere: u64,
    rings: u64,
    low_ns: u64,
    high_ns: u64,
}

pub(super) fn gather(trace: &Trace) -> Gathered {
    let cost = Cost::of(trace);
    let calls: Vec<&Call> = trace.calls.iter().filter(|call| trace.is_of_files(call)).collect();
    let times = Times::of(trace, &calls, cost);
    let count = |is: fn(&Call) -> bool| trace.calls.iter().filter(|call| is(call)).count() as u64;
    let rings = count(|call| call.kind == CallKind::Ring);
    let of_processes = count(|call| call.kind.is_of_processes());
    let mut gathered = Gathered {
        cost,
        files: vec![OfFile::default(); trace.files.len()],
        kinds: BTreeMap::new(),
        not_found: HashMap::new(),
        all: Sum::default(),
        passed_on: HashMap::new(),
        sizes: BTreeMap::new(),
        fileless: OfFile::default(),
        elsewhere: trace.calls.len() as u64 - calls.len() as u64 - rings - of_processes,
        rings,
        low_ns: times.low_ns,
        high_ns: times.high_ns,
    };
    let mut walks = vec![Walk::default(); trace.handles.len()];
    let mut last_reads: HashMap<u32, Timed> = HashMap::new();
    let mut asked: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
    for (call, file_ns) in calls.into_iter().zip(&times.calls_ns) {
        let call = &Timed { call: *call, file_ns: *file_ns };
        gathered.call(call, &mut walks);
        gathered.copied(trace, call);
        gathered.pass_on(trace, call, &mut last_reads);
        gathered.ask(trace, call, &mut asked);
    }
    gathered
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
        match self.files.get_mut(call.file as usize) {
            Some(file) => file.call(call, walks.get_mut(call.handle as usize)),
            None => self.fileless.call(call, None),
        }
    }

    /// What a copy wrote is the other file's, its time the first one's alone.
    fn copied(&mut self, trace: &Trace, call: &Timed) {
        let target = trace.file_of_handle(call.other).filter(|_| call.kind.copies());
        if let Some(file) = target.and_then(|file| self.files.get_mut(file as usize)) {
            let untimed = Timed { call: call.call, file_ns: 0 };
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

    pub(super) fn whole(&self, trace: &Trace, origins: &Origins) -> Whole {
        let run = trace.middle_run();
        let traced = trace.wall_ns;
        // Without a run of its own, what is left of the traced one without the tracer's time.
        let tracers = self.cost.wall_ns.saturating_mul(trace.calls.len() as u64);
        let (file_ns, low_ns) = (self.all.file_ns, self.low_ns);
        let most_ns = if run.is_some() { u64::MAX } else { traced };
        let high_ns = self.high_ns.min(most_ns).max(file_ns);
        let own = traced.saturating_sub(tracers).max(high_ns);
        let wall_ns = run.map_or(own, |run| run.wall_ns);
        let has_times = wall_ns > 0 && trace.calls.iter().any(|call| call.took_ns > 0);
        let share_of = |ns: u64| has_times.then(|| (ns as f64 / wall_ns as f64).clamp(0.0, 1.0));
        let gain = |ns: u64| share_of(ns).and_then(gain_of_share);
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
            gain: gain(file_ns),
            gain_at_most: gain(high_ns),
            calls: self.all.calls,
            files: self.files.iter().filter(|file| file.all.calls > 0).count(),
            read_bytes,
            reads,
            written_bytes,
            writes,
            elsewhere_calls: self.elsewhere,
            ring_calls: self.rings,
            threads: trace.threads.len(),
            program: String::from_utf8_lossy(&origins.program).into_owned(),
            program_threads: origins.program_threads,
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
            ..of.row()
        };
        let mut rows: Vec<FileRow> = used.map(row).collect();
        rows.extend(self.fileless_row());
        rows.sort_by_key(|row| std::cmp::Reverse((row.file_ns, row.calls)));
        rows
    }

    /// Calls that name no file (sync) or a descriptor whose opening was not seen: without them the sum of
    /// all files is less than that of all calls.
    fn fileless_row(&self) -> Option<FileRow> {
        (self.fileless.all.calls > 0).then(|| FileRow {
            name: NO_FILE.to_owned(),
            kind: FileKind::Unknown.word(),
            ..self.fileless.row()
        })
    }

    pub(super) fn kind_rows(&self) -> Vec<KindRow> {
        let row = |(kind, sum): (&CallKind, &Sum)| KindRow {
            kind: kind.word(),
            calls: sum.calls,
            failed: sum.failed,
            file_ns: sum.file_ns,
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

/// How many times as fast a program is without what has this share of its time; nothing where next to
/// nothing else is left.
fn gain_of_share(share: f64) -> Option<f64> {
    (1.0 - share > LEAST_REST).then(|| 1.0 / (1.0 - share))
}

impl OfFile {
    /// What its calls say of a file.
    fn row(&self) -> FileRow {
        FileRow {
            file_ns: self.all.file_ns,
            calls: self.all.calls,
            read_bytes: self.reads.bytes,
            reads: self.reads.calls,
            written_bytes: self.writes.bytes,
            writes: self.writes.calls,
            read_again_bytes: self.read.clone().again_bytes(),
            pattern: self.steps.pattern(),
            aligned_share: (self.blocks > 0).then(|| self.aligned as f64 / self.blocks as f64),
            small_reads: self.small_reads.calls,
            small_writes: self.small_writes.calls,
            syncs: self.syncs.calls,
            opens: self.opens.calls,
            looked_up: self.looked_up.calls,
            first_ns: self.during.first_ns,
            last_ns: self.during.last_ns,
            ..FileRow::default()
        }
    }

    fn call(&mut self, call: &Timed, walk: Option<&mut Walk>) {
        self.all.add(call);
        self.during.add(call);
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
        let for_its_own_sake = call.kind == CallKind::Open && flags.has(FOR_ITS_OWN_SAKE);
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
