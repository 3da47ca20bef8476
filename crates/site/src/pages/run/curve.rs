use askama::Template;
use document::{Cell, format};

use super::grid::Grid;
use super::shown::{trusted_per_request_tok_s, trusted_total_tok_s};
use crate::words::{Form, Words};

/// Size of the picture and of its plot, in the picture's own units.
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 304.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 508.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 262.0;
/// About how many labels an axis has.
const TICKS: f64 = 6.0;
/// Lines that differ in colour; the style has as many classes `c0`, `c1`, …
const COLOURS: usize = 8;
/// Shapes of the points, as path data, so that colour is not needed to tell lines
/// apart: circle, square, diamond, triangle.
const SHAPES: [&str; 4] = [
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "M-2.7-2.7h5.4v5.4h-5.4z",
    "M0-3.8L3.8 0L0 3.8L-3.8 0z",
    "M0-3.6L3.5 2.7H-3.5z",
];

/// What the words of a point name.
const POINT: [&str; 4] = ["context", "concurrency", "total", "each"];

/// Total tok/s against tok/s of one request, a line for each context.
#[derive(Debug, Template)]
#[template(path = "run/curve.html")]
pub struct Curve {
    /// The page's words.
    pub words: Words,
    /// The viewBox.
    pub view_box: String,
    /// Shapes of the points, as path data around 0,0.
    pub shapes: [&'static str; 4],
    /// Left end of the grid lines.
    pub left: f64,
    /// Right end of the grid lines.
    pub right: f64,
    /// Where the labels of the x axis stand.
    pub x_labels_y: f64,
    /// Where the axis' own name stands.
    pub x_name_y: f64,
    /// Middle of the plot, across.
    pub middle_x: f64,
    /// Labels of the x axis.
    pub x_ticks: Vec<Tick>,
    /// Labels of the y axis.
    pub y_ticks: Vec<Tick>,
    /// One for each context.
    pub lines: Vec<Line>,
}

/// A label of an axis.
#[derive(Debug)]
pub struct Tick {
    /// Where.
    pub at: String,
    /// What.
    pub text: String,
}

/// A context's cells, by requests at once.
#[derive(Debug)]
pub struct Line {
    /// Class of the colour.
    pub colour: usize,
    /// `8K`.
    pub context: String,
    /// Points of the polyline.
    pub path: String,
    /// The cells.
    pub points: Vec<Point>,
    /// Which of the shapes its points have.
    pub shape: usize,
}

/// A cell.
#[derive(Debug)]
pub struct Point {
    /// Across.
    pub x: String,
    /// Down.
    pub y: String,
    /// The cell in words.
    pub words: String,
}

impl Curve {
    pub(crate) fn of(grid: &Grid, words: Words) -> Option<Curve> {
        let x_axis = Axis::up_to(largest(grid, trusted_per_request_tok_s)?, LEFT, RIGHT);
        let y_axis = Axis::up_to(largest(grid, trusted_total_tok_s)?, BOTTOM, TOP);
        let form = words.form("run-curve-point", &POINT);
        let lines: Vec<Line> = grid
            .contexts
            .iter()
            .enumerate()
            .filter_map(|(at, tokens)| line(grid, at, *tokens, [&x_axis, &y_axis], &form))
            .collect();
        // One point is no curve.
        if lines.iter().all(|line| line.points.len() < 2) {
            return None;
        }
        Some(Curve {
            words,
            view_box: format!("0 0 {WIDTH} {HEIGHT}"),
            shapes: SHAPES,
            left: LEFT,
            right: RIGHT,
            x_labels_y: BOTTOM + 16.0,
            x_name_y: BOTTOM + 37.0,
            middle_x: (LEFT + RIGHT) / 2.0,
            x_ticks: x_axis.ticks(),
            y_ticks: y_axis.ticks(),
            lines,
        })
    }
}

fn largest(grid: &Grid, of: fn(&Cell) -> Option<f64>) -> Option<f64> {
    grid.valid_decode_cells()
        .filter_map(of)
        .max_by(f64::total_cmp)
}

fn line(
    grid: &Grid,
    at: usize,
    context_tokens: u64,
    [x, y]: [&Axis; 2],
    form: &Form,
) -> Option<Line> {
    let context = format::context(context_tokens);
    let points: Vec<Point> = grid
        .valid_decode_cells()
        .filter(|cell| cell.context_tokens == context_tokens)
        .filter_map(|cell| {
            let each = trusted_per_request_tok_s(cell)?;
            let all = trusted_total_tok_s(cell)?;
            Some(Point {
                x: written(x.place(each)),
                y: written(y.place(all)),
                words: form.fill(&[
                    &context,
                    &cell.concurrency.to_string(),
                    &format::tok_s(all),
                    &format::tok_s(each),
                ]),
            })
        })
        .collect();
    if points.is_empty() {
        return None;
    }
    let mut path = String::new();
    for point in &points {
        for piece in [&point.x, ",", &point.y, " "] {
            path.push_str(piece);
        }
    }
    path.truncate(path.trim_end().len());
    Some(Line {
        colour: colour(at, grid.contexts.len()),
        path,
        points,
        shape: at % SHAPES.len(),
        context,
    })
}

/// Few lines take colours far apart; more lines than colours begin anew.
fn colour(at: usize, lines: usize) -> usize {
    if (2..=COLOURS).contains(&lines) {
        at * (COLOURS - 1) / (lines - 1)
    } else {
        at % COLOURS
    }
}

/// An axis from zero.
struct Axis {
    /// Figures between labels.
    step: f64,
    /// Figure at the far end.
    high: f64,
    /// Place of zero.
    from: f64,
    /// Place of the far end.
    to: f64,
}

impl Axis {
    fn up_to(largest: f64, from: f64, to: f64) -> Axis {
        Axis {
            step: round_step(largest / TICKS),
            high: largest * 1.04,
            from,
            to,
        }
    }

    fn place(&self, figure: f64) -> f64 {
        self.from + figure / self.high * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<Tick> {
        let count = (self.high / self.step) as u32;
        (0..=count)
            .map(|nth| {
                let figure = f64::from(nth) * self.step;
                let text = format::tok_s(figure);
                Tick {
                    at: written(self.place(figure)),
                    text: text.strip_suffix(".0").unwrap_or(&text).to_owned(),
                }
            })
            .collect()
    }
}

/// 1, 2, 2.5 or 5 times a power of ten, the next at or above `raw`.
pub(crate) fn round_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
    let found = factors.into_iter().find(|factor| factor * power >= raw);
    found.unwrap_or(10.0) * power
}

fn written(place: f64) -> String {
    // Places are below 1,000, so no separator comes in.
    format::one_decimal(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_start_at_zero_and_have_round_labels() {
        let axis = Axis::up_to(1335.7, 0.0, 100.0);
        let ticks = axis.ticks();
        assert_eq!(ticks[0].text, "0");
        assert_eq!(ticks[0].at, "0.0");
        assert_eq!(ticks[1].text, "250");
        assert_eq!(round_step(37.0), 50.0);
        assert_eq!(round_step(0.21), 0.25);
    }
}
