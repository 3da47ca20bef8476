//! What is kept, and how it is computed from the runs: for proof and for repair.

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
}

pub(crate) const KEPT: [Kept; 11] = [
    Kept {
        table: "runs",
        key: "run_key",
        values: &["model_key", "hardware_key", "variant_key"],
        computed: "SELECT r.run_key, c.model_key, c.hardware_key, c.variant_key \
                   FROM runs r JOIN configurations c ON c.configuration_key = r.configuration_key",
        is_whole: false,
    },
    Kept {
        table: "runs",
        key: "run_key",
        values: &["cell_count"],
        computed: "SELECT r.run_key, COUNT(c.run_key) AS cell_count \
                   FROM runs r LEFT JOIN cells c ON c.run_key = r.run_key GROUP BY r.run_key",
        is_whole: false,
    },
    Kept {
        table: "configurations",
        key: "configuration_key",
        values: &["run_count"],
        computed: "SELECT c.configuration_key, COUNT(r.run_key) AS run_count FROM configurations c \
                   LEFT JOIN runs r ON r.configuration_key = c.configuration_key \
                   AND r.hidden_at_ms IS NULL GROUP BY c.configuration_key",
        is_whole: false,
    },
    Kept {
        table: "variants",
        key: "variant_key",
        values: &["run_count"],
        computed: "SELECT v.variant_key, COUNT(r.run_key) AS run_count FROM variants v \
                   LEFT JOIN runs r ON r.variant_key = v.variant_key \
                   AND r.hidden_at_ms IS NULL GROUP BY v.variant_key",
        is_whole: false,
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
    },
    Kept {
        table: "organization_counts",
        key: "organization_key, configuration_key",
        values: &["run_count"],
        computed: "SELECT organization_key, configuration_key, COUNT(*) AS run_count FROM runs \
                   WHERE organization_key IS NOT NULL AND hidden_at_ms IS NULL \
                   GROUP BY organization_key, configuration_key",
        is_whole: true,
    },
    Kept {
        table: "shape_counts",
        key: "model_key, hardware_key, shape_key",
        values: &["cell_count"],
        computed: "SELECT model_key, hardware_key, shape_key, COUNT(*) AS cell_count \
                   FROM shape_cells WHERE hidden_at_ms IS NULL \
                   GROUP BY model_key, hardware_key, shape_key",
        is_whole: true,
    },
    Kept {
        table: "best_cells",
        key: "configuration_key, metric, shape_key",
        values: &["score", "run_key", "cell_index"],
        computed: "SELECT configuration_key, metric, shape_key, score, run_key, cell_index \
                   FROM (SELECT c.*, ROW_NUMBER() OVER (\
                   PARTITION BY configuration_key, metric, shape_key \
                   ORDER BY score DESC, run_key, cell_index) AS place FROM candidates c) ranked \
                   WHERE place = 1",
        is_whole: true,
    },
    // What no run has is no error of a count, but nobody would ever delete it.
    Kept {
        table: "documents",
        key: "sha256",
        values: &[],
        computed: "SELECT sha256 FROM runs",
        is_whole: false,
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
                format!("DELETE FROM {table}"),
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

    fn kept(&self) -> String {
        format!("SELECT {} FROM {}", self.columns(), self.table)
    }

    fn columns(&self) -> String {
        std::iter::once(self.key)
            .chain(self.values.iter().copied())
            .collect::<Vec<_>>()
            .join(", ")
    }
}
