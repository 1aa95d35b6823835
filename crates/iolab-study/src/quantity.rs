//! What a published table holds, and the same figure of a cell of ours.

use std::str::FromStr;

use iolab_model::catalog::Code;
use iolab_model::result::{CellRecord, Sample, Summary};

/// A figure of a cell in the unit it was published in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Mean time of one pass, in milliseconds.
    MeanMs,
    /// Its standard deviation, in milliseconds.
    SdMs,
    /// Mean time of one pass, in seconds.
    ElapsedS,
    /// User CPU time of one pass, in seconds.
    UserS,
    /// System CPU time of one pass, in seconds.
    SystemS,
    /// User and system CPU time of one pass, in seconds.
    CpuS,
    /// MiB a second.
    MibPerS,
    /// Mean time of one operation, in microseconds.
    OperationUs,
    /// Mean time of one operation, in nanoseconds.
    OperationNs,
    /// Mean time of as many operations as a table says, in seconds.
    OperationsS,
}

/// The names in files.
pub(super) const QUANTITIES: [(&str, Quantity); 10] = [
    ("mean-ms", Quantity::MeanMs),
    ("sd-ms", Quantity::SdMs),
    ("elapsed-s", Quantity::ElapsedS),
    ("user-s", Quantity::UserS),
    ("system-s", Quantity::SystemS),
    ("cpu-s", Quantity::CpuS),
    ("mib-per-s", Quantity::MibPerS),
    ("operation-us", Quantity::OperationUs),
    ("operation-ns", Quantity::OperationNs),
    ("operations-s", Quantity::OperationsS),
];

impl FromStr for Quantity {
    type Err = ();
    fn from_str(text: &str) -> Result<Quantity, ()> {
        QUANTITIES.iter().find(|(name, _)| *name == text).map(|(_, q)| *q).ok_or(())
    }
}

impl Quantity {
    /// The figure of a cell: the mean, because that is what was published, and the median, which
    /// the verdicts rest on. Absent where the cell has none, or where only a part of a pass was
    /// measured and a whole pass is asked for.
    pub fn of(self, cell: &CellRecord) -> Option<(f64, Option<f64>)> {
        let estimate = cell.estimate.as_ref()?;
        let both = |s: &Summary, unit_ns: f64| Some((s.mean / unit_ns, Some(s.median / unit_ns)));
        match self {
            Quantity::MeanMs => both(&estimate.wall_ns, 1e6),
            Quantity::SdMs => Some((estimate.wall_ns.sd / 1e6, None)),
            Quantity::ElapsedS => both(&estimate.wall_ns, 1e9),
            Quantity::UserS => Some((estimate.user_ns.mean / 1e9, None)),
            Quantity::SystemS => Some((estimate.system_ns.mean / 1e9, None)),
            Quantity::CpuS => Some(((estimate.user_ns.mean + estimate.system_ns.mean) / 1e9, None)),
            Quantity::MibPerS => both(estimate.bytes_per_second.as_ref()?, f64::from(1 << 20)),
            Quantity::OperationUs => both(&estimate.ns_per_operation, 1e3),
            Quantity::OperationNs => both(&estimate.ns_per_operation, 1.0),
            Quantity::OperationsS => both(&estimate.ns_per_operation, 1e9),
        }
    }

    /// The figure of one trial, where it needs no carrying over: the price of an operation.
    pub(super) fn of_trial(self, sample: &Sample) -> Option<f64> {
        let unit_ns = match self {
            Quantity::OperationUs => 1e3,
            Quantity::OperationNs => 1.0,
            _ => return None,
        };
        let m = &sample.measurement;
        (m.operations > 0).then(|| m.wall_ns as f64 / m.operations as f64 / unit_ns)
    }

    /// Whether twice the bytes make it twice as much.
    pub(super) fn grows_with_bytes(self) -> bool {
        matches!(
            self,
            Quantity::MeanMs
                | Quantity::SdMs
                | Quantity::ElapsedS
                | Quantity::UserS
                | Quantity::SystemS
                | Quantity::CpuS
        )
    }

    /// What it is, as a title has it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Quantity::MeanMs | Quantity::ElapsedS => "elapsed time",
            Quantity::SdMs => "standard deviation",
            Quantity::UserS => "user CPU time",
            Quantity::SystemS => "system CPU time",
            Quantity::CpuS => "total CPU time",
            Quantity::MibPerS => "speed",
            Quantity::OperationUs | Quantity::OperationNs => "time of a call",
            Quantity::OperationsS => "time of all calls",
        }
    }

    /// Whether a figure of this cell was carried over from part of a pass.
    pub fn carried_over(cell: &CellRecord) -> bool {
        cell.samples.iter().any(|s| s.measurement.flags.contains(&Code::Bounded))
    }

    /// The unit.
    pub fn unit(self) -> &'static str {
        match self {
            Quantity::MeanMs | Quantity::SdMs => "ms",
            Quantity::ElapsedS
            | Quantity::UserS
            | Quantity::SystemS
            | Quantity::CpuS
            | Quantity::OperationsS => "s",
            Quantity::MibPerS => "MiB/s",
            Quantity::OperationUs => "µs",
            Quantity::OperationNs => "ns",
        }
    }
}

/// A figure with four digits that count, as tables have it.
pub(super) fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".into();
    }
    let decimals = (3 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn four_digits_count() {
        let texts: Vec<String> =
            [845.8249, 0.0064, 1582.0, 0.95, 12345.6, 0.0].iter().map(|v| digits(*v)).collect();
        assert_eq!(texts, ["845.8", "0.006400", "1582", "0.9500", "12346", "0"]);
    }
}
