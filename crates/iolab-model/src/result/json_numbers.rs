//! JSON knows no NaN and no infinity, so a document is made free of them before it is written.
//! What has no finite value is left out; nothing is replaced by an invented figure.

use std::borrow::Cow;

use super::{Document, Estimate, Sample, Summary};

impl Document {
    /// Whether every number can be written as JSON.
    pub fn is_finite(&self) -> bool {
        let mut samples = self.cells.iter().flat_map(|c| &c.samples);
        samples.all(Sample::is_finite)
            && self.experiment.protocol.is_finite()
            && self.cells.iter().filter_map(|c| c.estimate.as_ref()).all(Estimate::is_finite)
            && self.twin.as_ref().is_none_or(|t| {
                t.samples.iter().all(Sample::is_finite) && all_finite(&[t.ratio, t.low, t.high])
            })
            && self.answers.iter().all(|a| {
                all_finite(&[a.detectable, a.more_seconds])
                    && a.comparisons.iter().all(|c| all_finite(&[Some(c.ratio), c.low, c.high]))
            })
    }

    /// The document as it can be written as JSON; a copy only where something must be left out.
    pub fn finite(&self) -> Cow<'_, Document> {
        let mut document = Cow::Borrowed(self);
        if !document.is_finite() {
            document.to_mut().make_finite();
        }
        document
    }

    /// Leaves out what has no finite value: a metric, a bound, an estimate, a comparison without
    /// a ratio. A standard deviation of fewer than two samples becomes 0.
    pub fn make_finite(&mut self) {
        let (numbers, optional) = self.experiment.protocol.numbers();
        numbers.into_iter().for_each(|value| *value = finite(*value).unwrap_or(0.0));
        optional.into_iter().for_each(drop_infinite);
        for cell in &mut self.cells {
            cell.samples.iter_mut().for_each(Sample::make_finite);
            cell.estimate = cell.estimate.take().and_then(Estimate::finite);
        }
        if let Some(twin) = &mut self.twin {
            twin.samples.iter_mut().for_each(Sample::make_finite);
            [&mut twin.ratio, &mut twin.low, &mut twin.high].into_iter().for_each(drop_infinite);
        }
        for answer in &mut self.answers {
            [&mut answer.detectable, &mut answer.more_seconds].into_iter().for_each(drop_infinite);
            answer.comparisons.retain(|c| c.ratio.is_finite());
            for comparison in &mut answer.comparisons {
                [&mut comparison.low, &mut comparison.high].into_iter().for_each(drop_infinite);
            }
        }
    }
}

impl Sample {
    /// Whether every number can be written as JSON.
    pub fn is_finite(&self) -> bool {
        self.measurement.metrics.values().all(|v| v.is_finite())
    }

    /// Leaves out metrics without a finite value.
    pub fn make_finite(&mut self) {
        self.measurement.metrics.retain(|_, value| value.is_finite());
    }
}

impl Estimate {
    fn is_finite(&self) -> bool {
        [&self.wall_ns, &self.user_ns, &self.system_ns, &self.ns_per_operation]
            .into_iter()
            .chain(&self.bytes_per_second)
            .all(Summary::is_finite)
    }

    fn finite(self) -> Option<Estimate> {
        Some(Estimate {
            wall_ns: self.wall_ns.finite()?,
            user_ns: self.user_ns.finite()?,
            system_ns: self.system_ns.finite()?,
            bytes_per_second: self.bytes_per_second.and_then(Summary::finite),
            ns_per_operation: self.ns_per_operation.finite()?,
        })
    }
}

impl Summary {
    fn is_finite(&self) -> bool {
        self.sd.is_finite() && self.middle_is_finite() && all_finite(&[self.low, self.high])
    }

    fn middle_is_finite(&self) -> bool {
        [self.median, self.mean, self.min, self.q1, self.q3, self.max].iter().all(|v| v.is_finite())
    }

    fn finite(mut self) -> Option<Summary> {
        [&mut self.low, &mut self.high].into_iter().for_each(drop_infinite);
        self.sd = match finite(self.sd) {
            None if self.n < 2 => 0.0,
            sd => sd?,
        };
        self.middle_is_finite().then_some(self)
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn drop_infinite(value: &mut Option<f64>) {
    *value = value.and_then(finite);
}

fn all_finite(values: &[Option<f64>]) -> bool {
    values.iter().flatten().all(|v| v.is_finite())
}
