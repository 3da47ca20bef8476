use std::fmt;

use sha2::{Digest, Sha256};

/// 256 bits.
const SECRET_BYTES: usize = 32;

/// 256 random bits, as 64 hexadecimal digits, perhaps behind a prefix. Whoever has it
/// is let in: it is shown by [`Secret::reveal`] alone, and kept as its SHA-256.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// A new one.
    pub(crate) fn random(prefix: &str) -> Secret {
        let bits: [u8; SECRET_BYTES] = rand::random();
        let digits: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
        Secret(format!("{prefix}{digits}"))
    }

    /// One that somebody shows.
    pub(crate) fn shown(text: &str) -> Secret {
        Secret(text.to_owned())
    }

    /// The secret itself, for its owner alone.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it, hexadecimal.
    pub(crate) fn sha256(&self) -> String {
        format!("{:x}", Sha256::digest(self.0.as_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
