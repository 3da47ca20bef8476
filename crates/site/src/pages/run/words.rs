use document::{Cell, CellKey, CellStatus, Phase, format};

use crate::words::{FluentValue, Said, Words};

/// A cell in words: `Sustained decode, 8K × 64`.
pub(crate) fn place(words: Words, key: CellKey) -> String {
    let context = format::context(key.context_tokens);
    match key.phase {
        Phase::Prefill => words.with("run-place-prefill", &[("context", context.into())]),
        Phase::Decode => words.with(
            "run-place-decode",
            &[
                ("context", context.into()),
                ("concurrency", key.concurrency.to_string().into()),
            ],
        ),
    }
}

/// The sentences of the statuses that occur, in one paragraph.
pub(crate) fn status_sentences<'run>(
    words: Words,
    cells: impl Iterator<Item = &'run Cell>,
) -> Option<Said> {
    const SAID: [CellStatus; 3] = [
        CellStatus::Queued,
        CellStatus::OverCapacity,
        CellStatus::Failed,
    ];
    let mut occurs = [false; SAID.len()];
    for cell in cells {
        if let Some(at) = SAID.iter().position(|status| *status == cell.status) {
            occurs[at] = true;
        }
    }
    SAID.into_iter()
        .zip(occurs)
        .filter(|(_, occurs)| *occurs)
        .filter_map(|(status, _)| words.status_sentence(status))
        .reduce(|before, sentence| Said::Owned(format!("{before} {sentence}")))
}

/// What a sentence that counts needs: the number by which it chooses a plural, and
/// the number as it is written.
pub(crate) fn counted(count: usize) -> [(&'static str, FluentValue<'static>); 2] {
    [
        ("count", count.into()),
        ("shown", format::count(count as u64).into()),
    ]
}

/// Texts as a list: `8K, 16K`.
pub(crate) fn list(words: Words, texts: &[String]) -> String {
    texts.join(&words.t("run-list-separator"))
}

/// Text that says something.
pub(crate) fn known(text: Option<&str>) -> Option<String> {
    text.map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}
