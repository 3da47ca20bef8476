//! Keeps what is measured: samples appended cell by cell, the document replaced
//! whole. Whatever happens, what a finished cell gave is on the disk.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use document::{CellSamples, RunDocument};
use sha2::{Digest, Sha256};

/// zstd's own default: fast, and samples shrink to about a tenth.
const COMPRESSION_LEVEL: i32 = 3;

/// A cell of 256 streams writes some tens of MB; what is longer is none of ours.
const MAX_LINE_BYTES: u64 = 512 << 20;

/// A document and its samples on the disk.
pub struct Recorder {
    document_path: PathBuf,
    samples: File,
    hash: Sha256,
    samples_bytes: u64,
}

/// What kept something from being written or read back.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Writing failed.
    #[error("cannot write {}: {source}. What was measured before is kept; free the disk or choose another place with --out", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The samples are not those of the document.
    #[error("{} does not belong to the run document beside it: {why}", path.display())]
    Foreign {
        /// The samples file.
        path: PathBuf,
        /// What differs.
        why: String,
    },
}

/// Where the samples of a document lie: `run.json` -> `run.samples.zst`; a name with
/// another ending keeps it (`glm-5.3` -> `glm-5.3.samples.zst`).
#[must_use]
pub fn samples_path(document: &Path) -> PathBuf {
    let mut name = match document.extension() {
        Some(ending) if ending == "json" => document.with_extension(""),
        Some(_) | None => document.to_owned(),
    }
    .into_os_string();
    name.push(".samples.zst");
    name.into()
}

/// A path without detours, for telling whether two name one file that may not be
/// there yet.
#[must_use]
pub fn real_path(path: &Path) -> PathBuf {
    let whole = path.canonicalize();
    let in_folder = || {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    whole
        .ok()
        .or_else(in_folder)
        .unwrap_or_else(|| path.to_owned())
}

impl Recorder {
    /// Begins a new pair of files.
    ///
    /// # Errors
    /// [`RecordError::Write`].
    pub fn create(document_path: &Path) -> Result<Recorder, RecordError> {
        let path = samples_path(document_path);
        let samples = File::create(&path).map_err(|source| RecordError::Write { path, source })?;
        Ok(Recorder {
            document_path: document_path.to_owned(),
            samples,
            hash: Sha256::new(),
            samples_bytes: 0,
        })
    }

    /// Goes on with the pair that `document` was read from. Samples beyond those
    /// it vouches for were being written when the run was cut off: they go.
    ///
    /// # Errors
    /// [`RecordError`], when the samples are not the document's.
    pub fn resume(document_path: &Path, document: &RunDocument) -> Result<Recorder, RecordError> {
        let path = samples_path(document_path);
        let read = |source| RecordError::Read {
            path: path.clone(),
            source,
        };
        let mut samples = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(read)?;
        let samples_bytes = document.samples_bytes.unwrap_or(0);
        let hash = hash_of(&path, &mut samples, samples_bytes, document)?;
        samples.set_len(samples_bytes).map_err(read)?;
        samples.seek(SeekFrom::End(0)).map_err(read)?;
        Ok(Recorder {
            document_path: document_path.to_owned(),
            samples,
            hash,
            samples_bytes,
        })
    }

    /// Appends one cell's samples: a line of JSON in a zstd frame of its own.
    ///
    /// # Errors
    /// [`RecordError::Write`]; the file then ends where it did before.
    pub fn append(&mut self, samples: &CellSamples) -> Result<(), RecordError> {
        let frame = frame(samples).and_then(|frame| {
            self.samples.write_all(&frame)?;
            self.samples.sync_data()?;
            Ok(frame)
        });
        match frame {
            Ok(frame) => {
                self.hash.update(&frame);
                self.samples_bytes += frame.len() as u64;
                Ok(())
            }
            Err(source) => {
                // Half a frame would make the rest unreadable; if even this fails,
                // `samples_bytes` in the document says where to cut.
                let _ = self.samples.set_len(self.samples_bytes);
                let _ = self.samples.seek(SeekFrom::End(0));
                Err(RecordError::Write {
                    path: samples_path(&self.document_path),
                    source,
                })
            }
        }
    }

    /// Replaces the document as a whole: a reader sees the old one or the new one.
    ///
    /// # Errors
    /// [`RecordError::Write`]; the old one then stands.
    pub fn save(&self, document: &mut RunDocument) -> Result<(), RecordError> {
        document.samples_bytes = Some(self.samples_bytes);
        document.samples_sha256 = Some(hex(&self.hash.clone().finalize()));
        save_document(&self.document_path, document)
    }
}

/// Writes a document to `path` as a whole.
///
/// # Errors
/// [`RecordError::Write`]; what stood there before still stands.
pub fn save_document(path: &Path, document: &RunDocument) -> Result<(), RecordError> {
    let failed = |source| RecordError::Write {
        path: path.to_owned(),
        source,
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file =
        tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    serde_json::to_writer_pretty(&mut file, document).map_err(|e| failed(e.into()))?;
    file.write_all(b"\n").map_err(failed)?;
    file.as_file().sync_data().map_err(failed)?;
    // Temporary files are private; a run document is for sharing.
    make_readable(file.as_file()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(unix)]
fn make_readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_file: &File) -> io::Result<()> {
    Ok(())
}

fn frame(samples: &CellSamples) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), COMPRESSION_LEVEL)?;
    serde_json::to_writer(&mut encoder, samples)?;
    encoder.write_all(b"\n")?;
    encoder.finish()
}

/// The samples beside a document, in the order they were measured. A cell that
/// was measured again appears again.
///
/// # Errors
/// [`RecordError`], also when they are not the document's.
pub fn read_samples(
    document_path: &Path,
    document: &RunDocument,
) -> Result<Vec<CellSamples>, RecordError> {
    let path = samples_path(document_path);
    let read = |source| RecordError::Read {
        path: path.clone(),
        source,
    };
    let mut file = File::open(&path).map_err(read)?;
    let length = document.samples_bytes.unwrap_or(0);
    hash_of(&path, &mut file, length, document)?;
    if length == 0 {
        // Cut short before its first cell; no bytes are no frame either.
        return Ok(Vec::new());
    }
    file.rewind().map_err(read)?;
    let decoder = zstd::Decoder::new(file.take(length)).map_err(read)?;
    let mut lines = BufReader::new(decoder);
    let mut samples = Vec::new();
    loop {
        let mut line = Vec::new();
        let length = lines
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line);
        if length.map_err(read)? == 0 {
            return Ok(samples);
        }
        if line.len() as u64 == MAX_LINE_BYTES {
            let why = format!("one cell has more than {} MB", MAX_LINE_BYTES >> 20);
            return Err(RecordError::Foreign { path, why });
        }
        samples.push(serde_json::from_slice(&line).map_err(|e| read(e.into()))?);
    }
}

fn hash_of(
    path: &Path,
    file: &mut File,
    length: u64,
    document: &RunDocument,
) -> Result<Sha256, RecordError> {
    let foreign = |why: String| RecordError::Foreign {
        path: path.to_owned(),
        why,
    };
    let mut hash = Sha256::new();
    let copied =
        io::copy(&mut file.take(length), &mut hash).map_err(|source| RecordError::Read {
            path: path.to_owned(),
            source,
        })?;
    if copied != length {
        return Err(foreign(format!(
            "it has {copied} bytes, {length} were written"
        )));
    }
    let found = hex(&hash.clone().finalize());
    match &document.samples_sha256 {
        Some(expected) if *expected != found => Err(foreign("its SHA-256 differs".to_owned())),
        Some(_) | None => Ok(hash),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::{CellKey, Phase, SampledLimits};

    fn cell(context_tokens: u64) -> CellSamples {
        let key = CellKey {
            phase: Phase::Decode,
            context_tokens,
            concurrency: 1,
        };
        CellSamples::empty(key, SampledLimits::default())
    }

    fn new_document() -> RunDocument {
        serde_json::from_str(r#"{"schema":"tokgrid.run/1","id":"r","source":"measured"}"#)
            .expect("document")
    }

    #[test]
    fn samples_come_back_and_a_frame_cut_off_is_dropped_on_resume() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("run.json");
        let mut document = new_document();
        let mut recorder = Recorder::create(&path).expect("created");
        recorder.append(&cell(1)).expect("appended");
        recorder.save(&mut document).expect("saved");
        recorder
            .append(&cell(2))
            .expect("appended, and then the machine went down");
        let mut again = Recorder::resume(&path, &document).expect("resumed");
        again.append(&cell(3)).expect("appended");
        again.save(&mut document).expect("saved");
        let contexts: Vec<u64> = read_samples(&path, &document)
            .expect("read")
            .iter()
            .map(|c| c.key.context_tokens)
            .collect();
        assert_eq!(contexts, [1, 3]);
    }

    #[test]
    fn documents_with_dots_in_their_names_keep_their_samples_apart() {
        let samples = |name: &str| samples_path(Path::new(name)).display().to_string();
        assert_eq!(samples("runs/run.json"), "runs/run.samples.zst");
        assert_eq!(samples("glm-5.3"), "glm-5.3.samples.zst");
        assert_eq!(samples("glm-5.4"), "glm-5.4.samples.zst");
    }

    #[test]
    fn samples_of_another_run_are_refused() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("run.json");
        let mut document = new_document();
        let mut recorder = Recorder::create(&path).expect("created");
        recorder.append(&cell(1)).expect("appended");
        recorder.save(&mut document).expect("saved");
        let mut other = Recorder::create(&path).expect("created");
        other.append(&cell(7)).expect("appended");
        let error = read_samples(&path, &document).expect_err("refused");
        assert!(matches!(error, RecordError::Foreign { .. }), "{error}");
    }
}
