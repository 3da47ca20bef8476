//! What was required, what was measured, and whether the one holds against the other.

use std::fmt::Write as _;

use hdrhistogram::Histogram;

/// Bytes of a KB, MB and GB as tables say them.
const KB: f64 = 1e3;
const MB: f64 = 1e6;
const GB: f64 = 1e9;

/// A latency that 99 of 100 requests must stay under, ms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Under(pub f64);

/// One kind of page at one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Which page.
    pub page: &'static str,
    /// Over which filters; empty where there are none.
    pub filters: &'static str,
    /// Requests a second.
    pub rate_per_s: f64,
    /// Requests answered.
    pub requests: u64,
    /// ms.
    pub p50_ms: f64,
    /// ms.
    pub p99_ms: f64,
    /// ms.
    pub max_ms: f64,
    /// Bytes of a body: mean; `None` where classes were measured together.
    pub body_bytes: Option<u64>,
    /// Processor time that the site used for one request, ms; `None` as before.
    pub processor_ms: Option<f64>,
    /// Whether the site kept up.
    pub is_sustained: bool,
    /// What is required.
    pub required: Option<Under>,
}

impl Reading {
    /// The figures of a histogram in µs.
    pub fn latencies(&mut self, us: &Histogram<u64>) {
        let ms = |us: u64| us as f64 / 1e3;
        self.requests = us.len();
        self.p50_ms = ms(us.value_at_quantile(0.50));
        self.p99_ms = ms(us.value_at_quantile(0.99));
        self.max_ms = ms(us.max());
    }

    /// Whether what is required holds.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.required
            .is_some_and(|Under(ms)| self.p99_ms >= ms || !self.is_sustained)
    }
}

/// All that was measured at one size.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeReadings {
    /// Runs in the database.
    pub runs: u64,
    /// Bytes of the database.
    pub database_bytes: u64,
    /// Pages.
    pub readings: Vec<Reading>,
    /// The most run pages a second that the site kept up with within what is required.
    pub run_pages_per_s_max: f64,
    /// The longest run page, bytes.
    pub run_page_bytes_max: u64,
    /// The most memory that the site held, bytes.
    pub memory_bytes: u64,
}

/// What a size must keep to besides latencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Bytes that the site may hold.
    pub memory_bytes: u64,
    /// Run pages a second that must be sustained.
    pub run_pages_per_s: f64,
    /// Bytes of a run page.
    pub run_page_bytes: u64,
}

impl SizeReadings {
    /// What is required and does not hold.
    #[must_use]
    pub fn missed(&self, limits: Limits) -> Vec<String> {
        let pages = self.readings.iter().filter(|reading| reading.is_over());
        let mut missed: Vec<String> = pages
            .map(|reading| {
                format!("{} {}", reading.page, reading.filters)
                    .trim()
                    .to_owned()
            })
            .collect();
        let others = [
            (self.memory_bytes >= limits.memory_bytes, "memory"),
            (
                self.run_pages_per_s_max < limits.run_pages_per_s,
                "run pages a second",
            ),
            (
                self.run_page_bytes_max >= limits.run_page_bytes,
                "length of a run page",
            ),
        ];
        missed.extend(
            others
                .into_iter()
                .filter(|(is, _)| *is)
                .map(|(_, what)| what.to_owned()),
        );
        missed
    }
}

/// Everything at the largest size, then how it grew, as Markdown.
#[must_use]
pub fn markdown(sizes: &[SizeReadings], limits: Limits) -> String {
    let Some(largest) = sizes.last() else {
        return String::new();
    };
    let mut text = format!("### {} runs\n\n", count(largest.runs));
    let heads = [
        "page",
        "filters",
        "asked/s",
        "requests",
        "p50 ms",
        "p99 ms",
        "max ms",
        "KB",
        "CPU ms",
        "required p99",
        "",
    ];
    let rows = largest.readings.iter().map(row).collect();
    push_table(&mut text, &heads, rows);
    text.push('\n');
    push_table(
        &mut text,
        &["what", "measured", "required", ""],
        whole_rows(largest, limits),
    );
    text.push_str("\n### Growth\n\n");
    let mut heads = vec!["p99 ms".to_owned()];
    heads.extend(
        sizes
            .iter()
            .map(|size| format!("{} runs", count(size.runs))),
    );
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    push_table(&mut text, &heads, growth(sizes));
    text
}

fn row(reading: &Reading) -> Vec<String> {
    let or_nothing = |text: Option<String>| text.unwrap_or_default();
    vec![
        reading.page.to_owned(),
        reading.filters.to_owned(),
        format!("{:.0}", reading.rate_per_s),
        count(reading.requests),
        format!("{:.1}", reading.p50_ms),
        format!("{:.1}", reading.p99_ms),
        format!("{:.1}", reading.max_ms),
        or_nothing(
            reading
                .body_bytes
                .map(|bytes| format!("{:.1}", bytes as f64 / KB)),
        ),
        or_nothing(reading.processor_ms.map(|ms| format!("{ms:.2}"))),
        or_nothing(reading.required.map(|Under(ms)| format!("< {ms}"))),
        or_nothing(
            reading
                .required
                .map(|_| verdict(reading.is_over()).to_owned()),
        ),
    ]
}

fn whole_rows(size: &SizeReadings, limits: Limits) -> Vec<Vec<String>> {
    let of = |what: &str, measured: String, required: String, is_over: Option<bool>| {
        let verdict = is_over.map(verdict).unwrap_or_default();
        vec![what.to_owned(), measured, required, verdict.to_owned()]
    };
    let mb = |bytes: u64| format!("{:.0} MB", bytes as f64 / MB);
    let kb = |bytes: u64| format!("{:.0} KB", bytes as f64 / KB);
    vec![
        of(
            "run pages a second, sustained",
            format!("{:.0}", size.run_pages_per_s_max),
            format!("{:.0}", limits.run_pages_per_s),
            Some(size.run_pages_per_s_max < limits.run_pages_per_s),
        ),
        of(
            "memory of the site (VmHWM)",
            mb(size.memory_bytes),
            format!("< {}", mb(limits.memory_bytes)),
            Some(size.memory_bytes >= limits.memory_bytes),
        ),
        of(
            "longest run page",
            kb(size.run_page_bytes_max),
            format!("< {}", kb(limits.run_page_bytes)),
            Some(size.run_page_bytes_max >= limits.run_page_bytes),
        ),
        of(
            "database",
            format!("{:.2} GB", size.database_bytes as f64 / GB),
            String::new(),
            None,
        ),
    ]
}

/// The same page at each size; sizes are measured alike.
fn growth(sizes: &[SizeReadings]) -> Vec<Vec<String>> {
    let Some(largest) = sizes.last() else {
        return Vec::new();
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (place, reading) in largest.readings.iter().enumerate() {
        let mut row = vec![
            format!("{} {}", reading.page, reading.filters)
                .trim()
                .to_owned(),
        ];
        row.extend(sizes.iter().map(|size| {
            let reading = size.readings.get(place);
            reading.map_or_else(String::new, |reading| format!("{:.1}", reading.p99_ms))
        }));
        rows.push(row);
    }
    let mut whole = |what: &str, figure: &dyn Fn(&SizeReadings) -> String| {
        let mut row = vec![what.to_owned()];
        row.extend(sizes.iter().map(figure));
        rows.push(row);
    };
    whole("run pages a second, sustained", &|size| {
        format!("{:.0}", size.run_pages_per_s_max)
    });
    whole("memory, MB", &|size| {
        format!("{:.0}", size.memory_bytes as f64 / MB)
    });
    whole("database, MB", &|size| {
        format!("{:.0}", size.database_bytes as f64 / MB)
    });
    rows
}

fn verdict(is_over: bool) -> &'static str {
    if is_over { "OVER" } else { "holds" }
}

fn count(value: u64) -> String {
    document::format::count(value)
}

/// A Markdown table whose columns are aligned for those who read the text.
fn push_table(text: &mut String, heads: &[&str], rows: Vec<Vec<String>>) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widths = cells.map(|cell| cell.chars().count());
        widths
            .chain([heads[column].chars().count(), 3])
            .max()
            .unwrap_or(3)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let mut line = |cells: &[&str]| {
        for (cell, width) in cells.iter().zip(&widths) {
            // Writing to a String does not fail.
            let _ = write!(text, "| {cell:<width$} ");
        }
        text.push_str("|\n");
    };
    line(heads);
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    line(&rules.iter().map(String::as_str).collect::<Vec<_>>());
    for row in &rows {
        line(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        memory_bytes: 300_000_000,
        run_pages_per_s: 1000.0,
        run_page_bytes: 150_000,
    };

    fn size(p99_ms: f64, is_sustained: bool) -> SizeReadings {
        SizeReadings {
            runs: 1000,
            database_bytes: 1_000_000,
            readings: vec![Reading {
                page: "leaderboard",
                filters: "rare",
                rate_per_s: 50.0,
                requests: 100,
                p50_ms: 1.0,
                p99_ms,
                max_ms: 60.0,
                body_bytes: Some(20_000),
                processor_ms: Some(0.5),
                is_sustained,
                required: Some(Under(50.0)),
            }],
            run_pages_per_s_max: 1200.0,
            run_page_bytes_max: 100_000,
            memory_bytes: 100_000_000,
        }
    }

    #[test]
    fn what_is_over_is_missed_and_what_is_under_holds() {
        assert_eq!(size(49.9, true).missed(LIMITS), Vec::<String>::new());
        assert_eq!(size(50.0, true).missed(LIMITS), ["leaderboard rare"]);
        assert_eq!(size(1.0, false).missed(LIMITS), ["leaderboard rare"]);
        let mut fat = size(1.0, true);
        fat.memory_bytes = LIMITS.memory_bytes;
        fat.run_pages_per_s_max = 999.0;
        fat.run_page_bytes_max = LIMITS.run_page_bytes;
        assert_eq!(fat.missed(LIMITS).len(), 3);
    }

    #[test]
    fn the_table_says_both_sizes_and_the_verdict() {
        let text = markdown(&[size(1.0, true), size(70.0, true)], LIMITS);
        assert!(text.contains("| OVER"), "{text}");
        let grown = text
            .lines()
            .find(|line| line.starts_with("| leaderboard rare"));
        let figures: Vec<&str> = grown
            .unwrap_or_default()
            .split('|')
            .map(str::trim)
            .collect();
        assert_eq!(figures, ["", "leaderboard rare", "1.0", "70.0", ""]);
    }
}
