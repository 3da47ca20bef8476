//! What was uploaded, told by how it begins.

use super::Refusal;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// JSON text, as far as its first bytes say.
pub(super) struct JsonText<'bytes> {
    /// Without a byte order mark.
    pub(super) body: &'bytes str,
    pub(super) has_byte_order_mark: bool,
}

/// Refuses what cannot be JSON by what it is, with what to do instead.
pub(super) fn json_text(bytes: &[u8]) -> Result<JsonText<'_>, Refusal> {
    let marked = bytes.strip_prefix(BYTE_ORDER_MARK);
    let body = marked.unwrap_or(bytes);
    let advice = match body.trim_ascii_start() {
        [] => "the file is empty: give the run document that `tokgrid run --out` wrote",
        [0x1f, 0x8b, ..] => {
            "this is gzip: unpack it first, or send it with `Content-Encoding: gzip`"
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            "this is zstd: the samples file of a run (run.samples.zst) stays with you, \
             publish run.json; a compressed document needs `Content-Encoding: zstd`"
        }
        [b'P', b'K', 3 | 5, 4 | 6, ..] => "this is a zip archive: publish the run.json inside",
        [b'<', ..] => {
            "this is a page (HTML or XML): publish run.json, which report.html was made of"
        }
        [b'{', ..] => "",
        [b'[', ..] => "this is a JSON list: a run document is an object, one in each upload",
        _ => "this is not JSON: give the run document that `tokgrid run --out` wrote",
    };
    if !advice.is_empty() {
        return Err(Refusal::document(None, advice));
    }
    let body = std::str::from_utf8(body).map_err(|error| {
        let at = error.valid_up_to() + bytes.len() - body.len();
        Refusal::document(
            None,
            format!("the text is not UTF-8 at byte {at}: save it as UTF-8"),
        )
    })?;
    Ok(JsonText {
        body,
        has_byte_order_mark: marked.is_some(),
    })
}
