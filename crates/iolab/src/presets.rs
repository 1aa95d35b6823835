//! Files of experiments that come with iolab: what others measure under these names, in our way.

use std::path::{Path, PathBuf};

use iolab_model::spec::file::Loaded;

const ALL: [(&str, &str); 4] = [
    ("ior-easy", include_str!("presets/ior-easy.toml")),
    ("ior-hard", include_str!("presets/ior-hard.toml")),
    ("mdtest-easy", include_str!("presets/mdtest-easy.toml")),
    ("mdtest-hard", include_str!("presets/mdtest-hard.toml")),
];

/// The preset of this name, where no file has it.
pub fn find(name: &Path) -> Option<&'static str> {
    let preset = ALL.iter().find(|(preset, _)| Path::new(preset) == name);
    preset.filter(|_| !name.exists()).map(|(_, text)| *text)
}

/// The same as a file that was read.
pub fn load(name: &Path) -> Option<Loaded> {
    let (text, name) = (find(name)?.to_owned(), name.to_str()?.to_owned());
    Some(Loaded { identity: PathBuf::from(&name), name, text })
}

/// What it is, and in what it differs from what others measure under its name: the lines at its head.
pub fn about(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map_while(|line| line.strip_prefix("# "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ALL, about, find, load};

    /// A figure of ours was taken for one of IO500.
    #[test]
    fn each_preset_says_in_what_it_differs() {
        for (name, text) in ALL {
            let said: Vec<&str> = about(text).collect();
            assert!(said[0].starts_with(&format!("{name} of IO500, as iolab does it: ")));
            assert!(said.iter().all(|line| line.len() <= 78), "{name} is wider than a terminal");
            let said = said.join(" ");
            for word in ["What differs", "300 s", "none of IO500's"] {
                assert!(said.contains(word), "{name}: no {word:?}");
            }
            let shift = "\n# shift = \"auto\"\n";
            assert_eq!(text.matches(shift).count(), 1, "{name}: how readers go to another machine");
            assert_eq!(load(Path::new(name)).unwrap().text, text);
        }
        assert!(find(Path::new("ior-medium")).is_none());
    }
}
