//! Engines to simulate by name: fits of two published matrices.

use document::RunDocument;

/// A run the simulator can be fitted to by name.
struct Preset {
    name: &'static str,
    run: &'static str,
}

const PRESETS: [Preset; 2] = [
    Preset {
        name: "deepseek-v4.1-flash-4x-rtx-pro-6000",
        run: include_str!("presets/deepseek-v4.1-flash-4x-rtx-pro-6000.json"),
    },
    Preset {
        name: "glm-5.3-flash-4x-rtx-pro-6000",
        run: include_str!("presets/glm-5.3-flash-4x-rtx-pro-6000.json"),
    },
];

/// Names of all presets.
#[must_use]
pub fn preset_names() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}

/// The run behind a preset, reduced to what a fit needs. `None` for a name that
/// is not a preset's.
#[must_use]
pub fn preset_run(name: &str) -> Option<RunDocument> {
    let preset = PRESETS.iter().find(|preset| preset.name == name)?;
    serde_json::from_str(preset.run).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_parses_and_has_cells() {
        for name in preset_names() {
            let run = preset_run(name).unwrap();
            assert_eq!(run.schema, document::SCHEMA);
            assert!(run.cells.len() > 60);
            assert!(run.engine.kv_cache_tokens.is_some());
        }
        assert!(preset_run("nope").is_none());
    }
}
