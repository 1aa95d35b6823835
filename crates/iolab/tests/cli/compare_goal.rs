//! What a comparison that is not decided asks for: how many runs, by which command.

use crate::compare::{TERMS, run, runs, texts, with};
use iolab_model::result::Document;
use iolab_report::TextStyle;
use iolab_report::compare::{Gate, GateVerdict, Terms, compare, compare_alike, gate_table};
use iolab_test::documents::{levels, timed};

fn gate_text(gate: &Gate) -> String {
    let mut text = Vec::new();
    gate_table(gate, &TextStyle::default(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Runs of five cells whose levels wander by so much from run to run.
fn wandering(share: f64, seeds: std::ops::Range<u64>) -> Vec<Document> {
    let away = |seed: u64| [1.0, -0.8, 0.6, -1.0, 0.2, 0.9][seed as usize % 6] * share;
    let one = |seed: u64| {
        let blocks: Vec<u64> = (0..5).map(|at| 4096 << at).collect();
        let names: Vec<String> = blocks.iter().map(|b| format!("pread/{b}")).collect();
        let cells: Vec<_> = names.iter().zip(&blocks).collect();
        let cell = |(name, block): (&String, &u64)| {
            (name.clone(), levels("pread", Some(*block)), 32.0 * (1.0 + away(seed)))
        };
        let cells: Vec<_> = cells.into_iter().map(cell).collect();
        let cells: Vec<_> = cells.iter().map(|(n, l, t)| (n.as_str(), l.clone(), *t)).collect();
        let mut run = timed(&cells, 40, 0.0, 0.002, seed);
        run.run.id = seed + 1;
        run.run.argv = ["iolab", "read", "big.iso", "--budget", "30s"].map(str::to_owned).to_vec();
        run
    };
    seeds.map(one).collect()
}

/// A gate of so many runs on each side, which wander by so much; further runs come to those that were.
fn gate_of(runs: u64, share: f64) -> Gate {
    let terms = Terms { delta: 0.05, ..TERMS };
    let (before, after) = (wandering(share, 0..runs), wandering(share, 102..102 + runs));
    Gate::of(compare_alike(&before, &after, &terms).unwrap())
}

/// Two runs each that differ by 4 % left ±40 % and "undecided", with "Passed so far" above status 11
/// and not a word of what would do.
#[test]
fn what_is_not_decided_says_so_and_how_many_runs_would_do() {
    let open = gate_of(2, 0.04);
    assert_eq!((open.gate, open.runs_needed), (GateVerdict::Undecided, Some(5)));
    let said = open.sentence();
    assert!(
        said.starts_with("No regression shown, none ruled out: 5 of 5 cells may be more than 5 % slower, or not. "),
        "{said}"
    );
    assert!(!said.contains("Passed"), "{said}");
    for part in [
        "5 runs on each side show how far runs of one program differ here",
        "`iolab rerun 1,2 103,104 --times 3`",
        "--worse ",
    ] {
        assert!(said.contains(part), "no {part:?}: {said}");
    }
    let text = gate_text(&open).replace('\n', " ");
    assert!(text.trim_end().ends_with("it would pass now."), "the verdict stands last: {text}");
    // What is asked of each cell alone needs no share of the error for the others.
    let rows = &open.compared.rows;
    assert!(rows.iter().all(|r| r.high_alone.unwrap() < r.high.unwrap()), "{rows:?}");
}

/// "About 5 on each side" became "about 6" with five, and so on: nobody got there.
#[test]
fn the_number_of_runs_that_is_asked_for_stands_and_is_the_last_word() {
    for share in [0.01, 0.04, 0.07] {
        let goal = gate_of(5, share).runs_needed.unwrap_or(5) as u64;
        assert!((5..=50).contains(&goal), "{share}: {goal}");
        for runs in 5..goal {
            let open = gate_of(runs, share);
            if open.gate == GateVerdict::Passed {
                continue;
            }
            assert_eq!(open.runs_needed, Some(goal as usize), "{share}, {runs} runs");
            let said = open.sentence();
            assert!(said.contains(&format!("{goal} on each side would show it")), "{said}");
            assert!(said.contains(&format!("--times {}`", goal - runs)), "{said}");
        }
        let done = gate_of(goal, share);
        assert_eq!(done.gate, GateVerdict::Passed, "{}", done.sentence());
        assert!(done.sentence().contains("5 cells decided (at most "), "{}", done.sentence());
    }
    assert!(gate_of(5, 0.07).runs_needed.unwrap() > 5, "nothing was asked for");
    // A change that is about as large as what is allowed: no number of runs is on either side of it.
    let near = |runs: std::ops::Range<u64>, ms: f64| -> Vec<Document> {
        runs.map(|seed| {
            let mut run = run(ms * [1.0, 1.004, 0.996][seed as usize % 3], 41.0, seed);
            run.run.id = seed + 1;
            run
        })
        .collect()
    };
    let terms = Terms { delta: 0.05, ..TERMS };
    let gate = Gate::of(compare(&near(0..9, 32.0), &near(9..18, 33.58), &terms).unwrap());
    assert_eq!(gate.gate, GateVerdict::Undecided);
    let said = gate.sentence();
    assert!(said.contains("no more are asked for: pread/64Ki took 1.0"), "{said}");
    assert!(said.contains("too near to the limit of 5 %") && !said.contains("rerun"), "{said}");
}

/// One run a side ended in "undecided" and an allowance, and what both had shown stood nowhere.
#[test]
fn one_run_a_side_tells_what_was_seen_and_the_command_for_the_rest() {
    let made = |id: u64, ms: f64| {
        let mut run = run(ms, 41.0, id);
        run.run.id = id;
        run.run.argv = ["iolab", "read", "big.iso"].map(str::to_owned).to_vec();
        run
    };
    let c = compare(&[made(3, 32.0)], &[made(4, 33.0)], &TERMS).unwrap();
    let [table, markdown, _] = texts(&c).map(|text| text.replace('\n', " "));
    let median = |run: &Document| run.cells[0].estimate.as_ref().unwrap().wall_ns.clone();
    let seen = |run: Document| {
        let seen = median(&run);
        let [median, low, high] = [seen.median, seen.low.unwrap(), seen.high.unwrap()]
            .map(iolab_model::catalog::time_text);
        format!("{median}, {low} to {high}")
    };
    let wanted = format!(
        "Seen in these two runs, each time with the interval of its own rounds: pread/64Ki took 1.03× \
         as long ({} against {})",
        seen(made(4, 33.0)),
        seen(made(3, 32.0))
    );
    for text in [&table, &markdown] {
        assert!(text.contains(&wanted), "no {wanted:?}: {text}");
    }
    let command = "`iolab rerun 3 4 --times 4` records the missing ones in turn";
    assert!(table.trim_end().trim_end_matches('.').ends_with(command), "{table}");
    // Of several runs the interval of one says nothing, and what is decided needs no advice.
    let c = compare(&runs(32.0, 41.0, 0..3), &runs(38.0, 41.0, 3..6), &TERMS).unwrap();
    let [table, ..] = texts(&c);
    assert!(!table.contains("Seen in") && !table.contains("rerun"), "{table}");
    // What another machine or tool made cannot be made again here.
    let theirs = with(made(3, 32.0), "import.file", "main.json");
    let c = compare(&[theirs], &[made(4, 33.0)], &TERMS).unwrap();
    let [table, ..] = texts(&c).map(|text| text.replace('\n', " "));
    assert!(table.contains("record 4 more baselines and 4 more runs with `iolab read big.iso`"));
    assert!(!table.contains("rerun"), "{table}");
}
