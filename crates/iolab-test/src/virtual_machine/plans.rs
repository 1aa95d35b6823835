//! Plans for the virtual machine.

use std::collections::BTreeMap;

use iolab_model::catalog::{Factor, Level, Levels};
use iolab_model::plan::{Cell, Condition, Cost, Plan};
use iolab_model::spec::Protocol;

use crate::files::made_file;

/// What a plan for the virtual machine looks like.
#[derive(Clone, Debug)]
pub struct PlanShape {
    /// Cells of each condition.
    pub cells: usize,
    /// Conditions.
    pub conditions: usize,
    /// Cells have files of their own (else one for all).
    pub own_instances: bool,
    /// So many cells of a condition in turn share one of their own files, as methods do that are
    /// compared on several places.
    pub cells_a_file: usize,
    /// `warm`, `cold` or `any`; nothing: no file at all.
    pub cache: Option<&'static str>,
    /// Bytes of a file; a block is 64 KiB.
    pub file_bytes: u64,
    /// Whether slower cells are left out.
    pub eliminate: bool,
    /// How to measure.
    pub protocol: Protocol,
}

impl PlanShape {
    /// So many cells of one condition, each with a file of its own, warm; ten minutes.
    pub fn new(cells: usize, seed: u64) -> PlanShape {
        PlanShape {
            cells,
            conditions: 1,
            own_instances: true,
            cells_a_file: 1,
            cache: Some("warm"),
            file_bytes: 1 << 20,
            eliminate: true,
            protocol: Protocol { budget_ns: 600_000_000_000, ..Protocol::new(seed) },
        }
    }
}

/// A plan of cells `c0`, `c1`, …, told apart by the factor `queue-depth` (their index).
pub fn plan(shape: &PlanShape) -> Plan {
    let total = shape.cells * shape.conditions;
    let cells: Vec<Cell> = (0..total).map(|index| cell(shape, index)).collect();
    let files = match (shape.cache, shape.own_instances) {
        (None, _) => 0,
        (Some(_), true) => total.div_ceil(shape.cells_a_file.max(1)),
        (Some(_), false) => 1,
    };
    let instance = |id| made_file(id, shape.file_bytes, 1);
    Plan {
        title: "virtual".into(),
        workload: "read".into(),
        directory: "/nowhere".into(),
        factors: BTreeMap::new(),
        ask: vec![Factor::QueueDepth],
        protocol: shape.protocol.clone(),
        eliminate: shape.eliminate,
        conditions: (0..shape.conditions)
            .map(|c| Condition {
                levels: Levels::new().with(Factor::Files, Level::Number(c as u64)),
                cells: (c * shape.cells..(c + 1) * shape.cells).collect(),
                own_instances: shape.own_instances && shape.cache.is_some(),
            })
            .collect(),
        cells,
        instances: (0..files).map(instance).collect(),
        baseline: (total > 0).then_some(0),
        cost: Cost::default(),
        changed: Vec::new(),
        notes: Vec::new(),
        copies: false,
        page_bytes: 4096,
        image_bytes: 0,
    }
}

fn cell(shape: &PlanShape, index: usize) -> Cell {
    let mut levels = Levels::new().with(Factor::QueueDepth, Level::Number(index as u64));
    if let Some(cache) = shape.cache {
        levels.set(Factor::Cache, Level::word(cache));
        levels.set(Factor::Block, Level::Number(64 << 10));
    }
    let instance = if shape.own_instances { index / shape.cells_a_file.max(1) } else { 0 };
    Cell {
        id: format!("c{index}"),
        levels,
        condition: index / shape.cells.max(1),
        instance: shape.cache.map(|_| instance),
        skip: None,
    }
}
