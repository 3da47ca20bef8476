use std::cmp::Ordering;

use document::{Cell, CellStatus, Phase};

/// A column of "All measurements". Its name in an address is that of the CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasurementColumn {
    /// Prefill or decode.
    Phase,
    /// Target prompt length.
    Context,
    /// Requests at once.
    Concurrency,
    /// The verdict.
    Status,
    /// Total tok/s.
    TotalTokS,
    /// tok/s of one request.
    PerRequestTokS,
    /// Median TTFT.
    Ttft,
    /// Median time between tokens.
    Tbt,
    /// Average active requests.
    AverageActive,
    /// Completed requests.
    Completed,
    /// Output tokens.
    OutputTokens,
    /// Length of the window.
    MeasuredFor,
}

impl MeasurementColumn {
    /// All of them, left to right.
    pub const ALL: [MeasurementColumn; 12] = [
        MeasurementColumn::Phase,
        MeasurementColumn::Context,
        MeasurementColumn::Concurrency,
        MeasurementColumn::Status,
        MeasurementColumn::TotalTokS,
        MeasurementColumn::PerRequestTokS,
        MeasurementColumn::Ttft,
        MeasurementColumn::Tbt,
        MeasurementColumn::AverageActive,
        MeasurementColumn::Completed,
        MeasurementColumn::OutputTokens,
        MeasurementColumn::MeasuredFor,
    ];

    /// What it is called in an address and in the CSV.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MeasurementColumn::Phase => "phase",
            MeasurementColumn::Context => "context_tokens",
            MeasurementColumn::Concurrency => "concurrency",
            MeasurementColumn::Status => "status",
            MeasurementColumn::TotalTokS => "total_tok_s",
            MeasurementColumn::PerRequestTokS => "per_request_tok_s",
            MeasurementColumn::Ttft => "ttft_ms_p50",
            MeasurementColumn::Tbt => "tbt_ms_p50",
            MeasurementColumn::AverageActive => "average_active",
            MeasurementColumn::Completed => "completed",
            MeasurementColumn::OutputTokens => "output_tokens",
            MeasurementColumn::MeasuredFor => "measured_s",
        }
    }

    /// The key of its header.
    pub(crate) fn key(self) -> &'static str {
        match self {
            MeasurementColumn::Phase => "run-phase",
            MeasurementColumn::Context => "run-context",
            MeasurementColumn::Concurrency => "run-concurrency",
            MeasurementColumn::Status => "run-status",
            MeasurementColumn::TotalTokS => "run-total-tok-s",
            MeasurementColumn::PerRequestTokS => "run-per-request-tok-s",
            MeasurementColumn::Ttft => "run-ttft",
            MeasurementColumn::Tbt => "run-tbt",
            MeasurementColumn::AverageActive => "run-average-active",
            MeasurementColumn::Completed => "run-completed",
            MeasurementColumn::OutputTokens => "run-output-tokens",
            MeasurementColumn::MeasuredFor => "run-measured-for",
        }
    }

    /// The direction asked for first: the best of a speed, the least of the rest.
    #[must_use]
    pub fn first_direction(self) -> Direction {
        match self {
            MeasurementColumn::TotalTokS
            | MeasurementColumn::PerRequestTokS
            | MeasurementColumn::AverageActive
            | MeasurementColumn::Completed
            | MeasurementColumn::OutputTokens => Direction::Descending,
            MeasurementColumn::Phase
            | MeasurementColumn::Context
            | MeasurementColumn::Concurrency
            | MeasurementColumn::Status
            | MeasurementColumn::Ttft
            | MeasurementColumn::Tbt
            | MeasurementColumn::MeasuredFor => Direction::Ascending,
        }
    }

    /// What cells are compared by; `None` where the page shows nothing.
    fn value(self, cell: &Cell) -> Option<f64> {
        let figure = |value: Option<f64>| value.filter(|_| cell.status != CellStatus::Failed);
        let count = |value: Option<u64>| figure(value.map(|count| count as f64));
        let value = match self {
            MeasurementColumn::Phase => Some(match cell.phase {
                Phase::Prefill => 0.0,
                Phase::Decode => 1.0,
            }),
            MeasurementColumn::Context => Some(cell.context_tokens as f64),
            MeasurementColumn::Concurrency => Some(f64::from(cell.concurrency)),
            MeasurementColumn::Status => Some(match cell.status {
                CellStatus::Valid => 0.0,
                CellStatus::Queued => 1.0,
                CellStatus::OverCapacity => 2.0,
                CellStatus::Failed => 3.0,
            }),
            MeasurementColumn::TotalTokS => figure(cell.total_tok_s),
            MeasurementColumn::PerRequestTokS => figure(cell.per_request_tok_s),
            MeasurementColumn::Ttft => figure(cell.ttft_ms_p50()),
            MeasurementColumn::Tbt => figure(cell.tbt_ms_p50()),
            MeasurementColumn::AverageActive => figure(cell.average_active),
            MeasurementColumn::Completed => count(cell.completed),
            MeasurementColumn::OutputTokens => count(cell.output_tokens),
            MeasurementColumn::MeasuredFor => figure(cell.measured_s),
        };
        value.filter(|value| value.is_finite())
    }
}

/// Which end of a column comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The least first.
    Ascending,
    /// The most first.
    Descending,
}

impl Direction {
    /// What it is called in an address.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Direction::Ascending => "asc",
            Direction::Descending => "desc",
        }
    }

    /// What `aria-sort` calls it.
    #[must_use]
    pub fn aria(self) -> &'static str {
        match self {
            Direction::Ascending => "ascending",
            Direction::Descending => "descending",
        }
    }
}

/// An order of "All measurements" that a reader asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub column: MeasurementColumn,
    /// Which end first.
    pub direction: Direction,
}

impl Sort {
    /// The order that `?sort=SORT&dir=DIR` asks for: a column's name, and `asc`,
    /// `desc` or nothing for the column's first direction. `None`, the order of the
    /// pages, for whatever else stands there.
    #[must_use]
    pub fn from_query(sort: &str, dir: &str) -> Option<Sort> {
        let column = MeasurementColumn::ALL
            .into_iter()
            .find(|column| column.name() == sort)?;
        let direction = match dir {
            "" => column.first_direction(),
            "asc" => Direction::Ascending,
            "desc" => Direction::Descending,
            _ => return None,
        };
        Some(Sort { column, direction })
    }

    /// The order that a column's header leads to: first its first direction, then
    /// the other, then the order of the pages.
    pub(crate) fn next(column: MeasurementColumn, current: Option<Sort>) -> Option<Sort> {
        let first = column.first_direction();
        let direction = match current.filter(|sort| sort.column == column) {
            None => first,
            Some(sort) if sort.direction == first => match first {
                Direction::Ascending => Direction::Descending,
                Direction::Descending => Direction::Ascending,
            },
            Some(_) => return None,
        };
        Some(Sort { column, direction })
    }

    /// Puts cells into this order. Equals stay as they stand; what was not measured
    /// comes last either way.
    pub(crate) fn apply(self, cells: &mut [&Cell]) {
        cells.sort_by(
            |one, other| match (self.column.value(one), self.column.value(other)) {
                (Some(one), Some(other)) => match self.direction {
                    Direction::Ascending => one.total_cmp(&other),
                    Direction::Descending => other.total_cmp(&one),
                },
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => Ordering::Equal,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_from_an_address_and_the_unknown_is_the_order_of_the_pages() {
        let sort = |sort, dir| Sort::from_query(sort, dir);
        let by = |column, direction| Some(Sort { column, direction });
        assert_eq!(
            sort("total_tok_s", ""),
            by(MeasurementColumn::TotalTokS, Direction::Descending)
        );
        assert_eq!(
            sort("ttft_ms_p50", "desc"),
            by(MeasurementColumn::Ttft, Direction::Descending)
        );
        for (unknown, dir) in [("", ""), ("flags", ""), ("status", "down"), ("Status", "")] {
            assert_eq!(sort(unknown, dir), None, "{unknown} {dir}");
        }
    }

    #[test]
    fn a_header_leads_to_both_directions_and_back() {
        for column in MeasurementColumn::ALL {
            let first = Sort::next(column, None);
            let second = Sort::next(column, first);
            let directions = [first, second].map(|sort| sort.map(|sort| sort.direction.name()));
            assert!(directions.contains(&Some("asc")) && directions.contains(&Some("desc")));
            assert_eq!(Sort::next(column, second), None);
        }
    }
}
