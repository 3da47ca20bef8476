//! The whole measurement: fill, serve, ask, and say.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use document::format::count;
use store::{DatabaseUrl, Store};

use crate::load::{self, Measured, Pace, Target};
use crate::server::{self, Server};
use crate::table::{self, Limits, Reading, SizeReadings, Under};
use crate::targets::{Draw, Listing, Slugs};
use crate::wanted::{Class, Runs};
use crate::world::World;

/// What lists, leaderboards and models must stay under.
const LISTING_REQUIRED: Under = Under(50.0);
/// What the page of a run must stay under.
const RUN_REQUIRED: Under = Under(15.0);
/// What must hold besides.
pub const LIMITS: Limits = Limits {
    memory_bytes: 300_000_000,
    run_pages_per_s: 1000.0,
    run_page_bytes: 150_000,
};

/// Sizes at which the growth is measured, before the one that is asked for.
const SMALLER_SIZES: [u64; 2] = [1_000, 10_000];
/// Connections for lists, and for run pages.
const CONNECTIONS: usize = 32;
/// Before something is measured, it is asked for this long …
const WARM_UP: Duration = Duration::from_secs(2);
/// … at this share of the rate.
const WARM_UP_SHARE: f64 = 0.25;
/// Between two rates of which one is sustained and the other not, the search for the
/// highest stops.
const RATE_STEP: f64 = 1.1;
/// Rates that are tried at most.
const RATES_MAX: u32 = 12;
/// Share of a measurement's duration that one rate is tried for.
const RATE_DURATION_SHARE: f64 = 0.34;
/// The seed of what is asked for is this much beside the world's.
const DRAW_SEED_OFFSET: u64 = 1_000_000;

/// What to measure.
#[derive(Debug, Clone)]
pub struct Options {
    /// Runs at the largest size.
    pub runs: u64,
    /// The SQLite file.
    pub database: PathBuf,
    /// Makes the world and what is asked for.
    pub seed: u64,
    /// The `tokgrid` to measure; none builds it.
    pub server: Option<PathBuf>,
    /// Lists a second.
    pub listing_rate_per_s: f64,
    /// Run pages a second.
    pub run_rate_per_s: f64,
    /// Length of each measurement.
    pub duration: Duration,
}

impl Options {
    /// The sizes to measure at, the smallest first, of a database with so many runs.
    fn sizes(&self, there: u64) -> Vec<u64> {
        let possible = |size: &u64| (there..self.runs).contains(size);
        let smaller = SMALLER_SIZES.into_iter().filter(possible);
        smaller.chain([self.runs]).collect()
    }

    fn database_url(&self) -> String {
        format!("sqlite:{}", self.database.display())
    }
}

/// Fills and measures at each size, and says on `progress` what is going on.
///
/// # Errors
/// When something cannot be measured, or an answer is not what it has to be.
pub async fn run(
    options: &Options,
    progress: &mut impl Write,
) -> anyhow::Result<Vec<SizeReadings>> {
    let binary = match &options.server {
        Some(path) => path.clone(),
        None => server::built_beside()?,
    };
    let world = Arc::new(World::new(options.seed)?);
    let url: DatabaseUrl = options.database_url().parse()?;
    let mut sizes = Vec::new();
    // What a kept database has already cannot be measured smaller.
    let there = crate::fill::runs_there(&Store::open(&url).await?, &world).await?;
    for size in options.sizes(there) {
        let store = filled(&url, &world, size, progress).await?;
        let slugs = Slugs::read(&store).await?;
        let runs = Runs::of(&world, size);
        let server = Server::start(&binary, &options.database_url())?;
        let mut measuring = Measuring {
            options,
            server: &server,
            draw: Draw::new(&runs, &slugs, options.seed + DRAW_SEED_OFFSET),
            progress: &mut *progress,
        };
        sizes.push(measuring.size(size)?);
    }
    Ok(sizes)
}

/// A database with the first runs of a world; says on `progress` how far it is.
///
/// # Errors
/// When the database fails, or holds other runs.
pub async fn filled(
    url: &DatabaseUrl,
    world: &Arc<World>,
    runs: u64,
    progress: &mut impl Write,
) -> anyhow::Result<Store> {
    let store = Store::open(url).await?;
    let begun = Instant::now();
    let mut said = Ok(());
    crate::fill::fill(&store, world, runs, |there| {
        let seconds = begun.elapsed().as_secs();
        said = write!(
            progress,
            "\r{} of {} runs, {seconds} s",
            count(there),
            count(runs)
        );
    })
    .await?;
    said?;
    writeln!(
        progress,
        "\r{} runs are there, {} s",
        count(runs),
        begun.elapsed().as_secs()
    )?;
    Ok(store)
}

/// One size being measured.
struct Measuring<'run, W> {
    options: &'run Options,
    server: &'run Server,
    draw: Draw<'run>,
    progress: &'run mut W,
}

impl<W: Write> Measuring<'_, W> {
    fn size(&mut self, runs: u64) -> anyhow::Result<SizeReadings> {
        let mut readings = Vec::new();
        for listing in Listing::ALL {
            let targets = self.draw.listing(listing)?;
            readings.extend(self.listing(listing, &targets)?);
        }
        let rate = self.options.run_rate_per_s;
        let pages = self
            .draw
            .run_pages((rate * self.options.duration.as_secs_f64()) as usize)?;
        let (measured, processor_ms) = self.measure("run", &pages, rate)?;
        let mut reading = reading("run", "", rate, &measured, Some(RUN_REQUIRED));
        reading.processor_ms = Some(processor_ms);
        reading.latencies(&measured.all_us()?);
        let is_held = !reading.is_over();
        readings.push(reading);
        let run_pages_per_s_max = self.highest_rate(&pages, is_held)?;
        let database_bytes = database_bytes(&self.options.database)?;
        Ok(SizeReadings {
            runs,
            database_bytes,
            readings,
            run_pages_per_s_max,
            run_page_bytes_max: measured.body_bytes_max,
            memory_bytes: self.server.memory_peak_bytes()?,
        })
    }

    /// All filters together, then each class.
    fn listing(&mut self, listing: Listing, targets: &[Target]) -> anyhow::Result<Vec<Reading>> {
        let rate = self.options.listing_rate_per_s;
        let (measured, processor_ms) = self.measure(listing.title(), targets, rate)?;
        let title = listing.title();
        let mut all = reading(title, "all", rate, &measured, Some(LISTING_REQUIRED));
        all.processor_ms = Some(processor_ms);
        all.latencies(&measured.all_us()?);
        let mut readings = vec![all];
        for (class, latencies_us) in Class::ALL.into_iter().zip(&measured.latencies_us) {
            let mut of_class = reading(
                title,
                class.title(),
                rate / 3.0,
                &measured,
                Some(LISTING_REQUIRED),
            );
            of_class.body_bytes = None;
            of_class.latencies(latencies_us);
            readings.push(of_class);
        }
        Ok(readings)
    }

    /// The latencies of targets at a rate, and the site's processor time for each, ms.
    fn measure(
        &mut self,
        what: &str,
        targets: &[Target],
        rate_per_s: f64,
    ) -> anyhow::Result<(Measured, f64)> {
        write!(self.progress, "{what}, {rate_per_s:.0} a second: ")?;
        self.progress.flush()?;
        self.ask(
            targets,
            rate_per_s * WARM_UP_SHARE,
            WARM_UP.min(self.options.duration),
        )?;
        let before = self.server.processor_time()?;
        let measured = self.ask(targets, rate_per_s, self.options.duration)?;
        let used = self.server.processor_time()?.saturating_sub(before);
        let all_us = measured.all_us()?;
        let p99_ms = all_us.value_at_quantile(0.99) as f64 / 1e3;
        let kept_up = if measured.is_sustained() {
            ""
        } else {
            ", and did not keep up"
        };
        writeln!(self.progress, "p99 {p99_ms:.1} ms{kept_up}")?;
        let each_ms = used.as_secs_f64() * 1e3 / measured.answered().max(1) as f64;
        Ok((measured, each_ms))
    }

    /// Asks, and refuses answers that are wrong: their latencies would say nothing.
    fn ask(
        &self,
        targets: &[Target],
        rate_per_s: f64,
        duration: Duration,
    ) -> anyhow::Result<Measured> {
        let pace = Pace {
            rate_per_s,
            duration,
            connections: CONNECTIONS,
        };
        let measured = load::run(self.server.address(), targets, pace)?;
        anyhow::ensure!(
            measured.wrong == 0,
            "{} answers were wrong:\n{}",
            measured.wrong,
            measured.wrong_shown.join("\n")
        );
        Ok(measured)
    }

    /// The highest rate of run pages that is kept up with, up or down from the one
    /// that was measured.
    fn highest_rate(&mut self, pages: &[Target], is_held: bool) -> anyhow::Result<f64> {
        let duration = self.options.duration.mul_f64(RATE_DURATION_SHARE);
        let mut rate = self.options.run_rate_per_s;
        let mut highest = if is_held { rate } else { 0.0 };
        for _ in 0..RATES_MAX {
            rate = if is_held {
                rate * RATE_STEP
            } else {
                rate / RATE_STEP
            };
            let measured = self.ask(pages, rate, duration)?;
            let p99_ms = measured.all_us()?.value_at_quantile(0.99) as f64 / 1e3;
            let holds = measured.is_sustained() && p99_ms < RUN_REQUIRED.0;
            let word = if holds { "kept up" } else { "did not keep up" };
            writeln!(
                self.progress,
                "run, {rate:.0} a second: p99 {p99_ms:.1} ms, {word}"
            )?;
            if holds {
                highest = rate;
            }
            // Upwards the first that fails ends it, downwards the first that holds.
            if holds != is_held {
                break;
            }
        }
        Ok(highest)
    }
}

/// The database with what is written and not yet in it.
fn database_bytes(database: &Path) -> anyhow::Result<u64> {
    let own = std::fs::metadata(database)
        .with_context(|| format!("cannot see {}", database.display()))?
        .len();
    let log = format!("{}-wal", database.display());
    // There is none where all was brought into the database.
    let log_bytes = std::fs::metadata(log).map_or(0, |log| log.len());
    Ok(own + log_bytes)
}

fn reading(
    page: &'static str,
    filters: &'static str,
    rate_per_s: f64,
    measured: &Measured,
    required: Option<Under>,
) -> Reading {
    Reading {
        page,
        filters,
        rate_per_s,
        requests: 0,
        p50_ms: 0.0,
        p99_ms: 0.0,
        max_ms: 0.0,
        body_bytes: Some(measured.body_bytes_mean()),
        processor_ms: None,
        is_sustained: measured.is_sustained(),
        required,
    }
}

/// The tables, and what of the largest size is missed.
#[must_use]
pub fn told(sizes: &[SizeReadings]) -> (String, Vec<String>) {
    let missed = sizes
        .last()
        .map(|size| size.missed(LIMITS))
        .unwrap_or_default();
    (table::markdown(sizes, LIMITS), missed)
}
