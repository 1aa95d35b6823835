//! Draws every chart of the synthetic runs: `cargo run -p iolab-report --example charts -- DIR [NAME…]`.
//! For looking at them, and for the browser test.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use iolab_model::result::Document;
use iolab_report::{chart, html};

fn page(path: &Path, runs: &[Document]) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    html::write(runs, &mut file)?;
    file.flush()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let dir = PathBuf::from(args.next().unwrap_or_else(|| "charts".into()));
    let wanted: Vec<_> = args.collect();
    std::fs::create_dir_all(&dir)?;
    for (name, run) in iolab_test::scenes::all() {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        for chart in chart::charts_for(std::slice::from_ref(&run)) {
            let file = dir.join(format!("{name}-{}", chart.slug));
            let svg = chart::draw(&chart, "c", chart::WIDE, chart::Style::Standalone);
            std::fs::write(file.with_extension("svg"), svg)?;
            #[cfg(feature = "png")]
            {
                use iolab_report::drawing::png::render;
                let wide = render(&chart, chart::Theme::Light, chart::WIDE)?;
                std::fs::write(file.with_extension("png"), wide)?;
                let dark = render(&chart, chart::Theme::Dark, chart::NARROW)?;
                std::fs::write(file.with_extension("dark.png"), dark)?;
            }
            println!("{}", file.display());
        }
        page(&dir.join(format!("{name}.html")), std::slice::from_ref(&run))?;
    }
    let mut later = iolab_test::scenes::blocks();
    (later.run.id, later.run.started) = (14, "2026-12-01T08:00:00Z".to_owned());
    page(&dir.join("runs.html"), &[iolab_test::scenes::blocks(), later])?;
    page(&dir.join("many.html"), &[iolab_test::scenes::many(500, 50)])?;
    Ok(())
}
