use document::{Cell, CellKey, CellStatus, Phase, format};

/// The sentence under a decode matrix about TTFT.
pub(crate) const TTFT_SENTENCE: &str = "TTFT is measured after the benchmark warms the server's prompt cache, so it mostly excludes prefill.";

/// A cell in words: `Sustained decode, 8K × 64`.
pub(crate) fn place(key: CellKey) -> String {
    let context = format::context(key.context_tokens);
    match key.phase {
        Phase::Prefill => format!("{}, {context}", key.phase.title()),
        Phase::Decode => format!("{}, {context} × {}", key.phase.title(), key.concurrency),
    }
}

/// The sentences of the statuses that occur, in one paragraph.
pub(crate) fn status_sentences<'run>(cells: impl Iterator<Item = &'run Cell>) -> Option<String> {
    let statuses: Vec<CellStatus> = cells.map(|cell| cell.status).collect();
    let sentences: Vec<&str> = [
        CellStatus::Queued,
        CellStatus::OverCapacity,
        CellStatus::Failed,
    ]
    .into_iter()
    .filter(|status| statuses.contains(status))
    .filter_map(CellStatus::sentence)
    .collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// `1 cell`, `2 cells`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        format::count(count as u64),
        if count == 1 { one } else { many }
    )
}

/// Text that says something.
pub(crate) fn known(text: Option<&str>) -> Option<String> {
    text.map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}
