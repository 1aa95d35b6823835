//! What the survey says of read against mmap, by the size of the file.

use super::{Finding, Line, NOTHING};
use iolab_model::catalog::{Factor, MethodClass, bytes_text, ratio_digits, ratio_text};
use iolab_model::result::{AnswerKind, CellStanding, Document, Grade};

/// One file size of read against mmap: which is faster and by how much.
struct Contest {
    bytes: u64,
    /// Which one; `None`: open.
    winner: Option<Way>,
    /// How many times as long the other one takes, at least and at most.
    low: f64,
    high: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Read,
    Mmap,
}

fn contests(document: &Document) -> Vec<Contest> {
    let way = |id: &str| {
        let cell = document.cells.iter().find(|c| c.id == id)?;
        let maps = MethodClass::of_cell(&cell.factors)? == MethodClass::Maps;
        Some(if maps { Way::Mmap } else { Way::Read })
    };
    let mut found: Vec<Contest> = document
        .answers
        .iter()
        .filter(|answer| answer.kind != AnswerKind::Invalid)
        .filter_map(|answer| {
            let bytes = answer.condition.number(Factor::FileSize)?;
            let leader = answer.leader()?;
            let best = answer.standing_of(leader) == CellStanding::Best;
            let loser = answer.regret.iter().find(|regret| *regret.cell != *leader)?;
            let winner = if best { way(leader) } else { None };
            Some(Contest { bytes, winner, low: loser.low, high: loser.high })
        })
        .collect();
    found.sort_by_key(|c| c.bytes);
    found
}

/// read against mmap: where one gives way to the other, and where that is open.
pub(super) fn mapping(document: &Document) -> Finding {
    let mut finding = Finding::of("Mapping");
    let all = contests(document);
    if all.is_empty() {
        finding.say(NOTHING);
        return finding;
    }
    let mut parts: Vec<String> = Vec::new();
    // Neighbouring sizes with the same outcome are one part.
    for run in all.chunk_by(|a, b| a.winner == b.winner) {
        let (first, last) = (bytes_text(run[0].bytes), bytes_text(run[run.len() - 1].bytes));
        let sizes = if first == last { first } else { format!("{first} to {last}") };
        let low = run.iter().map(|c| c.low).fold(f64::INFINITY, f64::min);
        let high = run.iter().try_fold(1.0, |most: f64, c| Some(most.max(c.high?)));
        let by = match high {
            Some(high) => format!("{}–{}", ratio_digits(low), ratio_text(high)),
            None => format!("at least {}", ratio_text(low)),
        };
        parts.push(match run[0].winner {
            Some(Way::Read) => format!("read() wins at {sizes} ({by})"),
            Some(Way::Mmap) => format!("mmap wins at {sizes} ({by})"),
            None => format!("open at {sizes}"),
        });
    }
    finding.lines.push(Line::list(parts));
    finding.advice = mapping_advice(&all);
    finding.rough = document.answers.iter().any(|answer| answer.grade >= Grade::C);
    finding
}

/// What to use by size; nothing where they change places more than once.
fn mapping_advice(all: &[Contest]) -> Option<String> {
    let decided: Vec<&Contest> = all.iter().filter(|c| c.winner.is_some()).collect();
    let sides: Vec<&[&Contest]> = decided.chunk_by(|a, b| a.winner == b.winner).collect();
    let open = decided.len() < all.len();
    match sides[..] {
        [only] if !open && only[0].winner == Some(Way::Read) => {
            Some("read() rather than mmap".to_owned())
        }
        [only] if !open && only[0].winner == Some(Way::Mmap) => {
            Some("mmap rather than read()".to_owned())
        }
        [below, above] => {
            let name = |contest: &Contest| match contest.winner {
                Some(Way::Mmap) => "mmap",
                _ => "read()",
            };
            let (last, first) = (below[below.len() - 1], above[0]);
            let (up_to, from) = (bytes_text(last.bytes), bytes_text(first.bytes));
            Some(format!("{} for files up to {up_to} but {} from {from}", name(last), name(first)))
        }
        _ => None,
    }
}
