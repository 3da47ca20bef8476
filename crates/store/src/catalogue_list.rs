//! How names with their numbers are found.

use std::collections::BTreeMap;

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::filter::{Asked, Scope, push_contains, search_words};
use crate::statement::Statement;
use crate::{Counted, Filter, Named, Offered, Page, PageRequest, Store, StoreError, rows};

/// Values of one field that a filter offers.
const OFFERED_MAX: usize = 200;

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

    /// Those with most runs.
    pub(crate) async fn most_run(&self, catalogue: &Catalogue) -> Result<Vec<Counted>, StoreError> {
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

    /// What variants have, counted; the conditions are on `variants` joined with
    /// whatever `source` says.
    pub(crate) async fn offered_variants(
        &self,
        statement: Statement,
    ) -> Result<Offered, StoreError> {
        let mut values: [BTreeMap<String, u64>; 4] = Default::default();
        for row in statement.query().fetch_all(&self.read).await? {
            let run_count: u64 = rows::unsigned(&row, 4)?;
            let gpu_count: i64 = row.try_get(2)?;
            let texts = [
                row.try_get(0)?,
                row.try_get(1)?,
                gpu_count.to_string(),
                row.try_get(3)?,
            ];
            for (values, text) in values.iter_mut().zip(texts) {
                *values.entry(text).or_default() += run_count;
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
        let asked = Asked {
            filter: Some(filter),
            organization,
            ..Asked::default()
        };
        let Some(scope) = self.scope(asked).await? else {
            return Ok(Offered::default());
        };
        let mut statement = Statement::new(
            "SELECT v.engine, v.quantization, v.gpu_count, v.kind, n.run_count FROM (",
        );
        push_counts(&mut statement, &scope, "variant_key")?;
        statement.push(") n JOIN variants v ON v.variant_key = n.key");
        let mut offered = self.offered_variants(statement).await?;
        let mut statement = Statement::new("SELECT m.slug, m.id, n.run_count FROM (");
        push_counts(&mut statement, &scope, "model_key")?;
        statement.push(") n JOIN models m ON m.model_key = n.key");
        offered.models = self.commonest_names(statement).await?;
        let mut statement = Statement::new("SELECT h.slug, h.name, n.run_count FROM (");
        push_counts(&mut statement, &scope, "hardware_key")?;
        statement.push(") n JOIN hardware h ON h.hardware_key = n.key");
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
             JOIN configurations c ON c.configuration_key = o.configuration_key \
             WHERE o.run_count > 0"
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

/// Values with runs, the commonest first.
fn commonest(values: BTreeMap<String, u64>) -> Vec<Counted> {
    let mut counted: Vec<Counted> = values
        .into_iter()
        .filter(|(value, run_count)| !value.is_empty() && *run_count > 0)
        .map(|(value, run_count)| Counted {
            label: value.clone(),
            value,
            run_count,
        })
        .collect();
    // By name where there are as many; sorting keeps that order.
    counted.sort_by_key(|counted| std::cmp::Reverse(counted.run_count));
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
