//! A study's outcome as people read it.

use super::claim::Claim;
use super::evidence::figure;
use super::opening::opening;
use super::outcome::Page;
use super::ruling::{Ruling, Verdict};
use super::table::markdown;
use super::terms::Ours;
use super::{Study, plot, tested};
use iolab_model::catalog::markdown_text;

/// What came out, for a terminal: (what stands before, text) by line, the verdict on the whole last.
pub fn summary(study: &Study, rulings: &[Ruling]) -> Vec<(String, String)> {
    let line = |word: &str, text: String| (format!("  {word:<13} "), text);
    let both = |(claim, ruling): (&Claim, &Ruling)| {
        [line(ruling.verdict.word(), claim.says.clone()), line("", seen(claim, ruling))]
    };
    let mut lines: Vec<(String, String)> =
        study.claims.iter().zip(rulings).flat_map(both).collect();
    lines.push((String::new(), headline(study, rulings)));
    lines
}

/// How many claims came out how.
fn headline(study: &Study, rulings: &[Ruling]) -> String {
    let count = |verdict| rulings.iter().filter(|r| r.verdict == verdict).count();
    let replicated = count(Verdict::Replicated);
    let mut text = format!("{}: {replicated} of {} claims replicated", study.name, rulings.len());
    for verdict in [Verdict::Contradicted, Verdict::Inconclusive, Verdict::NotTested] {
        if count(verdict) > 0 {
            text.push_str(&format!(", {} {}", count(verdict), verdict.word()));
        }
    }
    text
}

/// The page that leads to those of several studies: how many claims of each came out how.
pub fn index(studies: &[(&Study, &[Ruling])]) -> String {
    let mut text = "# Published studies, run here\n\n\
         Each page begins with what holds on this machine, what does not, and why.\n\n\
         | study | claims | replicated | contradicted | inconclusive | not tested |\n\
         | :-- | --: | --: | --: | --: | --: |\n"
        .to_owned();
    for (study, rulings) in studies {
        let count = |verdict| rulings.iter().filter(|r| r.verdict == verdict).count();
        text.push_str(&format!(
            "| [{}]({}.md) | {} | {} | {} | {} | {} |\n",
            markdown_text(&study.title),
            study.name,
            rulings.len(),
            count(Verdict::Replicated),
            count(Verdict::Contradicted),
            count(Verdict::Inconclusive),
            count(Verdict::NotTested)
        ));
    }
    text
}

/// What was measured beside what was published.
fn seen(claim: &Claim, ruling: &Ruling) -> String {
    let mut parts = Vec::new();
    if let Some(measured) = &ruling.measured {
        parts.push(format!("here {measured}"));
    }
    if let Some(published) = claim.published.as_ref().and_then(|figures| figures.ratio()) {
        parts.push(format!("published {}×", figure(published)));
    }
    parts.push(ruling.why.clone());
    if let Some(unsupported) = claim.published.as_ref().and_then(|figures| figures.unsupported()) {
        parts.push(unsupported);
    }
    parts.join("; ")
}

/// The whole page, as Markdown.
pub fn page(page: &Page<'_>) -> String {
    let study = page.study;
    let mut text = format!("# {}\n\n{}\n\n", study.title, markdown_text(&opening(page)));
    text.push_str(&format!("## The study\n\n{}\n\n", study.summary.trim()));
    for (name, fact) in &study.source {
        text.push_str(&format!("- {}: {}\n", markdown_text(name), markdown_text(fact)));
    }
    text.push_str(&format!("\nMeasured here on {}.\n", markdown_text(page.machine)));
    text.push_str(&claims(page));
    text.push_str(&notes(study));
    text.push_str(&omitted(page));
    text.push_str(&published(page));
    text
}

fn claims(page: &Page<'_>) -> String {
    let replicated = page.rulings.iter().filter(|r| r.verdict == Verdict::Replicated).count();
    let mut text = format!(
        "\n## Claims\n\n{replicated} of {} claims replicated. A verdict rests on the paired medians \
         of rounds in random order, and judges the interval in brackets, not its middle.\n\n",
        page.rulings.len()
    );
    text.push_str(
        "| claim | verdict | here | published | what was seen |\n| :-- | :-- | --: | --: | :-- |\n",
    );
    for (claim, ruling) in page.study.claims.iter().zip(page.rulings) {
        text.push_str(&row(claim, ruling));
    }
    text
}

/// Links to every chart of the runs.
fn charts(page: &Page<'_>) -> String {
    if page.charts.is_empty() {
        return String::new();
    }
    let mut text = "\n## Charts of the runs, with intervals\n\n".to_owned();
    for (experiment, paths) in page.charts {
        let name = |path: &str| {
            let file = path.rsplit('/').next().unwrap_or(path);
            file.split('.').next().unwrap_or(file).replace('-', " ")
        };
        let links: Vec<String> =
            paths.iter().map(|path| format!("[{}]({path})", name(path))).collect();
        text.push_str(&format!("- {}: {}\n", markdown_text(experiment), links.join(", ")));
    }
    text
}

/// What each claim was tested as, where it stands, and what should be known of it.
fn notes(study: &Study) -> String {
    let mut text = "\n### How each was tested\n\n".to_owned();
    for claim in &study.claims {
        text.push_str(&format!(
            "- *{}* Tested as: {}.",
            markdown_text(&claim.says),
            markdown_text(&tested(claim, study))
        ));
        if let Some(place) = &claim.place {
            text.push_str(&format!(" In the study: {}.", markdown_text(place)));
        }
        if let Some(slip) = claim.published.as_ref().and_then(|figures| figures.slip.as_ref()) {
            text.push_str(&format!(" A slip of the study: {}.", slip.trim()));
        }
        if let Some(note) = &claim.note {
            text.push_str(&format!(" {}", note.trim()));
        }
        text.push('\n');
    }
    text
}

/// Tables, plots and facts.
fn published(page: &Page<'_>) -> String {
    let study = page.study;
    let mut text = String::new();
    if !study.tables.is_empty() {
        text.push_str(
            "\n## Tables\n\nBehind each title stands where it is in the study and how often its \
             figures were measured there. Ours are means, for that is what was published; where the \
             median lies more than 5 % away, it stands beside, and it is what a verdict rests on.\n",
        );
    }
    for table in &study.tables {
        text.push_str(&format!("\n{}", markdown(table, page.evidence)));
    }
    if !study.plots.is_empty() {
        text.push_str("\n## Plots\n");
    }
    for of in &study.plots {
        text.push_str(&format!("\n{}", plot::markdown(of, &study.name, page.evidence)));
    }
    text.push_str(&charts(page));
    if !study.facts.is_empty() {
        text.push_str("\n## Other figures and facts of the study\n\n");
    }
    for fact in &study.facts {
        text.push_str(&format!("- {}\n", fact.line()));
    }
    text
}

fn row(claim: &Claim, ruling: &Ruling) -> String {
    let here = ruling.measured.as_ref().map_or(String::new(), ToString::to_string);
    let published = claim.published.as_ref().and_then(|figures| figures.ratio());
    let published = published.map_or(String::new(), |ratio| format!("{}×", figure(ratio)));
    let unsupported = claim.published.as_ref().and_then(|figures| figures.unsupported());
    let why = match unsupported {
        Some(unsupported) => format!("{}; {unsupported}", ruling.why),
        None => ruling.why.clone(),
    };
    let ours = if claim.ours == Ours::All { " (ours)" } else { "" };
    format!(
        "| {}{ours} | **{}** | {here} | {published} | {} |\n",
        markdown_text(&claim.says),
        ruling.verdict.word(),
        markdown_text(&why)
    )
}

/// Experiments that were not run, and levels that were left out of those that were.
fn omitted(page: &Page<'_>) -> String {
    let mut lines = Vec::new();
    for (name, run) in &page.evidence.runs {
        if let Err(why) = run {
            lines.push(format!("- {}: not run: {}", markdown_text(name), markdown_text(why)));
        }
    }
    for (name, left_out) in page.left_out {
        for axis in left_out {
            let levels = markdown_text(&axis.levels.join(", "));
            lines.push(format!(
                "- {}: {} {levels} did not fit into the budget",
                markdown_text(name),
                axis.factor
            ));
        }
    }
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n## Left out\n\n{}\n", lines.join("\n")),
    }
}
