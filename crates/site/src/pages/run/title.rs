use askama::Template;
use document::{Hardware, RunDocument, Source, format};

use super::grid::Grid;
use super::words::{counted, known, list};
use crate::words::{Said, Words};

/// What, on what, how; who measured it and how it got here.
#[derive(Debug, Template)]
#[template(path = "run/title.html")]
pub struct Title {
    /// The page's words.
    pub words: Words,
    /// The model's name, without its organization.
    pub model: Said,
    /// `on` the machine in one line, where known.
    pub on_hardware: Option<String>,
    /// Engine, version, quantization, matrix, prefill contexts; what is known of them.
    pub how: Vec<String>,
    /// Who ran it: `@handle`, or a name as it is.
    pub author: Option<String>,
    /// On whose behalf.
    pub organization: Option<String>,
    /// How the figures got here: `measured here`, `imported from …`.
    pub origin: Said,
    /// When it was measured, UTC.
    pub measured_at: Option<String>,
    /// `Measured`, as opposed to estimated; a simulated engine's run says so.
    pub badge: Said,
}

impl Title {
    pub(crate) fn of(run: &RunDocument, grid: &Grid, words: Words) -> Title {
        let engine = &run.engine;
        let how = [
            known(engine.name.as_deref()),
            known(engine.version.as_deref()),
            known(engine.quantization.as_deref()),
            matrix_size(grid, words),
            prefill_contexts(grid, words),
        ];
        let hardware = hardware_title(&run.hardware);
        Title {
            words,
            model: model_name(run).map_or_else(|| words.t("run-model-unnamed"), Said::Owned),
            on_hardware: hardware
                .map(|hardware| words.with("run-on-hardware", &[("hardware", hardware.into())])),
            how: how.into_iter().flatten().collect(),
            author: known(run.author.as_deref()).map(handle),
            organization: known(run.organization.as_deref()),
            origin: origin(run, words),
            measured_at: run.started_at.as_deref().map(moment),
            badge: words.t(if run.hardware.is_simulated() {
                "run-badge-simulated"
            } else {
                "run-badge-measured"
            }),
        }
    }

    /// What, on what, in one line: a page's `<title>`.
    #[must_use]
    pub fn in_one_line(&self) -> Said {
        match &self.on_hardware {
            Some(on_hardware) => Said::Owned(format!("{} {on_hardware}", self.model)),
            None => self.model.clone(),
        }
    }
}

/// `deepseek-ai/DeepSeek-V4.1-Flash-1017` is called by its last part.
pub(crate) fn model_name(run: &RunDocument) -> Option<String> {
    let id = known(run.model.id.as_deref()).or_else(|| known(run.model.served_name.as_deref()))?;
    let last = id.trim_end_matches('/').rsplit('/').next();
    Some(match last.filter(|part| !part.is_empty()) {
        Some(last) => last.to_owned(),
        None => id,
    })
}

/// `RTX PRO 6000 Blackwell Server Edition 96GB ×4`; a processor where there is no GPU.
pub(crate) fn hardware_title(hardware: &Hardware) -> Option<String> {
    let Some(gpu) = known(hardware.gpu.as_deref()) else {
        let memory = hardware.ram_gb.map(format::gigabytes);
        return match (known(hardware.cpu.as_deref()), memory) {
            (Some(cpu), Some(memory)) => Some(format!("{cpu}, {memory}")),
            (Some(cpu), None) => Some(cpu),
            (None, Some(_)) | (None, None) => known(hardware.kind.as_deref()),
        };
    };
    // Some names say their memory already: `H100 80GB HBM3`.
    let memory = hardware
        .vram_gb_each
        .map(|gb| format::gigabytes(gb).replace(' ', ""))
        .filter(|memory| !gpu.replace(' ', "").contains(memory.as_str()));
    let count = hardware.gpu_count.filter(|count| *count > 1);
    Some(
        [Some(gpu), memory, count.map(|count| format!("×{count}"))]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" "),
    )
}

/// `7 contexts (8K–507K) × 8 concurrency levels (1–128)`.
fn matrix_size(grid: &Grid, words: Words) -> Option<String> {
    let (first, last) = (grid.contexts.first()?, grid.contexts.last()?);
    let (least, most) = (grid.concurrency.first()?, grid.concurrency.last()?);
    let contexts = words.with("run-count-contexts", &counted(grid.contexts.len()));
    let levels = words.with("run-count-levels", &counted(grid.concurrency.len()));
    let context_span = span(format::context(*first), format::context(*last));
    let level_span = span(least.to_string(), most.to_string());
    Some(words.with(
        "run-matrix-size",
        &[
            ("contexts", contexts.into()),
            ("context_span", context_span.into()),
            ("levels", levels.into()),
            ("level_span", level_span.into()),
        ],
    ))
}

fn span(first: String, last: String) -> String {
    if first == last {
        first
    } else {
        format!("{first}–{last}")
    }
}

fn prefill_contexts(grid: &Grid, words: Words) -> Option<String> {
    let labels: Vec<String> = grid
        .prefill_contexts
        .iter()
        .map(|tokens| format::context(*tokens))
        .collect();
    (!labels.is_empty()).then(|| {
        words.with(
            "run-prefill-at",
            &[("contexts", list(words, &labels).into())],
        )
    })
}

/// Accounts have no spaces in their names; people have.
fn handle(author: String) -> String {
    if author.contains(char::is_whitespace) || author.contains('@') {
        author
    } else {
        format!("@{author}")
    }
}

fn origin(run: &RunDocument, words: Words) -> Said {
    match run.source {
        Source::Measured => words.t("run-origin-measured"),
        Source::Imported => {
            let from = run.imported_from.as_ref();
            let Some(tool) = from.and_then(|from| known(from.tool.as_deref())) else {
                return words.t("run-origin-imported");
            };
            // A tool has one word; several say themselves how it came.
            if tool.contains(char::is_whitespace) {
                tool.into()
            } else {
                words
                    .with("run-origin-imported-from", &[("tool", tool.into())])
                    .into()
            }
        }
    }
}

/// `2026-12-01 14:45 UTC`; what is no moment stays as it is.
pub(crate) fn moment(rfc3339: &str) -> String {
    match rfc3339.parse::<jiff::Timestamp>() {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => rfc3339.to_owned(),
    }
}
