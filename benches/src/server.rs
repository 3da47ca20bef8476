//! The real `tokgrid serve` in a process of its own, and what it takes of the machine.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

/// The binary's name.
const BINARY: &str = "tokgrid";
/// What the site says once it listens, before its address.
const SAID_BEFORE_ADDRESS: &str = "http://";
/// All requests come from one address, which the site's limits are not made for.
const REQUESTS_PER_MINUTE: &str = "100000000";
/// Clock ticks of a second in `/proc`, on every Linux that Rust runs on.
const TICKS_PER_S: f64 = 100.0;
/// Places of user and system time in `/proc/PID/stat`, after the name.
const USER_TICKS_FIELD: usize = 11;
const KIB_BYTES: u64 = 1024;

/// A site that runs until this is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
}

/// The `tokgrid` to measure: built with the profile of this program and lying beside it.
///
/// # Errors
/// When it cannot be built.
pub fn built_beside() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("where this program lies")?;
    let path = own.with_file_name(format!("{BINARY}{}", std::env::consts::EXE_SUFFIX));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--package", BINARY]);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    let status = build
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .status()
        .context("cannot run cargo to build tokgrid: give --server PATH")?;
    anyhow::ensure!(status.success(), "tokgrid does not build ({status})");
    anyhow::ensure!(
        path.is_file(),
        "cargo put tokgrid somewhere else than {}: give --server PATH",
        path.display()
    );
    Ok(path)
}

impl Server {
    /// Starts the site on a database and waits until it listens.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(binary: &Path, database_url: &str) -> anyhow::Result<Server> {
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--db", database_url])
            .args(["--requests-per-minute", REQUESTS_PER_MINUTE])
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let stdout = child.stdout.take().context("the site's output")?;
        let mut said = String::new();
        let read = BufReader::new(stdout).read_line(&mut said);
        match read.map(|_| address_of(&said)) {
            Ok(Some(address)) => Ok(Server { child, address }),
            Ok(None) | Err(_) => {
                let status = child.kill().and_then(|()| child.wait());
                bail!("the site did not say its address but {said:?} ({status:?})")
            }
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The most memory it has held, bytes.
    ///
    /// # Errors
    /// Where there is no `/proc`.
    pub fn memory_peak_bytes(&self) -> anyhow::Result<u64> {
        let status = self.proc_file("status")?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .context("the kernel does not tell VmHWM")?;
        let kib: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kib * KIB_BYTES)
    }

    /// Processor time it has used.
    ///
    /// # Errors
    /// Where there is no `/proc`.
    pub fn processor_time(&self) -> anyhow::Result<Duration> {
        let stat = self.proc_file("stat")?;
        let (_, fields) = stat
            .rsplit_once(')')
            .context("the kernel's account of the site")?;
        let ticks: u64 = fields
            .split_whitespace()
            .skip(USER_TICKS_FIELD)
            .take(2)
            .map(str::parse::<u64>)
            .sum::<Result<u64, _>>()?;
        Ok(Duration::from_secs_f64(ticks as f64 / TICKS_PER_S))
    }

    fn proc_file(&self, name: &str) -> anyhow::Result<String> {
        let path = format!("/proc/{}/{name}", self.child.id());
        std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {path}: this needs Linux, and a site that runs"))
    }
}

/// The address in what the site says when it listens.
fn address_of(said: &str) -> Option<SocketAddr> {
    let (_, rest) = said.split_once(SAID_BEFORE_ADDRESS)?;
    rest.split_whitespace().next()?.parse().ok()
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nobody is left to be told; a process that is gone already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_what_the_site_says() {
        let said = "The site is at http://127.0.0.1:41234 (Ctrl-C stops it)\n";
        assert_eq!(address_of(said), "127.0.0.1:41234".parse().ok());
        assert_eq!(address_of("error: the address is taken\n"), None);
    }
}
