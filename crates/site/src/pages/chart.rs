//! Curves over a logarithmic axis: one line for each configuration.

use askama::Template;
use askama::filters::HtmlSafe;
use document::format;
use store::RankedCell;

use super::figures;
use crate::pages::run::round_step;
use crate::words::{Form, Said, Words};

/// Size of the picture and of its plot, in the picture's own units.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 688.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 272.0;
/// About how many labels the upright axis has.
const TICKS: f64 = 5.0;
/// Lines of a picture; the style has colours for so many that differ well.
pub(crate) const MAX_LINES: usize = 6;
/// Classes of colours, far apart from each other.
const COLOURS: [usize; MAX_LINES] = [0, 7, 2, 5, 3, 6];
/// Shapes of the points, so that colour is not needed to tell lines apart.
const SHAPES: [&str; MAX_LINES] = [
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "M-2.7-2.7h5.4v5.4h-5.4z",
    "M0-3.8L3.8 0L0 3.8L-3.8 0z",
    "M0-3.6L3.5 2.7H-3.5z",
    "M0 3.6L3.5-2.7H-3.5z",
    "M-1-3.4h2v2.4h2.4v2h-2.4v2.4h-2v-2.4h-2.4v-2h2.4z",
];

/// What stands along the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Along {
    /// Requests at once, of decode cells.
    Concurrency,
    /// Context, of prefill cells.
    Context,
}

/// Curves with their data.
#[derive(Debug, Template)]
#[template(path = "pages/chart.html")]
pub(crate) struct Chart {
    words: Words,
    /// Names the picture in the page.
    id: &'static str,
    title: Said,
    description: String,
    view_box: String,
    left: f64,
    right: f64,
    bottom: f64,
    labels_y: f64,
    name_y: f64,
    middle_x: f64,
    along: Said,
    upward: Said,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    lines: Vec<Line>,
    /// Configurations by what stands along the axis.
    rows: Vec<(String, Vec<String>)>,
}

impl HtmlSafe for Chart {}

#[derive(Debug)]
struct Tick {
    at: String,
    text: String,
}

#[derive(Debug)]
struct Line {
    colour: usize,
    shape: &'static str,
    name: String,
    path: String,
    points: Vec<Point>,
}

#[derive(Debug)]
struct Point {
    x: String,
    y: String,
    said: String,
}

/// A configuration with its figures.
pub(crate) struct Series {
    /// Which.
    pub name: String,
    /// Its cells, in any order.
    pub cells: Vec<RankedCell>,
}

impl Along {
    fn of(self, cell: &RankedCell) -> u64 {
        match self {
            Along::Concurrency => u64::from(cell.shape.concurrency),
            Along::Context => cell.shape.context_tokens,
        }
    }

    fn label(self, value: u64) -> String {
        match self {
            Along::Concurrency => format::count(value),
            Along::Context => format::context(value),
        }
    }
}

impl Chart {
    /// The curves; `None` where no series has two points.
    pub(crate) fn of(
        words: Words,
        along: Along,
        title: String,
        series: &[Series],
    ) -> Option<Chart> {
        let points: Vec<Vec<(u64, f64)>> = series
            .iter()
            .take(MAX_LINES)
            .map(|series| ordered(along, &series.cells))
            .collect();
        if points.iter().all(|line| line.len() < 2) {
            return None;
        }
        let places: std::collections::BTreeSet<u64> =
            points.iter().flatten().map(|(at, _)| *at).collect();
        let highest = points
            .iter()
            .flatten()
            .map(|(_, value)| *value)
            .fold(0.0, f64::max);
        let across = Across::over(*places.first()?, *places.last()?);
        let upright = Upright::up_to(highest)?;
        let form = words.form("chart-point", &["configuration", "place", "value"]);
        let (id, along_key, upward_key) = match along {
            Along::Concurrency => (
                "by-concurrency",
                "chart-along-concurrency",
                "run-total-tok-s",
            ),
            Along::Context => ("by-context", "chart-along-context", "run-prompt-tok-s"),
        };
        let lines = series
            .iter()
            .zip(&points)
            .enumerate()
            .map(|(at, (series, points))| {
                line(at, &series.name, points, along, (&across, &upright), &form)
            })
            .collect();
        Some(Chart {
            description: words.with("chart-description", &[("title", title.as_str().into())]),
            words,
            id,
            title: title.into(),
            view_box: format!("0 0 {WIDTH} {HEIGHT}"),
            left: LEFT,
            right: RIGHT,
            bottom: BOTTOM,
            labels_y: BOTTOM + 20.0,
            name_y: BOTTOM + 42.0,
            middle_x: (LEFT + RIGHT) / 2.0,
            along: words.t(along_key),
            upward: words.t(upward_key),
            x_ticks: across.ticks(&places, along),
            y_ticks: upright.ticks(),
            lines,
            rows: rows(&places, &points, along),
        })
    }
}

/// A line's points from left to right; the first of equals, which is the better one.
fn ordered(along: Along, cells: &[RankedCell]) -> Vec<(u64, f64)> {
    let mut points = std::collections::BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.value.is_finite()) {
        let best = points.entry(along.of(cell)).or_insert(cell.value);
        *best = best.max(cell.value);
    }
    points.into_iter().collect()
}

fn line(
    at: usize,
    name: &str,
    points: &[(u64, f64)],
    along: Along,
    (across, upright): (&Across, &Upright),
    form: &Form,
) -> Line {
    let points: Vec<Point> = points
        .iter()
        .map(|(place, value)| Point {
            x: written(across.place(*place)),
            y: written(upright.place(*value)),
            said: form.fill(&[name, &along.label(*place), &format::tok_s(*value)]),
        })
        .collect();
    let path: Vec<String> = points
        .iter()
        .map(|point| format!("{},{}", point.x, point.y))
        .collect();
    Line {
        colour: COLOURS[at % MAX_LINES],
        shape: SHAPES[at % MAX_LINES],
        name: name.to_owned(),
        path: path.join(" "),
        points,
    }
}

fn rows(
    places: &std::collections::BTreeSet<u64>,
    points: &[Vec<(u64, f64)>],
    along: Along,
) -> Vec<(String, Vec<String>)> {
    places
        .iter()
        .map(|place| {
            let figures = points.iter().map(|line| {
                let found = line.iter().find(|(at, _)| at == place);
                format::or_nothing(found, |(_, value)| {
                    figures::value(store::Metric::Total, *value)
                })
            });
            (along.label(*place), figures.collect())
        })
        .collect()
}

/// The axis along: equal ratios are equal lengths.
struct Across {
    least: f64,
    most: f64,
}

impl Across {
    fn over(least: u64, most: u64) -> Across {
        Across {
            least: (least.max(1) as f64).log2(),
            most: (most.max(1) as f64).log2(),
        }
    }

    fn place(&self, value: u64) -> f64 {
        let span = self.most - self.least;
        if span <= 0.0 {
            return (LEFT + RIGHT) / 2.0;
        }
        LEFT + ((value.max(1) as f64).log2() - self.least) / span * (RIGHT - LEFT)
    }

    /// A label for each value that has room.
    fn ticks(&self, places: &std::collections::BTreeSet<u64>, along: Along) -> Vec<Tick> {
        /// Nearer than that, labels touch.
        const ROOM: f64 = 44.0;
        let mut last = f64::NEG_INFINITY;
        let mut ticks = Vec::new();
        for value in places {
            let at = self.place(*value);
            if at - last >= ROOM {
                last = at;
                ticks.push(Tick {
                    at: written(at),
                    text: along.label(*value),
                });
            }
        }
        ticks
    }
}

/// The upright axis, from zero.
struct Upright {
    step: f64,
    most: f64,
}

impl Upright {
    fn up_to(highest: f64) -> Option<Upright> {
        (highest > 0.0 && highest.is_finite()).then(|| Upright {
            step: round_step(highest / TICKS),
            most: highest * 1.04,
        })
    }

    fn place(&self, value: f64) -> f64 {
        BOTTOM + value / self.most * (TOP - BOTTOM)
    }

    fn ticks(&self) -> Vec<Tick> {
        let count = (self.most / self.step) as u32;
        (0..=count)
            .map(|nth| {
                let value = f64::from(nth) * self.step;
                let text = format::tok_s(value);
                Tick {
                    at: written(self.place(value)),
                    text: text.strip_suffix(".0").unwrap_or(&text).to_owned(),
                }
            })
            .collect()
    }
}

fn written(place: f64) -> String {
    format!("{place:.1}")
}
