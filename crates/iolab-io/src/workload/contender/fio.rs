//! What fio says of itself, so that it can stand beside what is measured here: its own figure
//! leaves out the start of its processes and the laying out of files.

use super::order::CommandOrder;

/// Bytes a second of all jobs, by the last report that was printed.
pub fn own_figure(order: &CommandOrder) -> Option<f64> {
    speed(&order.printed()?)
}

fn speed(printed: &[u8]) -> Option<f64> {
    // Notes may stand before the report.
    let start = printed.iter().position(|byte| *byte == b'{')?;
    let reports =
        serde_json::Deserializer::from_slice(&printed[start..]).into_iter::<serde_json::Value>();
    let last = reports.map_while(Result::ok).last()?;
    let jobs = last.get("jobs")?.as_array()?;
    let of = |job: &serde_json::Value, kind: &str| job.get(kind)?.get("bw_bytes")?.as_f64();
    let sum: f64 = jobs.iter().flat_map(|job| [of(job, "read"), of(job, "write")]).flatten().sum();
    (sum > 0.0).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::speed;

    #[test]
    fn the_speed_is_that_of_all_jobs_in_the_last_report() {
        let job = |read: u64, write: u64| {
            format!(r#"{{"read":{{"bw_bytes":{read}}},"write":{{"bw_bytes":{write}}}}}"#)
        };
        let report = |jobs: &[String]| format!("{{\"jobs\":[{}]}}\n", jobs.join(","));
        let text = format!("note: x\n{}{}", report(&[job(1, 0)]), report(&[job(5, 0), job(0, 7)]));
        assert_eq!(speed(text.as_bytes()), Some(12.0));
        for odd in ["", "{", "{}", "{\"jobs\":[]}", "{\"jobs\":4}", "no"] {
            assert_eq!(speed(odd.as_bytes()), None, "{odd}");
        }
    }
}
