//! Block sizes that are as good as the best, by the intervals of the answers.

use std::collections::BTreeMap;

use super::cells::Index;
use super::standing::{Conditions, Standing, unit_time};
use iolab_model::catalog::Factor;
use iolab_model::result::{AnswerKind, CellRecord, CellStanding, Finding, FindingKind};

/// Blocks of one answer that are as good as its best.
pub struct Plateau {
    /// The flagged cell.
    pub cell: String,
    /// The smallest that is as good, in bytes.
    pub smallest: u64,
    /// The fastest.
    pub best: u64,
    /// The largest that is as good.
    pub largest: u64,
    /// Proven within what matters; else only not told apart.
    pub proven: bool,
    /// Whether `best` alone may be the best; else it is what the answer says to take.
    pub won: bool,
    /// What the answer finds of it.
    pub sentence: Option<String>,
}

/// Plateaus by run and the id of the flagged cell, in order of the answers.
pub fn plateaus(index: &Index<'_>) -> BTreeMap<(usize, String), Plateau> {
    let mut found = BTreeMap::new();
    for (run, document) in index.documents.iter().enumerate() {
        let conditions = Conditions::of(document);
        for answer in document.answers.iter().filter(|a| a.kind != AnswerKind::Invalid) {
            let cells = conditions.cells(answer);
            let standing = Standing::of(document, &cells, answer);
            let plateau = standing.and_then(|s| plateau(&s, cells.iter().copied()));
            if let Some(plateau) = plateau {
                found.insert((run, plateau.cell.clone()), plateau);
            }
        }
    }
    found
}

/// Of the leader's own series (every level but the block equal): the blocks near the leader.
fn plateau<'a>(
    standing: &Standing<'a>,
    cells: impl Iterator<Item = &'a CellRecord>,
) -> Option<Plateau> {
    let answer = standing.answer;
    let won = answer.standing_of(&standing.leader.id) == CellStanding::Best;
    let of_blocks =
        |f: &&Finding| f.kind == FindingKind::Plateau && f.factor == Factor::Block.name();
    let found = answer.findings.iter().find(of_blocks);
    let best = standing.leader.factors.number(Factor::Block)?;
    let kin = standing.leader.factors.only(|f| f != Factor::Block);
    let kin: Vec<(u64, &str)> = cells
        .filter(|c| unit_time(c).is_some() && c.factors.only(|f| f != Factor::Block) == kin)
        .filter_map(|c| Some((c.factors.number(Factor::Block)?, c.id.as_str())))
        .collect();
    let span = |near: &dyn Fn(&str) -> bool| {
        let mut blocks: Vec<(u64, &str)> = kin.iter().copied().filter(|(_, id)| near(id)).collect();
        blocks.sort_unstable();
        Some((*blocks.first()?, *blocks.last()?))
    };
    let proven = span(&|id| standing.near(id) || id == standing.leader.id)?;
    let maybe = span(&|id| standing.best(id) || standing.near(id))?;
    let open = standing.answer.kind == AnswerKind::Undecided && maybe.0.0 < proven.0.0;
    let (smallest, largest) = if open && proven.0.0 == best { (maybe.0, maybe.1) } else { proven };
    // What the answer finds, where it finds something of this series: its bound may be wider.
    let of_answer = found.and_then(|f| kin.iter().find(|(_, id)| **id == *f.cell));
    let smallest = of_answer.copied().unwrap_or(smallest);
    let proven =
        of_answer.is_some() || standing.near(smallest.1) || won && smallest.1 == standing.leader.id;
    Some(Plateau {
        cell: smallest.1.to_owned(),
        smallest: smallest.0,
        best,
        largest: largest.0.max(smallest.0),
        proven,
        won,
        sentence: of_answer.and(found).map(|found| found.sentence.clone()),
    })
}
