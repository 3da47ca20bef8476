//! Tokens that `tokgrid sign-in` fetched, in a file that only its owner reads.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use etcetera::{BaseStrategy, choose_base_strategy};

/// Largest file read: thousands of registries, far from filling memory.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The tokens of this person, by registry.
#[derive(Debug)]
pub struct KeptTokens {
    path: PathBuf,
}

impl KeptTokens {
    /// Those in the platform's folder for settings.
    ///
    /// # Errors
    /// When there is no home folder.
    pub fn of_this_person() -> anyhow::Result<KeptTokens> {
        let folders = choose_base_strategy().context("there is no home folder for the token")?;
        let path = folders.config_dir().join("tokgrid").join("tokens.json");
        Ok(KeptTokens { path })
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The token for a registry.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn token(&self, registry: &str) -> anyhow::Result<Option<String>> {
        Ok(self.all()?.remove(registry))
    }

    /// Keeps the token for a registry, in place of the one before.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&self, registry: &str, token: &str) -> anyhow::Result<()> {
        let mut all = self.all()?;
        all.insert(registry.to_owned(), token.to_owned());
        self.write(&serde_json::to_string_pretty(&all)?)
            .with_context(|| format!("{}: the token cannot be kept", self.path.display()))
    }

    fn all(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let named = || self.path.display().to_string();
        match std::fs::metadata(&self.path) {
            Ok(about) if about.len() > MAX_FILE_BYTES => bail!("{}: is too large", named()),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(BTreeMap::new());
            }
            Err(error) => return Err(error).with_context(named),
        }
        let text = std::fs::read_to_string(&self.path).with_context(named)?;
        // What the parser says would quote the file, and so a token.
        serde_json::from_str(&text)
            .map_err(|_| anyhow::anyhow!("{}: is damaged; delete it and sign in again", named()))
    }

    /// A new file takes the place of the old one whole, or not at all.
    fn write(&self, text: &str) -> anyhow::Result<()> {
        let folder = self.path.parent().context("it has no folder")?;
        std::fs::create_dir_all(folder)?;
        let new = self
            .path
            .with_extension(format!("{}.new", std::process::id()));
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&new)?;
        let written = file
            .write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .and_then(|()| std::fs::rename(&new, &self.path));
        if written.is_err() {
            // The error that is told is the one of writing.
            let _ = std::fs::remove_file(&new);
        }
        Ok(written?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_kept_for_its_registry_in_a_file_of_its_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = KeptTokens {
            path: folder.path().join("tokgrid/tokens.json"),
        };
        assert_eq!(kept.token("https://a.example").expect("reads"), None);
        kept.keep("https://a.example", "tg_1").expect("keeps");
        kept.keep("https://b.example", "tg_2").expect("keeps");
        kept.keep("https://a.example", "tg_3").expect("keeps");
        let token = |registry| kept.token(registry).expect("reads");
        assert_eq!(token("https://a.example").as_deref(), Some("tg_3"));
        assert_eq!(token("https://b.example").as_deref(), Some("tg_2"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(kept.path())
                .expect("is there")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_damaged_file_is_told_without_what_is_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens.json");
        std::fs::write(&path, r#"{"https://a.example": tg_secret}"#).expect("writes");
        let error = KeptTokens { path }
            .token("https://a.example")
            .expect_err("is refused");
        let told = format!("{error:#}");
        assert!(
            told.contains("is damaged") && !told.contains("tg_secret"),
            "{told}"
        );
    }
}
