use crate::chart::charts_for;
use iolab_model::catalog::{Factor, Level};
use iolab_model::result::{AnswerKind, Document};
use iolab_test::fakes::{document, fake, levels};

/// A mapping cold and warm, asked which is faster.
fn run() -> Document {
    let cell = |cache: &'static str, ns: f64| {
        let at = [(Factor::Method, Level::word("mmap")), (Factor::Cache, Level::word(cache))];
        fake(levels(&at), ns, 1 << 24)
    };
    document(9, "read", &[Factor::Cache], 24, vec![cell("cold", 5e6), cell("warm", 1e6)])
}

fn title(run: Document) -> String {
    let charts = charts_for(&[run]);
    charts.into_iter().find(|c| c.slug == "cold-and-warm").unwrap().title
}

/// The chart once gave the quotient of medians for a run whose every answer was invalid, and a
/// figure that its own table did not have.
#[test]
fn the_title_is_the_answers_figure() {
    let mut pair = run();
    let compared = &mut pair.answers[0].comparisons[0];
    (compared.ratio, compared.low, compared.high) = (4.4, Some(3.9), Some(6.5));
    assert_eq!(title(pair), "Cold takes 3.90–6.50× as long as warm");

    let mut open = run();
    let compared = &mut open.answers[0].comparisons[0];
    (compared.ratio, compared.low, compared.high) = (4.4, Some(0.9), Some(6.5));
    let open = title(open);
    assert_eq!(open, "Cold takes longer than warm, by how much is not settled");

    let mut invalid = run();
    (invalid.answers[0].kind, invalid.answers[0].best) = (AnswerKind::Invalid, Vec::new());
    assert_eq!(title(invalid), "Cold against warm: the measurement is not sound");

    let mut apart = run();
    apart.answers.clear();
    let apart = title(apart);
    assert!(apart.ends_with("as long as warm by the medians alone"), "{apart}");
}
