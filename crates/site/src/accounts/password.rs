use std::sync::Arc;

use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

/// Memory that one hash takes: 19 MiB, as OWASP's Password Storage Cheat Sheet has it
/// for Argon2id with two passes.
const ARGON2_MEMORY_KIB: u32 = 19 * 1024;
/// Passes over the memory.
const ARGON2_PASSES: u32 = 2;
/// Lanes that could be filled by threads of their own.
const ARGON2_LANES: u32 = 1;
/// Hashes computed at once: 38 MiB and two cores.
const HASHES_AT_ONCE: usize = 2;
/// Hashes computed or waiting; more are refused. They wait about a second.
const HASHES_ASKED_MAX: usize = 64;
/// Of no password: what is checked where there is no account, so that a name that is
/// unknown takes the time of one that is known.
const HASH_OF_NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmUu$\
     2h1yJmVfX8hUO1Yv4Ks7mPqzYH0yq7n8T8iHqWc0R3M";

/// Computes and checks password hashes beside the requests, a few at once, so that
/// people who sign in cannot use up memory and processors.
#[derive(Debug, Clone)]
pub(crate) struct Hasher {
    asked: Arc<Semaphore>,
    computing: Arc<Semaphore>,
}

/// Why no hash was computed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HashError {
    /// [`HASHES_ASKED_MAX`] are asked for already.
    #[error("too many people sign in at this moment")]
    Busy,
    /// Argon2 refused.
    #[error("the password cannot be hashed: {0}")]
    Argon2(String),
}

impl Default for Hasher {
    fn default() -> Hasher {
        Hasher {
            asked: Arc::new(Semaphore::new(HASHES_ASKED_MAX)),
            computing: Arc::new(Semaphore::new(HASHES_AT_ONCE)),
        }
    }
}

impl Hasher {
    /// The hash of a password, in PHC form.
    pub(crate) async fn hash(&self, password: String) -> Result<String, HashError> {
        self.compute(move || {
            let hash = argon2()?
                .hash_password(password.as_bytes())
                .map_err(|error| HashError::Argon2(error.to_string()))?;
            Ok(hash.to_string())
        })
        .await
    }

    /// Whether the password is the one of the hash. Without a hash it is not, after
    /// the same time.
    pub(crate) async fn is_right(
        &self,
        password: String,
        hash: Option<String>,
    ) -> Result<bool, HashError> {
        self.compute(move || {
            let text = hash.as_deref().unwrap_or(HASH_OF_NOBODY);
            let parsed =
                PasswordHash::new(text).map_err(|error| HashError::Argon2(error.to_string()))?;
            let right = argon2()?
                .verify_password(password.as_bytes(), &parsed)
                .is_ok();
            Ok(right && hash.is_some())
        })
        .await
    }

    async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, HashError> + Send + 'static,
    ) -> Result<T, HashError> {
        let _asked = self.asked.try_acquire().map_err(|_| HashError::Busy)?;
        // It goes with the work: a request that is given up does not make room early.
        let computing = Arc::clone(&self.computing)
            .acquire_owned()
            .await
            .map_err(|_| HashError::Busy)?;
        tokio::task::spawn_blocking(move || {
            let done = work();
            drop(computing);
            done
        })
        .await
        .map_err(|error| HashError::Argon2(error.to_string()))?
    }
}

fn argon2() -> Result<Argon2<'static>, HashError> {
    let params = Params::new(ARGON2_MEMORY_KIB, ARGON2_PASSES, ARGON2_LANES, None)
        .map_err(|error| HashError::Argon2(error.to_string()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_hash_knows_its_password_and_no_other() {
        let hasher = Hasher::default();
        let hash = hasher
            .hash("correct horse".to_owned())
            .await
            .expect("hashes");
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        for (password, right) in [
            ("correct horse", true),
            ("correct horsf", false),
            ("", false),
        ] {
            let said = hasher
                .is_right(password.to_owned(), Some(hash.clone()))
                .await;
            assert_eq!(said.expect("checks"), right, "{password}");
        }
    }

    #[tokio::test]
    async fn nobody_has_no_password_but_the_same_work() {
        let hasher = Hasher::default();
        let parsed = PasswordHash::new(HASH_OF_NOBODY).expect("a hash");
        let known = hasher.hash(String::new()).await.expect("hashes");
        let known = PasswordHash::new(&known).expect("a hash");
        assert_eq!(parsed.params, known.params);
        assert_eq!(parsed.version, known.version);
        assert_eq!(
            parsed.hash.map(|hash| hash.len()),
            known.hash.map(|hash| hash.len())
        );
        assert!(
            !hasher
                .is_right("anything".to_owned(), None)
                .await
                .expect("checks")
        );
    }

    #[tokio::test]
    async fn more_than_may_wait_are_refused() {
        let hasher = Hasher::default();
        let _all = hasher.asked.try_acquire_many(64).expect("free");
        let said = hasher.hash("p".to_owned()).await;
        assert!(matches!(said, Err(HashError::Busy)), "{said:?}");
    }
}
