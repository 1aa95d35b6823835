//! Charts as files: one a chart, written beside and renamed, so that none is ever half there.

use std::fs;
use std::path::{Path, PathBuf};

use super::model::Chart;
use super::svg::{Style, WIDE, draw};
use crate::whole_file::write_whole;

/// Kind of picture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Scalable; light, and dark where the viewer asks for it.
    Svg,
    /// Pixels, light, two to the point.
    #[cfg(feature = "png")]
    Png,
}

/// A format of several files: `--export ID=DIR`.
#[derive(Clone, Copy, Debug)]
pub struct Folder {
    /// As written on the command line.
    pub id: &'static str,
    /// One line for lists and help.
    pub summary: &'static str,
    /// What the files are.
    pub kind: Picture,
}

/// Every format that fills a directory.
pub const FOLDERS: &[Folder] = &[
    Folder {
        id: "svg",
        summary: "every chart as a file in a directory: --export svg=DIR",
        kind: Picture::Svg,
    },
    #[cfg(feature = "png")]
    Folder {
        id: "png",
        summary: "every chart as a file in a directory: --export png=DIR",
        kind: Picture::Png,
    },
];

/// Why pictures could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A file or the directory.
    #[error("writing {}: {source}; is the directory writable and is there space?", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A chart could not be rendered.
    #[cfg(feature = "png")]
    #[error(transparent)]
    Png(#[from] super::png::PngError),
    /// There is nothing to draw.
    #[error("there is no chart: no cell was finished, or the runs have none in common")]
    Empty,
}

/// Writes every chart as a file in `dir`, which is made where it is missing. Returns the paths.
///
/// # Errors
/// Where the directory or a file cannot be written, a chart cannot be rendered, or there is none.
pub fn write_all(charts: &[Chart], dir: &Path, kind: Picture) -> Result<Vec<PathBuf>, ExportError> {
    if charts.is_empty() {
        return Err(ExportError::Empty);
    }
    let fault = |path: &Path| {
        let path = path.to_owned();
        move |source| ExportError::Write { path, source }
    };
    fs::create_dir_all(dir).map_err(fault(dir))?;
    let mut written = Vec::new();
    for chart in charts {
        let (ending, bytes) = match kind {
            Picture::Svg => ("svg", draw(chart, &chart.slug, WIDE, Style::Standalone).into_bytes()),
            #[cfg(feature = "png")]
            Picture::Png => ("png", super::png::png(chart)?),
        };
        let path = dir.join(format!("{}.{ending}", chart.slug));
        write_whole(&path, &|out| out.write_all(&bytes)).map_err(fault(&path))?;
        written.push(path);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::{Picture, write_all};
    use crate::chart::charts_for;
    use iolab_test::scenes;

    #[test]
    fn files_are_whole_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let charts = charts_for(&[scenes::blocks()]);
        let written = write_all(&charts, &dir.path().join("new"), Picture::Svg).unwrap();
        assert_eq!(written.len(), charts.len());
        for path in &written {
            assert!(std::fs::read_to_string(path).unwrap().ends_with("</svg>\n"));
        }
        let found = std::fs::read_dir(dir.path().join("new")).unwrap().count();
        assert_eq!(found, charts.len());
    }

    #[test]
    fn a_full_disk_leaves_no_half_file_and_names_the_path() {
        // /dev/full cannot hold files, so a file in the way of the directory stands for it.
        let dir = tempfile::tempdir().unwrap();
        let taken = dir.path().join("taken");
        std::fs::write(&taken, "x").unwrap();
        let fault = write_all(&charts_for(&[scenes::blocks()]), &taken, Picture::Svg).unwrap_err();
        assert!(fault.to_string().contains("taken"), "{fault}");
        assert_eq!(std::fs::read_to_string(&taken).unwrap(), "x");
    }

    #[test]
    fn nothing_to_draw_is_said() {
        let fault = write_all(&[], std::path::Path::new("x"), Picture::Svg).unwrap_err();
        assert!(fault.to_string().contains("no chart"), "{fault}");
    }
}
