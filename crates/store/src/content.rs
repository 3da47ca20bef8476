use sha2::{Digest as _, Sha256};
use sqlx::{AnyConnection, query};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

use crate::StoreError;

/// Higher is smaller and slower; from here on it is hardly smaller.
const ZSTD_LEVEL: i32 = 6;

/// A document's bytes as they are kept.
pub(crate) struct Content {
    /// SHA-256 of the bytes as they came, hex.
    pub(crate) sha256: String,
    bytes: i64,
    zstd: Vec<u8>,
}

impl Content {
    pub(crate) fn of(bytes: &[u8]) -> Result<Content, StoreError> {
        Ok(Content {
            sha256: sha256_hex(bytes),
            bytes: i64::try_from(bytes.len())
                .map_err(|_| StoreError::Unstorable("a document of this length".to_owned()))?,
            zstd: compress(bytes)
                .map_err(|error| StoreError::Unstorable(format!("a document ({error})")))?,
        })
    }

    /// Stores the bytes; nothing has this hash yet.
    pub(crate) async fn insert(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        query("INSERT INTO documents (sha256, content_bytes, content_zstd) VALUES ($1, $2, $3)")
            .bind(self.sha256.as_str())
            .bind(self.bytes)
            .bind(self.zstd.as_slice())
            .execute(connection)
            .await?;
        Ok(())
    }
}

fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut compressor = Compressor::new(ZSTD_LEVEL)?;
    // So that damage is found when it is read, without hashing all again.
    compressor.set_parameter(CParameter::ChecksumFlag(true))?;
    compressor.compress(bytes)
}

/// The bytes as they came.
///
/// # Errors
/// What is wrong, in words.
pub(crate) fn decompress(content_zstd: &[u8], content_bytes: i64) -> Result<Vec<u8>, String> {
    let length = usize::try_from(content_bytes).map_err(|_| "its length is negative".to_owned())?;
    let bytes = Decompressor::new()
        .and_then(|mut decompressor| decompressor.decompress(content_zstd, length))
        .map_err(|error| format!("its document does not unpack: {error}"))?;
    if bytes.len() == length {
        Ok(bytes)
    } else {
        Err(format!(
            "its document has {} bytes and not {length}",
            bytes.len()
        ))
    }
}

/// SHA-256 in hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a String does not fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
