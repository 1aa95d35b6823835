//! Colours. The hues are those of Okabe and Ito (<https://jfly.uni-koeln.de/color/>), darkened in
//! the light theme where a mark would not reach 3 : 1 against the page (WCAG 2.2, 1.4.11); each
//! series has its own marker and dash besides, so nothing depends on colour.

use std::fmt::Write as _;

/// Steps of the heat map on either side of the middle.
pub const HEAT_STEPS: i32 = 9;

/// Light page or dark page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark marks on white.
    Light,
    /// Light marks on near-black.
    Dark,
}

type Rgb = [u8; 3];

struct Palette {
    page: Rgb,
    ink: Rgb,
    muted: Rgb,
    faint: Rgb,
    grid: Rgb,
    shade: Rgb,
    series: [Rgb; 6],
    cold: Rgb,
    middle: Rgb,
    hot: Rgb,
}

const LIGHT: Palette = Palette {
    page: [0xff, 0xff, 0xff],
    ink: [0x1c, 0x21, 0x28],
    muted: [0x57, 0x60, 0x6a],
    faint: [0x8c, 0x95, 0x9f],
    grid: [0xe4, 0xe8, 0xec],
    shade: [0xee, 0xf4, 0xe8],
    series: [
        [0x00, 0x72, 0xb2],
        [0xd5, 0x5e, 0x00],
        [0x00, 0x8f, 0x68],
        [0xb8, 0x5f, 0x91],
        [0xa8, 0x76, 0x00],
        [0x2b, 0x30, 0x38],
    ],
    cold: [0x00, 0x72, 0xb2],
    middle: [0xf7, 0xf7, 0xf5],
    hot: [0xe0, 0x78, 0x00],
};

const DARK: Palette = Palette {
    page: [0x14, 0x17, 0x1c],
    ink: [0xe8, 0xeb, 0xef],
    muted: [0xa3, 0xad, 0xb8],
    faint: [0x76, 0x80, 0x8c],
    grid: [0x2b, 0x31, 0x39],
    shade: [0x1f, 0x2b, 0x22],
    series: [
        [0x56, 0xb4, 0xe9],
        [0xf0, 0x7b, 0x2e],
        [0x1b, 0xbd, 0x8e],
        [0xd9, 0x8f, 0xba],
        [0xf0, 0xe4, 0x42],
        [0xd8, 0xdd, 0xe3],
    ],
    cold: [0x3f, 0xa4, 0xdf],
    middle: [0x2a, 0x2f, 0x36],
    hot: [0xf0, 0x96, 0x1e],
};

impl Theme {
    fn palette(self) -> &'static Palette {
        match self {
            Theme::Light => &LIGHT,
            Theme::Dark => &DARK,
        }
    }

    /// Custom properties, `--ink:#1c2128;…`.
    pub fn variables(self) -> String {
        let mut text = String::new();
        for (name, value) in self.table() {
            let _ = write!(text, "--{name}:{value};");
        }
        text
    }

    /// Every colour by its name.
    fn table(self) -> Vec<(String, String)> {
        let p = self.palette();
        let mut table: Vec<(String, String)> = [
            ("page", p.page),
            ("ink", p.ink),
            ("muted", p.muted),
            ("faint", p.faint),
            ("grid", p.grid),
            ("shade", p.shade),
        ]
        .into_iter()
        .map(|(name, rgb)| (name.to_owned(), hex(rgb)))
        .collect();
        for (at, rgb) in p.series.into_iter().enumerate() {
            table.push((format!("k{at}"), hex(rgb)));
        }
        for step in -HEAT_STEPS..=HEAT_STEPS {
            let fill = self.heat(step);
            let at = step + HEAT_STEPS;
            table.push((format!("h{at}"), hex(fill)));
            table.push((format!("t{at}"), hex(readable_on(fill))));
        }
        table
    }

    fn heat(self, step: i32) -> Rgb {
        let p = self.palette();
        let end = if step < 0 { p.cold } else { p.hot };
        let share = f64::from(step.abs()) / f64::from(HEAT_STEPS);
        std::array::from_fn(|at| {
            let (from, to) = (f64::from(p.middle[at]), f64::from(end[at]));
            (from + (to - from) * share).round() as u8
        })
    }

    /// What letters are drawn with, `#1c2128`, where no class says another colour.
    #[cfg(feature = "png")]
    pub fn ink(self) -> String {
        hex(self.palette().ink)
    }

    /// The style sheet with every colour written out, for programs without custom properties.
    pub fn fixed_style(self) -> String {
        let mut css = STYLE.to_owned() + &heat_style();
        // Longest names first: `--h1` is a prefix of `--h10`, but the bracket closes the name.
        for (name, value) in self.table() {
            css = css.replace(&format!("var(--{name})"), &value);
        }
        css
    }
}

/// The style sheet of a file that stands alone: light, and dark where the viewer is.
pub fn standalone_style() -> String {
    format!(
        "svg{{{}}}@media(prefers-color-scheme:dark){{svg{{{}}}}}{}",
        Theme::Light.variables(),
        Theme::Dark.variables(),
        chart_style()
    )
}

/// The rules alone; the page around them sets the custom properties.
pub fn chart_style() -> String {
    STYLE.to_owned() + &heat_style()
}

fn heat_style() -> String {
    let mut css = String::new();
    for at in 0..=2 * HEAT_STEPS {
        let _ = write!(css, ".chart .h{at}{{fill:var(--h{at})}}.chart .t{at}{{fill:var(--t{at})}}");
        let _ = write!(css, ".chart .l{at}{{stroke:var(--t{at});fill:none}}");
    }
    css
}

/// Rules of a chart. `p` page, `x` text, `g` grid, `k0`… series, `f` filled, `n` line, `b` band.
const STYLE: &str = "\
.chart text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif;\
fill:var(--ink)}\
.chart .p{fill:var(--page)}\
.chart .title{font-weight:600}\
.chart .mu{fill:var(--muted)}\
.chart .halo{paint-order:stroke;stroke:var(--page);stroke-width:4;stroke-linejoin:round}\
.chart .g{stroke:var(--grid);stroke-width:1;fill:none}\
.chart .ax{stroke:var(--faint);stroke-width:1;fill:none}\
.chart .ru{stroke:var(--muted);stroke-width:1;stroke-dasharray:2 3;fill:none}\
.chart .sh{fill:var(--shade)}\
.chart .n{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
.chart .e{fill:none;stroke-width:1.5}\
.chart .b{opacity:.16;stroke:none}\
.chart .hollow{stroke-width:1.75}\
.chart .faint{opacity:.38}\
.chart .thin{stroke-width:1;opacity:.5}\
.chart .ring{fill:none;stroke:var(--ink);stroke-width:1.5}\
.chart .x{stroke:var(--faint);stroke-width:1.75;fill:none}\
.chart .out{fill:none;stroke:var(--ink);stroke-width:1.25}\
.chart .br{fill:none;stroke:var(--ink);stroke-width:1.5}\
.k0 .f,.f.k0{fill:var(--k0)}.k0 .n,.k0 .e,.hollow.k0{stroke:var(--k0)}.k0 .b,.b.k0{fill:var(--k0)}\
.k1 .f,.f.k1{fill:var(--k1)}.k1 .n,.k1 .e,.hollow.k1{stroke:var(--k1)}.k1 .b,.b.k1{fill:var(--k1)}\
.k2 .f,.f.k2{fill:var(--k2)}.k2 .n,.k2 .e,.hollow.k2{stroke:var(--k2)}.k2 .b,.b.k2{fill:var(--k2)}\
.k3 .f,.f.k3{fill:var(--k3)}.k3 .n,.k3 .e,.hollow.k3{stroke:var(--k3)}.k3 .b,.b.k3{fill:var(--k3)}\
.k4 .f,.f.k4{fill:var(--k4)}.k4 .n,.k4 .e,.hollow.k4{stroke:var(--k4)}.k4 .b,.b.k4{fill:var(--k4)}\
.k5 .f,.f.k5{fill:var(--k5)}.k5 .n,.k5 .e,.hollow.k5{stroke:var(--k5)}.k5 .b,.b.k5{fill:var(--k5)}\
.ki .f{fill:var(--ink)}.ki .n,.ki .e{stroke:var(--ink)}.ki .b{fill:var(--ink)}\
.km .f{fill:var(--faint)}.km .n,.km .e{stroke:var(--muted)}.km .b{fill:var(--muted)}\
.k1 .n{stroke-dasharray:8 4}.k2 .n{stroke-dasharray:2 4}.k3 .n{stroke-dasharray:9 3 2 3}\
.k4 .n{stroke-dasharray:14 4}.k5 .n{stroke-dasharray:5 3 1 3 1 3}\
.chart .ideal .n{stroke-dasharray:4 4;stroke-width:1.25}\
.chart .ho{fill:var(--page)}.k0 .ho{stroke:var(--k0)}.k1 .ho{stroke:var(--k1)}.k2 .ho{stroke:var(--k2)}\
.k3 .ho{stroke:var(--k3)}.k4 .ho{stroke:var(--k4)}.k5 .ho{stroke:var(--k5)}\
.ki .ho{stroke:var(--ink)}.km .ho{stroke:var(--muted)}\
";

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Black or white, whichever reads better: with both pure one of them always reaches 4.5 : 1.
fn readable_on(fill: Rgb) -> Rgb {
    let (dark, light) = ([0x00; 3], [0xff; 3]);
    if contrast(fill, dark) >= contrast(fill, light) { dark } else { light }
}

/// Contrast ratio of two colours, 1 to 21 (WCAG 2.2, relative luminance of sRGB).
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let luminance = |rgb: Rgb| {
        let [r, g, b] = rgb.map(|c| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::{HEAT_STEPS, Theme, contrast, readable_on};

    #[test]
    fn marks_and_text_reach_their_contrast_in_both_themes() {
        for theme in [Theme::Light, Theme::Dark] {
            let p = theme.palette();
            for ground in [p.page, p.shade] {
                assert!(contrast(p.ink, ground) >= 7.0, "{theme:?} ink");
                assert!(contrast(p.muted, ground) >= 4.5, "{theme:?} muted");
                for (at, series) in p.series.into_iter().enumerate() {
                    let seen = contrast(series, ground);
                    assert!(seen >= 3.0, "{theme:?} series {at}: {seen:.2}");
                }
            }
            assert!(contrast(p.faint, p.page) >= 3.0, "{theme:?} faint");
            for step in -HEAT_STEPS..=HEAT_STEPS {
                let fill = theme.heat(step);
                let seen = contrast(fill, readable_on(fill));
                assert!(seen >= 4.5, "{theme:?} heat {step}: {seen:.2}");
            }
        }
    }

    #[test]
    fn a_fixed_style_leaves_no_variable() {
        for theme in [Theme::Light, Theme::Dark] {
            assert!(!theme.fixed_style().contains("var("), "{}", theme.fixed_style());
        }
    }
}
