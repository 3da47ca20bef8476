//! Compressed uploads.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::Refusal;

/// The largest document that is read, after unpacking: 8 MiB, a hundred times a
/// usual one.
pub const MAX_DOCUMENT_BYTES: usize = 8 << 20;

/// A zstd frame may look back this far (2^23 = 8 MiB): what is larger is no
/// document, and asks for that much memory.
const MAX_ZSTD_WINDOW_LOG: u32 = 23;

/// How an upload is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Not at all.
    #[default]
    Plain,
    /// gzip
    Gzip,
    /// zstd
    Zstd,
}

impl Encoding {
    /// The encoding that a `Content-Encoding` header names.
    ///
    /// # Errors
    /// [`Refusal::Encoding`] for one that is not read.
    pub fn from_header(value: Option<&str>) -> Result<Encoding, Refusal> {
        let Some(value) = value else {
            return Ok(Encoding::Plain);
        };
        match value.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Encoding::Plain),
            "gzip" | "x-gzip" => Ok(Encoding::Gzip),
            "zstd" => Ok(Encoding::Zstd),
            _ => Err(Refusal::Encoding(value.chars().take(64).collect())),
        }
    }
}

/// The document inside; never more than [`MAX_DOCUMENT_BYTES`] are made.
///
/// # Errors
/// When it is longer, or not compressed as was said.
pub fn unpack(encoding: Encoding, bytes: Vec<u8>) -> Result<Vec<u8>, Refusal> {
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return Err(Refusal::TooLarge);
    }
    match encoding {
        Encoding::Plain => Ok(bytes),
        Encoding::Gzip => bounded(MultiGzDecoder::new(bytes.as_slice()), "gzip"),
        Encoding::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(bytes.as_slice())
                .map_err(|error| broken("zstd", &error))?;
            decoder
                .window_log_max(MAX_ZSTD_WINDOW_LOG)
                .map_err(|error| broken("zstd", &error))?;
            bounded(decoder, "zstd")
        }
    }
}

fn bounded(decoder: impl Read, name: &str) -> Result<Vec<u8>, Refusal> {
    let mut unpacked = Vec::new();
    decoder
        .take(MAX_DOCUMENT_BYTES as u64 + 1)
        .read_to_end(&mut unpacked)
        .map_err(|error| broken(name, &error))?;
    if unpacked.len() > MAX_DOCUMENT_BYTES {
        return Err(Refusal::TooLarge);
    }
    Ok(unpacked)
}

fn broken(name: &str, error: &std::io::Error) -> Refusal {
    Refusal::document(
        None,
        format!("the upload is not {name}, as its Content-Encoding says, or breaks off: {error}"),
    )
}
