//! How names with their numbers are found.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::filter::{Asked, Scope, push_contains, search_words};
use crate::statement::Statement;
use crate::{Counted, Filter, Named, Offered, Page, PageRequest, Store, StoreError, rows};

/// Values of one field that a filter offers.
const OFFERED_MAX: usize = 100;

/// After the counts of variants: their values, each field's by its place.
const VALUES_OF_VARIANTS: &str = "), counted AS MATERIALIZED (
    SELECT v.engine, v.quantization, v.gpu_count, v.kind, n.run_count
    FROM n CROSS JOIN variants v WHERE v.variant_key = n.key AND n.run_count > 0
)
SELECT 0, engine, CAST(SUM(run_count) AS BIGINT) FROM counted GROUP BY engine
UNION ALL
SELECT 1, quantization, CAST(SUM(run_count) AS BIGINT) FROM counted GROUP BY quantization
UNION ALL
SELECT 2, CAST(gpu_count AS TEXT), CAST(SUM(run_count) AS BIGINT) FROM counted GROUP BY gpu_count
UNION ALL
SELECT 3, kind, CAST(SUM(run_count) AS BIGINT) FROM counted GROUP BY kind";

/// A table of names with runs.
pub(crate) struct Catalogue {
    select: &'static str,
    count: &'static str,
    key: &'static str,
    searched: Searched,
}

/// What of a table a search looks at.
enum Searched {
    /// The column made for it.
    SearchText,
    /// Slug and name.
    SlugAndName,
}

pub(crate) const MODELS: Catalogue = Catalogue {
    select: "SELECT model_key, slug, id, run_count, last_published_at_ms FROM models WHERE ",
    count: "SELECT COUNT(*) FROM models WHERE ",
    key: "model_key",
    searched: Searched::SearchText,
};
pub(crate) const HARDWARE: Catalogue = Catalogue {
    select: "SELECT hardware_key, slug, name, run_count, last_published_at_ms \
             FROM hardware WHERE ",
    count: "SELECT COUNT(*) FROM hardware WHERE ",
    key: "hardware_key",
    searched: Searched::SearchText,
};
pub(crate) const ORGANIZATIONS: Catalogue = Catalogue {
    select: "SELECT organization_key, slug, name, run_count, last_published_at_ms \
             FROM organizations WHERE ",
    count: "SELECT COUNT(*) FROM organizations WHERE ",
    key: "organization_key",
    searched: Searched::SlugAndName,
};

/// A row of a catalogue.
pub(crate) struct Entry {
    key: i64,
    pub(crate) named: Named,
    pub(crate) run_count: u64,
    pub(crate) last_published_at_ms: Option<i64>,
}

fn entry(row: &AnyRow) -> Result<Entry, StoreError> {
    Ok(Entry {
        key: row.try_get(0)?,
        named: rows::named(row, 1)?,
        run_count: rows::unsigned(row, 3)?,
        last_published_at_ms: row.try_get(4)?,
    })
}

impl Store {
    pub(crate) async fn catalogue_page<T: From<Entry>>(
        &self,
        catalogue: &Catalogue,
        search: Option<&str>,
        page: &PageRequest,
    ) -> Result<Page<T>, StoreError> {
        let after = page.after.as_deref().map(cursor_of).transpose()?;
        let words = search_words(search);
        let mut count = Statement::new(catalogue.count);
        self.push_catalogue_conditions(&mut count, catalogue, &words)?;
        let total: i64 = count.query().fetch_one(&self.read).await?.try_get(0)?;
        let mut statement = Statement::new(catalogue.select);
        self.push_catalogue_conditions(&mut statement, catalogue, &words)?;
        if let Some((run_count, key)) = after {
            statement.push(" AND run_count <= ").bind(run_count)?;
            statement.push(" AND (run_count < ").bind(run_count)?;
            statement
                .push(" OR ")
                .push(catalogue.key)
                .push(" > ")
                .bind(key)?
                .push(")");
        }
        statement
            .push(" ORDER BY run_count DESC, ")
            .push(catalogue.key)
            .push(" LIMIT ");
        statement.bind(i64::from(page.limit) + 1)?;
        let found = statement.query().fetch_all(&self.read).await?;
        let shown = found.get(..page.limit as usize).unwrap_or(&found);
        let entries: Vec<Entry> = shown.iter().map(entry).collect::<Result<_, _>>()?;
        let next = entries
            .last()
            .filter(|_| found.len() > entries.len())
            .map(|last| format!("{}.{}", last.run_count, last.key));
        Ok(Page {
            items: entries.into_iter().map(T::from).collect(),
            next,
            total: u64::try_from(total).ok(),
        })
    }

    /// The entry with this slug, also one without runs.
    pub(crate) async fn catalogue_entry<T: From<Entry>>(
        &self,
        catalogue: &Catalogue,
        slug: &str,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = Statement::new(catalogue.select);
        statement.push("slug = ").bind(slug)?;
        let row = statement.query().fetch_optional(&self.read).await?;
        row.map(|row| entry(&row).map(T::from)).transpose()
    }

    fn push_catalogue_conditions(
        &self,
        statement: &mut Statement,
        catalogue: &Catalogue,
        words: &[String],
    ) -> Result<(), StoreError> {
        // An organization is somebody before it publishes.
        statement.push(match catalogue.searched {
            Searched::SearchText => "run_count > 0",
            Searched::SlugAndName => "run_count >= 0",
        });
        for word in words {
            statement.push(" AND ");
            match catalogue.searched {
                Searched::SearchText => push_contains(statement, self.dialect, word)?,
                Searched::SlugAndName => {
                    // Few; LOWER knows the letters of ASCII in both databases.
                    statement.push("(LOWER(name) LIKE ");
                    statement
                        .bind(like(word))?
                        .push(" ESCAPE '\\' OR slug LIKE ");
                    statement.bind(like(word))?.push(" ESCAPE '\\')");
                }
            }
        }
        Ok(())
    }

    pub(crate) async fn offered_values(&self) -> Result<Offered, StoreError> {
        let mut statement = Statement::new("WITH n AS (");
        statement.push("SELECT variant_key AS key, run_count FROM variants");
        let mut offered = self.offered_variants(statement).await?;
        offered.models = self.most_run(&MODELS).await?;
        offered.hardware = self.most_run(&HARDWARE).await?;
        Ok(offered)
    }

    /// Those with most runs.
    async fn most_run(&self, catalogue: &Catalogue) -> Result<Vec<Counted>, StoreError> {
        let mut statement = Statement::new(catalogue.select);
        self.push_catalogue_conditions(&mut statement, catalogue, &[])?;
        statement
            .push(" ORDER BY run_count DESC, ")
            .push(catalogue.key)
            .push(" LIMIT ");
        statement.bind(OFFERED_MAX as i64)?;
        let found = statement.query().fetch_all(&self.read).await?;
        let counted = found.iter().map(|row| {
            let Entry {
                named, run_count, ..
            } = entry(row)?;
            Ok(Counted {
                value: named.slug,
                label: named.name,
                run_count,
            })
        });
        counted.collect()
    }

    /// What variants have, counted; the statement says how many runs each has.
    async fn offered_variants(&self, mut statement: Statement) -> Result<Offered, StoreError> {
        statement.push(VALUES_OF_VARIANTS);
        let mut values: [Vec<Counted>; 4] = Default::default();
        for row in statement.query().fetch_all(&self.read).await? {
            let value: String = row.try_get(1)?;
            let run_count: u64 = rows::unsigned(&row, 2)?;
            let field: usize = rows::unsigned(&row, 0)?;
            if let Some(values) = values.get_mut(field).filter(|_| !value.is_empty()) {
                values.push(Counted {
                    label: value.clone(),
                    value,
                    run_count,
                });
            }
        }
        let [engines, quantizations, gpu_counts, kinds] = values.map(commonest);
        Ok(Offered {
            engines,
            quantizations,
            gpu_counts,
            kinds,
            ..Offered::default()
        })
    }

    /// What occurs among the runs of a filter.
    pub(crate) async fn occurring_values(
        &self,
        filter: &Filter,
        organization: Option<&str>,
    ) -> Result<Offered, StoreError> {
        if *filter == Filter::default() && organization.is_none() {
            return self.offered_values().await;
        }
        let asked = Asked {
            filter: Some(filter),
            organization,
            ..Asked::default()
        };
        let Some(scope) = self.scope(asked).await? else {
            return Ok(Offered::default());
        };
        let mut statement = Statement::new("WITH n AS (");
        push_counts(&mut statement, &scope, "variant_key")?;
        let mut offered = self.offered_variants(statement).await?;
        let mut statement = Statement::new("SELECT m.slug, m.id, n.run_count FROM (");
        push_counts(&mut statement, &scope, "model_key")?;
        statement.push(") n CROSS JOIN models m WHERE m.model_key = n.key");
        offered.models = self.commonest_names(statement).await?;
        let mut statement = Statement::new("SELECT h.slug, h.name, n.run_count FROM (");
        push_counts(&mut statement, &scope, "hardware_key")?;
        statement.push(") n CROSS JOIN hardware h WHERE h.hardware_key = n.key");
        offered.hardware = self.commonest_names(statement).await?;
        Ok(offered)
    }

    async fn commonest_names(&self, mut statement: Statement) -> Result<Vec<Counted>, StoreError> {
        statement.push(" ORDER BY n.run_count DESC, n.key LIMIT ");
        statement.bind(OFFERED_MAX as i64)?;
        let found = statement.query().fetch_all(&self.read).await?;
        let counted = found.iter().map(|row| {
            let named = rows::named(row, 0)?;
            Ok(Counted {
                value: named.slug,
                label: named.name,
                run_count: rows::unsigned(row, 2)?,
            })
        });
        counted.collect()
    }
}

/// A statement for the runs that a scope has of every value of a key.
fn push_counts(statement: &mut Statement, scope: &Scope, key: &str) -> Result<(), StoreError> {
    let from = match scope.organization_key {
        Some(_) => {
            " AS key, CAST(SUM(o.run_count) AS BIGINT) AS run_count FROM organization_counts o \
             CROSS JOIN configurations c WHERE c.configuration_key = o.configuration_key \
             AND o.run_count > 0"
        }
        None => {
            " AS key, CAST(SUM(c.run_count) AS BIGINT) AS run_count FROM configurations c \
             WHERE c.run_count > 0"
        }
    };
    statement.push("SELECT c.").push(key).push(from);
    if let Some(organization_key) = scope.organization_key {
        statement
            .push(" AND o.organization_key = ")
            .bind(organization_key)?;
    }
    scope.push_conditions(statement, "c.")?;
    statement.push(" GROUP BY c.").push(key);
    Ok(())
}

/// The commonest first, by name where there are as many.
fn commonest(mut counted: Vec<Counted>) -> Vec<Counted> {
    counted.sort_by(|one, other| {
        let by_runs = other.run_count.cmp(&one.run_count);
        by_runs.then_with(|| one.value.cmp(&other.value))
    });
    counted.truncate(OFFERED_MAX);
    counted
}

fn like(word: &str) -> String {
    let mut pattern = String::from("%");
    for letter in word.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

fn cursor_of(text: &str) -> Result<(i64, i64), StoreError> {
    text.split_once('.')
        .and_then(|(run_count, key)| run_count.parse().ok().zip(key.parse().ok()))
        .ok_or_else(|| StoreError::Cursor(text.to_owned()))
}
