//! What is kept, and how it is computed from the runs: for proof and for repair.

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe};

/// Configurations whose best cells are computed at once: all at once would not fit
/// into memory.
const CONFIGURATIONS_AT_ONCE: i64 = 500;

/// Columns of a table that could be computed.
pub(crate) struct Kept {
    pub(crate) table: &'static str,
    /// What names a row.
    key: &'static str,
    /// What is kept of it; empty where the key is all.
    values: &'static [&'static str],
    /// Selects key and values.
    computed: &'static str,
    /// Whether a row is there only where it is computed, and made with all others anew.
    is_whole: bool,
    /// Whether it is computed for some configurations at once.
    is_by_configuration: bool,
}

/// A statement about some configurations, or about all.
pub(crate) struct Part {
    sql: String,
    configurations: Option<(i64, i64)>,
}

impl Part {
    pub(crate) fn query(self) -> Query<'static, Any, AnyArguments> {
        let query = sqlx::query(AssertSqlSafe(self.sql));
        match self.configurations {
            Some((first, last)) => query.bind(first).bind(last),
            None => query,
        }
    }
}

pub(crate) const KEPT: [Kept; 11] = [
    Kept {
        table: "runs",
        key: "run_key",
        values: &["model_key", "hardware_key", "variant_key"],
        computed: "SELECT r.run_key, c.model_key, c.hardware_key, c.variant_key \
                   FROM runs r JOIN configurations c ON c.configuration_key = r.configuration_key",
        is_whole: false,
        is_by_configuration: false,
    },
    Kept {
        table: "runs",
        key: "run_key",
        values: &["cell_count"],
        computed: "SELECT r.run_key, COUNT(c.run_key) AS cell_count \
                   FROM runs r LEFT JOIN cells c ON c.run_key = r.run_key GROUP BY r.run_key",
        is_whole: false,
        is_by_configuration: false,
    },
    Kept {
        table: "configurations",
        key: "configuration_key",
        values: &["run_count"],
        computed: "SELECT c.configuration_key, COUNT(r.run_key) AS run_count FROM configurations c \
                   LEFT JOIN runs r ON r.configuration_key = c.configuration_key \
                   AND r.hidden_at_ms IS NULL GROUP BY c.configuration_key",
        is_whole: false,
        is_by_configuration: false,
    },
    Kept {
        table: "variants",
        key: "variant_key",
        values: &["run_count"],
        computed: "SELECT v.variant_key, COUNT(r.run_key) AS run_count FROM variants v \
                   LEFT JOIN runs r ON r.variant_key = v.variant_key \
                   AND r.hidden_at_ms IS NULL GROUP BY v.variant_key",
        is_whole: false,
        is_by_configuration: false,
    },
    Kept {
        table: "models",
        key: "model_key",
        values: &["run_count", "last_published_at_ms"],
        computed: "SELECT m.model_key, COUNT(r.run_key) AS run_count, \
                   MAX(r.published_at_ms) AS last_published_at_ms FROM models m \
                   LEFT JOIN runs r ON r.model_key = m.model_key \
                   AND r.hidden_at_ms IS NULL GROUP BY m.model_key",
        is_whole: false,
        is_by_configuration: false,
    },
    Kept {
        table: "hardware",
        key: "hardware_key",
        values: &["run_count", "last_published_at_ms"],
        computed: "SELECT h.hardware_key, COUNT(r.run_key) AS run_count, \
                   MAX(r.published_at_ms) AS last_published_at_ms FROM hardware h \
                   LEFT JOIN runs r ON r.hardware_key = h.hardware_key \
                   AND r.hidden_at_ms IS NULL GROUP BY h.hardware_key",
        is_whole: false,
        is_by_configuration: false,
    },
    Kept {
        table: "organizations",
        key: "organization_key",
        values: &["run_count", "last_published_at_ms"],
        computed: "SELECT o.organization_key, COUNT(r.run_key) AS run_count, \
                   MAX(r.published_at_ms) AS last_published_at_ms FROM organizations o \
                   LEFT JOIN runs r ON r.organization_key = o.organization_key \
                   AND r.hidden_at_ms IS NULL GROUP BY o.organization_key",
        is_whole: false,
        is_by_configuration: false,
    },
    Kept {
        table: "organization_counts",
        key: "organization_key, configuration_key",
        values: &["run_count"],
        computed: "SELECT organization_key, configuration_key, COUNT(*) AS run_count FROM runs \
                   WHERE organization_key IS NOT NULL AND hidden_at_ms IS NULL \
                   GROUP BY organization_key, configuration_key",
        is_whole: true,
        is_by_configuration: false,
    },
    Kept {
        table: "shape_counts",
        key: "model_key, hardware_key, shape_key",
        values: &["cell_count"],
        computed: "SELECT model_key, hardware_key, shape_key, COUNT(*) AS cell_count \
                   FROM shape_cells WHERE hidden_at_ms IS NULL \
                   GROUP BY model_key, hardware_key, shape_key",
        is_whole: true,
        is_by_configuration: false,
    },
    Kept {
        table: "best_cells",
        key: "configuration_key, metric, shape_key",
        values: &["score", "run_key", "cell_index"],
        computed: "SELECT configuration_key, metric, shape_key, score, run_key, cell_index \
                   FROM (SELECT c.*, ROW_NUMBER() OVER (\
                   PARTITION BY configuration_key, metric, shape_key \
                   ORDER BY score DESC, run_key, cell_index) AS place FROM candidates c \
                   WHERE configuration_key BETWEEN $1 AND $2) ranked WHERE place = 1",
        is_whole: true,
        is_by_configuration: true,
    },
    // What no run has is no error of a count, but nobody would ever delete it.
    Kept {
        table: "documents",
        key: "sha256",
        values: &[],
        computed: "SELECT sha256 FROM runs",
        is_whole: false,
        is_by_configuration: false,
    },
];

impl Kept {
    /// Rows that are kept and not computed.
    pub(crate) fn superfluous(&self) -> String {
        format!("{} EXCEPT {}", self.kept(), self.computed)
    }

    /// Rows that are computed and not kept.
    pub(crate) fn missing(&self) -> String {
        format!("{} EXCEPT {}", self.computed, self.kept())
    }

    /// Statements that make the kept rows what is computed.
    pub(crate) fn rebuild(&self) -> Vec<String> {
        let Kept {
            table,
            key,
            computed,
            ..
        } = self;
        if self.is_whole {
            let columns = self.columns();
            return vec![
                format!("DELETE FROM {table}{}", self.some()),
                format!("INSERT INTO {table} ({columns}) {computed}"),
            ];
        }
        let values = self.values.iter();
        values
            .map(|value| {
                format!(
                    "UPDATE {table} SET {value} = computed.{value} FROM ({computed}) computed \
                     WHERE computed.{key} = {table}.{key}"
                )
            })
            .collect()
    }

    /// A statement in as many parts as it takes.
    pub(crate) fn parts(&self, sql: &str, last_configuration_key: i64) -> Vec<Part> {
        let part = |configurations| Part {
            sql: sql.to_owned(),
            configurations,
        };
        if !self.is_by_configuration {
            return vec![part(None)];
        }
        // Beyond the last too, where a row could be that no configuration has.
        let mut parts = vec![
            part(Some((i64::MIN, 0))),
            part(Some((last_configuration_key + 1, i64::MAX))),
        ];
        let mut first = 1;
        while first <= last_configuration_key {
            let last = (first + CONFIGURATIONS_AT_ONCE - 1).min(last_configuration_key);
            parts.push(part(Some((first, last))));
            first = last + 1;
        }
        parts
    }

    fn kept(&self) -> String {
        format!(
            "SELECT {} FROM {}{}",
            self.columns(),
            self.table,
            self.some()
        )
    }

    fn some(&self) -> &'static str {
        if self.is_by_configuration {
            " WHERE configuration_key BETWEEN $1 AND $2"
        } else {
            ""
        }
    }

    fn columns(&self) -> String {
        std::iter::once(self.key)
            .chain(self.values.iter().copied())
            .collect::<Vec<_>>()
            .join(", ")
    }
}
