use std::path::{Path, PathBuf};

use anyhow::Context;

/// Where the schema of run documents is published, below the workspace's root.
const PATH: &str = "docs/schema/tokgrid.run-1.json";

/// Writes the JSON Schema of run documents and returns where. A test of the
/// document crate holds the file against the types.
pub fn write(root: &Path) -> anyhow::Result<PathBuf> {
    let path = root.join(PATH);
    let mut text = serde_json::to_string_pretty(&document::run_document_schema())?;
    text.push('\n');
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
