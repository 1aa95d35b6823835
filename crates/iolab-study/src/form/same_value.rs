//! `same-value`: every cell found the same value (the digest of what was read).

use std::sync::Arc;

use super::{Form, Test};
use crate::bench::Bench;
use crate::evidence::digests;
use crate::ruling::{Ruled, Ruling, Verdict};
use crate::saying::Saying;

pub(super) const FORM: Form =
    Form { word: "same-value", keys: &[], read: |_| Ok(Arc::new(SameValue)) };

#[derive(Debug)]
struct SameValue;

impl Test for SameValue {
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let cells = bench.of.cells(bench.document);
        let found: Vec<(String, Vec<String>)> = cells
            .iter()
            .map(|cell| (cell.id.clone(), digests(cell)))
            .filter(|(_, digests)| !digests.is_empty())
            .collect();
        let Some((_, first)) = found.first() else {
            return Err("no trial left a digest of a whole pass".into());
        };
        if found.len() < 2 {
            return Err("fewer than two cells left a digest of a whole pass".into());
        }
        Ok(match found.iter().find(|(_, digests)| digests != first || digests.len() > 1) {
            None => {
                let why = everywhere(&first[0], found.len(), cells.len());
                Ruling::new(Verdict::Replicated, why)
            }
            Some((cell, digests)) => {
                let (theirs, first) = (digests.join(" and "), first.join(" and "));
                let why = format!("{cell} found {theirs}, the first cell {first}");
                Ruling::new(Verdict::Contradicted, why)
            }
        })
    }

    fn said(&self, _: &Saying) -> String {
        "every cell found the same value".to_owned()
    }
}

fn everywhere(digest: &str, found: usize, cells: usize) -> String {
    match cells - found {
        0 => format!("{digest} in all {cells} cells"),
        rest => format!(
            "{digest} in each of the {found} cells that read the file to its end; {rest} others \
             read a part of it, whose value is another by right"
        ),
    }
}
