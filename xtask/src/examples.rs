//! `cargo xtask examples`: the run documents in `examples/runs/`, made anew of the
//! published pages' facts and figures in `examples/seeds/`.

use std::path::Path;

use anyhow::Context;

/// What the facts' files are called, after the run's name.
const FACTS: &str = ".facts.json";
/// What the figures' files are called, after the run's name.
const FIGURES: &str = ".figures.json";

/// Writes `examples/runs/NAME.json` for every `examples/seeds/NAME.facts.json`
/// below `root`, and returns the names.
///
/// # Errors
/// When a file cannot be read, converted or written.
pub fn write(root: &Path) -> anyhow::Result<Vec<String>> {
    let seeds = root.join("examples/seeds");
    let mut names = Vec::new();
    let listed =
        std::fs::read_dir(&seeds).with_context(|| format!("reading {}", seeds.display()))?;
    for entry in listed {
        let file_name = entry?.file_name();
        if let Some(name) = file_name.to_str().and_then(|file| file.strip_suffix(FACTS)) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    for name in &names {
        write_one(root, name).with_context(|| format!("example run {name}"))?;
    }
    Ok(names)
}

fn write_one(root: &Path, name: &str) -> anyhow::Result<()> {
    let read = |suffix: &str| {
        let path = root.join("examples/seeds").join(format!("{name}{suffix}"));
        std::fs::read(&path).with_context(|| format!("reading {}", path.display()))
    };
    let run = convert::matrix_page::run_document(&read(FACTS)?, &read(FIGURES)?)?;
    let mut text = serde_json::to_string_pretty(&run)?;
    text.push('\n');
    let path = root.join("examples/runs").join(format!("{name}.json"));
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
}
