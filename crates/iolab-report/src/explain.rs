//! Why a cell is slow, where what was counted beside time shows it: one rule each, held against
//! the best cell. What no rule sees is not explained.

use iolab_model::catalog::{Factor, bytes_text};
use iolab_model::result::{CellRecord, Measurement};

use super::shares;
use super::view_model::{Mark, Row};

/// Slow cells that are explained, the slowest first: a report is read, not searched.
const MOST: usize = 4;
/// A count is remarkable where it is so many times that of the best cell.
const TIMES: f64 = 2.0;
/// A share of time is remarkable where it is so much more than that of the best cell.
const MORE: f64 = 0.15;

/// Totals of a cell over the trials that count.
struct Figures {
    wall_ns: f64,
    /// Processor time over wall time, in the middle of the trials, as the picture has it: an
    /// outlier or two are no cause of the median.
    processor: Option<f64>,
    /// The part of the processor time that is user time, where the trials are long enough to say.
    user_of_processor: Option<f64>,
    mebibytes: f64,
    operations: f64,
    threads: f64,
    block_bytes: Option<u64>,
    minor_faults: Option<f64>,
    major_faults: Option<f64>,
    voluntary: Option<f64>,
    involuntary: Option<f64>,
    device_read_bytes: Option<f64>,
    disk_write_bytes: Option<f64>,
}

impl Figures {
    fn of(cell: &CellRecord) -> Option<Figures> {
        let steady = || {
            let counts = cell.samples.iter().filter(|s| s.is_steady());
            counts.map(|sample| &sample.measurement)
        };
        let sum = |value: fn(&Measurement) -> u64| steady().map(|m| value(m) as f64).sum::<f64>();
        let metric = |id: &str| steady().map(|m| m.metrics.get(id).copied()).sum::<Option<f64>>();
        let wall_ns = sum(|m| m.wall_ns);
        (wall_ns > 0.0).then(|| Figures {
            wall_ns,
            processor: shares::processor(cell),
            user_of_processor: shares::user_of_processor(cell),
            mebibytes: sum(|m| m.bytes) / f64::from(1 << 20),
            operations: sum(|m| m.operations),
            threads: cell.factors.number(Factor::Threads).unwrap_or(1).max(1) as f64,
            block_bytes: cell.factors.number(Factor::Block),
            minor_faults: metric("minor_faults"),
            major_faults: metric("major_faults"),
            voluntary: metric("voluntary_switches"),
            involuntary: metric("involuntary_switches"),
            device_read_bytes: metric("device_read_bytes"),
            disk_write_bytes: metric("disk_write_bytes"),
        })
    }

    /// Per MiB moved; nothing where no bytes move.
    fn per_mebibyte(&self, count: Option<f64>) -> Option<f64> {
        (self.mebibytes > 0.0).then(|| Some(count? / self.mebibytes)).flatten()
    }

    fn system_share(&self) -> Option<f64> {
        Some((self.processor? * (1.0 - self.user_of_processor?) / self.threads).min(1.0))
    }

    /// Time in which it did not run.
    fn waiting_share(&self) -> Option<f64> {
        Some((1.0 - self.processor? / self.threads).max(0.0))
    }
}

/// What a rule says of a cell beside the best one.
type Rule = fn(&Figures, &Figures) -> Option<String>;

/// Every rule, the plainest cause first. A new one is a row here and a test.
const RULES: [Rule; 10] = [
    calls,
    unaligned,
    faults,
    device_faults,
    system_time,
    waiting,
    gave_up,
    taken_away,
    read_amplification,
    write_amplification,
];

/// A count a MiB that is at least `least` and twice that of the best cell.
fn stands_out(
    cell: &Figures,
    best: &Figures,
    count: fn(&Figures) -> Option<f64>,
    least: f64,
) -> Option<(String, String)> {
    let of = |figures: &Figures| figures.per_mebibyte(count(figures));
    let (own, theirs) = (of(cell)?, of(best)?);
    (own >= least && own >= TIMES * theirs).then(|| (number(own), number(theirs)))
}

fn number(value: f64) -> String {
    match value {
        v if v >= 10.0 => format!("{v:.0}"),
        v if v >= 0.095 || v == 0.0 => format!("{v:.1}").replace(".0", ""),
        _ => "under 0.1".into(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn calls(cell: &Figures, best: &Figures) -> Option<String> {
    cell.block_bytes?;
    match best.block_bytes {
        Some(_) => {
            let (own, theirs) = stands_out(cell, best, |f| Some(f.operations), 32.0)?;
            Some(format!("{own} calls a MiB, the best makes {theirs}"))
        }
        // What a method without blocks counts as operations are no calls.
        None => {
            let own = cell.per_mebibyte(Some(cell.operations)).filter(|calls| *calls >= 32.0)?;
            Some(format!("{} calls a MiB", number(own)))
        }
    }
}

fn unaligned(cell: &Figures, best: &Figures) -> Option<String> {
    const PAGE_BYTES: u64 = 4096;
    let straddles = |figures: &Figures| {
        let fits = |bytes: u64| {
            bytes.is_multiple_of(PAGE_BYTES) || bytes > 0 && PAGE_BYTES.is_multiple_of(bytes)
        };
        figures.block_bytes.filter(|bytes| !fits(*bytes))
    };
    let block = straddles(cell).filter(|_| straddles(best).is_none())?;
    Some(format!("blocks of {} straddle pages", bytes_text(block)))
}

fn faults(cell: &Figures, best: &Figures) -> Option<String> {
    let (own, theirs) = stands_out(cell, best, |f| f.minor_faults, 4.0)?;
    Some(format!("{own} page faults a MiB, the best takes {theirs}"))
}

fn device_faults(cell: &Figures, best: &Figures) -> Option<String> {
    let (own, theirs) = stands_out(cell, best, |f| f.major_faults, 0.5)?;
    Some(format!("{own} faults a MiB that wait for the device, the best takes {theirs}"))
}

fn system_time(cell: &Figures, best: &Figures) -> Option<String> {
    let (own, theirs) = (cell.system_share()?, best.system_share()?);
    (own >= 0.5 && own >= theirs + MORE).then(|| {
        format!("{} of its time in the kernel, the best {}", percent(own), percent(theirs))
    })
}

fn waiting(cell: &Figures, best: &Figures) -> Option<String> {
    let (own, theirs) = (cell.waiting_share()?, best.waiting_share()?);
    (own >= 0.3 && own >= theirs + MORE)
        .then(|| format!("{} of its time waiting, the best {}", percent(own), percent(theirs)))
}

fn gave_up(cell: &Figures, best: &Figures) -> Option<String> {
    let (own, theirs) = stands_out(cell, best, |f| f.voluntary, 4.0)?;
    Some(format!("it sleeps {own} times a MiB, the best {theirs}"))
}

fn taken_away(cell: &Figures, best: &Figures) -> Option<String> {
    let rate = |f: &Figures| Some(f.involuntary? / (f.wall_ns / 1e9));
    let (own, theirs) = (rate(cell)?, rate(best)?);
    (own >= 50.0 && own >= TIMES * theirs).then(|| {
        format!(
            "the processor is taken from it {} times a second, from the best {}",
            number(own),
            number(theirs)
        )
    })
}

/// Bytes at the device for each byte moved.
fn amplification(figures: &Figures, bytes: Option<f64>) -> Option<f64> {
    figures.per_mebibyte(bytes).map(|bytes| bytes / f64::from(1 << 20))
}

fn read_amplification(cell: &Figures, best: &Figures) -> Option<String> {
    let of = |figures: &Figures| amplification(figures, figures.device_read_bytes);
    let (own, theirs) = (of(cell)?, of(best)?);
    (own >= 1.1 && own >= 1.1 * theirs).then(|| {
        format!(
            "the device delivers {own:.1} bytes for each byte it gets, for the best {theirs:.1}"
        )
    })
}

fn write_amplification(cell: &Figures, best: &Figures) -> Option<String> {
    let of = |figures: &Figures| amplification(figures, figures.disk_write_bytes);
    let (own, theirs) = (of(cell)?, of(best)?);
    (own >= 1.1 && own >= 1.1 * theirs).then(|| {
        format!("{own:.1} bytes reach the disk for each byte it moves, for the best {theirs:.1}")
    })
}

/// A line for each of the slowest cells that were shown to be slower than the best.
pub(super) fn why(cells: &[&CellRecord], rows: &[Row], best: Option<&str>) -> Vec<String> {
    let find = |id: &str| cells.iter().find(|cell| cell.id == id);
    let Some(best) = best.and_then(find).and_then(|cell| Figures::of(cell)) else {
        return Vec::new();
    };
    let proven = |row: &&Row| matches!(row.mark, Mark::ClearlySlower | Mark::Slower);
    let mut slow: Vec<&Row> = rows.iter().filter(proven).collect();
    slow.sort_by(|a, b| b.share.total_cmp(&a.share));
    let explained = slow.into_iter().filter_map(|row| {
        let figures = Figures::of(find(&row.id)?)?;
        let causes: Vec<String> = RULES.iter().filter_map(|rule| rule(&figures, &best)).collect();
        (!causes.is_empty()).then(|| format!("{}: {}", row.id, causes.join("; ")))
    });
    explained.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::{Figures, RULES};
    use iolab_model::catalog::{Factor, Level};
    use iolab_test::fakes::{document, fake, levels};

    /// A MiB in a second by one thread in one call, nothing remarkable.
    fn plain() -> Figures {
        Figures {
            wall_ns: 1e9,
            processor: Some(1.0),
            user_of_processor: Some(0.6),
            mebibytes: 1.0,
            operations: 1.0,
            threads: 1.0,
            block_bytes: Some(1 << 20),
            minor_faults: Some(0.0),
            major_faults: Some(0.0),
            voluntary: Some(0.0),
            involuntary: Some(0.0),
            device_read_bytes: Some(0.0),
            disk_write_bytes: Some(0.0),
        }
    }

    fn said(cell: &Figures, best: &Figures) -> Vec<String> {
        RULES.iter().filter_map(|rule| rule(cell, best)).collect()
    }

    /// What is said of a plain cell that was changed so.
    fn of(change: fn(&mut Figures)) -> String {
        let mut cell = plain();
        change(&mut cell);
        let all = said(&cell, &plain());
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(said(&cell, &cell).is_empty(), "what the best does too explains nothing");
        all[0].clone()
    }

    #[test]
    fn equals_have_nothing_to_explain() {
        assert!(said(&plain(), &plain()).is_empty());
    }

    #[test]
    fn many_calls() {
        let text = of(|f| (f.operations, f.block_bytes) = (256.0, Some(4096)));
        assert_eq!(text, "256 calls a MiB, the best makes 1");
        let (small, mapped) = (
            Figures { operations: 256.0, block_bytes: Some(4096), ..plain() },
            Figures { block_bytes: None, ..plain() },
        );
        assert_eq!(said(&small, &mapped), ["256 calls a MiB"]);
        assert!(said(&mapped, &small).is_empty());
    }

    #[test]
    fn blocks_that_straddle_pages() {
        assert!(of(|f| f.block_bytes = Some(100_000)).contains("straddle pages"));
        // Blocks that divide a page were said to straddle it.
        for bytes in [1, 512, 1024, 2048, 8192] {
            let cell = Figures { block_bytes: Some(bytes), ..plain() };
            assert!(said(&cell, &plain()).is_empty(), "{bytes}");
        }
    }

    #[test]
    fn page_faults_and_those_that_wait() {
        let text = of(|f| f.minor_faults = Some(256.0));
        assert_eq!(text, "256 page faults a MiB, the best takes 0");
        assert!(of(|f| f.major_faults = Some(8.0)).contains("8 faults a MiB that wait"));
    }

    #[test]
    fn time_in_the_kernel_and_time_asleep() {
        let text = of(|f| f.user_of_processor = Some(0.05));
        assert_eq!(text, "95 % of its time in the kernel, the best 40 %");
        let text = of(|f| f.processor = Some(0.2));
        assert_eq!(text, "80 % of its time waiting, the best 0 %");
        let cell = Figures { threads: 2.0, processor: Some(2.0), ..plain() };
        assert!(said(&cell, &plain()).is_empty(), "two threads that are busy wait for nothing");
    }

    /// "100 % of its time in the kernel" was said of trials of 3 ms, which no tick divides.
    #[test]
    fn of_short_trials_the_kernels_share_is_not_known() {
        let cell = Figures { user_of_processor: None, ..plain() };
        let idle = Figures { processor: None, ..plain() };
        assert!(said(&cell, &plain()).is_empty() && said(&idle, &plain()).is_empty());
        let at = levels(&[(Factor::Method, Level::word("read"))]);
        let share = |wall_ns: f64| {
            let mut short = vec![fake(at.clone(), wall_ns, 1 << 20)];
            short[0].cpu = (0.0, 1.0);
            let run = document(3, "read", &[Factor::Method], 8, short);
            let seen = Figures::of(&run.cells[0]).unwrap();
            (seen.waiting_share(), seen.system_share())
        };
        assert_eq!(share(3e6), (Some(0.0), None));
        assert_eq!(share(5e4), (None, None));
    }

    /// Two outliers of eight trials that waited for the device once made a cell "80 % of its time
    /// waiting", beside a picture in which it never waits.
    #[test]
    fn a_few_trials_that_waited_explain_no_median() {
        let at = levels(&[(Factor::Method, Level::word("read"))]);
        let mut fakes = vec![fake(at, 1e8, 1 << 28)];
        fakes[0].cpu = (0.3, 0.7);
        let mut run = document(3, "read", &[Factor::Method], 8, fakes);
        let cell = &mut run.cells[0];
        for sample in cell.samples.iter_mut().rev().take(2) {
            sample.measurement.wall_ns *= 20;
        }
        let seen = Figures::of(cell).unwrap();
        assert!(seen.waiting_share().unwrap() < 0.01, "{:?}", seen.waiting_share());
    }

    #[test]
    fn switches_of_either_kind() {
        assert!(of(|f| f.voluntary = Some(64.0)).contains("sleeps 64 times a MiB"));
        assert!(of(|f| f.involuntary = Some(500.0)).contains("500 times a second"));
    }

    #[test]
    fn bytes_at_the_device_against_bytes_claimed() {
        let text = of(|f| f.device_read_bytes = Some(f64::from(4 << 20)));
        assert_eq!(text, "the device delivers 4.0 bytes for each byte it gets, for the best 0.0");
        assert!(of(|f| f.disk_write_bytes = Some(f64::from(2 << 20))).contains("2.0 bytes"));
    }

    #[test]
    fn what_is_not_counted_is_not_explained() {
        let blind = Figures { minor_faults: None, device_read_bytes: None, ..plain() };
        let cell = Figures { minor_faults: Some(1e6), device_read_bytes: Some(1e9), ..plain() };
        assert!(said(&cell, &blind).is_empty());
        let calls = Figures { mebibytes: 0.0, minor_faults: Some(1e6), ..plain() };
        assert!(said(&calls, &plain()).is_empty());
    }
}
