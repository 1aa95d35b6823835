//! A heat map in the terminal.

use super::model::{Heat, HeatState, Panel};
use super::padding::{columns, pad};

/// A heat map as a table: `<` and `>` say which side is faster, `=` equivalent, `?` undecided.
pub(crate) fn grid(panel: &Panel, heat: &Heat) -> String {
    let left = panel.y.ticks.iter().map(|t| columns(&t.label)).max().unwrap_or(0);
    let head: Vec<String> = panel.x.ticks.iter().map(|t| pad(&t.label, 9)).collect();
    let mut out = format!("{} {}\n", pad("", left), head.join(" "));
    for (row, tick) in panel.y.ticks.iter().enumerate() {
        let mut line = pad(&tick.label, left);
        for column in 0..panel.x.ticks.len() {
            let cell = heat.cells.iter().find(|c| c.row == row && c.column == column);
            let text = cell.map_or_else(String::new, |c| match c.state {
                HeatState::Missing => "×".to_owned(),
                HeatState::Tie => format!("= {}", c.text),
                HeatState::Undecided => format!("? {}", c.text),
                HeatState::Seen => c.text.clone(),
                HeatState::Proven if c.value < 0.0 => format!("< {}", c.text),
                HeatState::Proven => format!("> {}", c.text),
            });
            line += &format!(" {}", pad(&text, 9));
        }
        out += &(line.trim_end().to_owned() + "\n");
    }
    if heat.claims_nothing() {
        return out;
    }
    out + &format!("< {}   > {}   = equivalent   ? undecided\n", heat.low_name, heat.high_name)
}
