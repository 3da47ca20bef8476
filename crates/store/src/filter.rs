use sqlx::Row as _;

use crate::statement::Statement;
use crate::{Dialect, Filter, Kind, Store, StoreError};

/// Words of a search that are looked at.
const SEARCH_WORDS_MAX: usize = 8;

/// What a filter means in this database.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) model_key: Option<i64>,
    pub(crate) hardware_key: Option<i64>,
    pub(crate) organization_key: Option<i64>,
    pub(crate) account_key: Option<i64>,
    kind: Option<Kind>,
    leaves_simulated_out: bool,
    engine: Option<String>,
    quantization: Option<String>,
    gpu_count: Option<u32>,
    words: Vec<SearchWord>,
    dialect: Option<Dialect>,
}

/// A word and where it occurs at all.
#[derive(Debug)]
struct SearchWord {
    text: String,
    is_in: [bool; 3],
}

/// Where a word is looked for.
const SEARCHED: [(&str, &str); 3] = [
    ("model_key", "models"),
    ("hardware_key", "hardware"),
    ("variant_key", "variants"),
];

/// What a scope is made of.
#[derive(Default)]
pub(crate) struct Asked<'query> {
    pub(crate) filter: Option<&'query Filter>,
    pub(crate) organization: Option<&'query str>,
    pub(crate) account: Option<&'query str>,
    /// Simulated figures take part only where they are asked for.
    pub(crate) leaves_simulated_out: bool,
}

impl Store {
    /// Finds what the names of a filter stand for; `None` where one stands for
    /// nothing, so that nothing matches.
    pub(crate) async fn scope(&self, asked: Asked<'_>) -> Result<Option<Scope>, StoreError> {
        let unfiltered = Filter::default();
        let filter = asked.filter.unwrap_or(&unfiltered);
        let words = search_words(filter.search.as_deref());
        let mut scope = Scope {
            kind: filter.kind,
            leaves_simulated_out: asked.leaves_simulated_out && filter.kind.is_none(),
            engine: filter.engine.clone(),
            quantization: filter.quantization.clone(),
            gpu_count: filter.gpu_count,
            dialect: Some(self.dialect),
            ..Scope::default()
        };
        let named = [
            (
                filter.model.as_deref(),
                "SELECT model_key FROM models WHERE slug = ",
            ),
            (
                filter.hardware.as_deref(),
                "SELECT hardware_key FROM hardware WHERE slug = ",
            ),
            (
                asked.organization,
                "SELECT organization_key FROM organizations WHERE slug = ",
            ),
            (
                asked.account,
                "SELECT account_key FROM accounts WHERE name = ",
            ),
        ];
        if words.is_empty() && named.iter().all(|(name, _)| name.is_none()) {
            return Ok(Some(scope));
        }
        let mut statement = Statement::new("SELECT ");
        for (name, sql) in named {
            statement
                .push("(")
                .push(sql)
                .bind(name.unwrap_or_default())?
                .push("), ");
        }
        for word in &words {
            for (_, table) in SEARCHED {
                statement
                    .push("(SELECT COUNT(*) FROM (SELECT 1 FROM ")
                    .push(table)
                    .push(" WHERE ");
                push_contains(&mut statement, self.dialect, word)?;
                statement.push(" LIMIT 1) found), ");
            }
        }
        statement.push("0");
        let row = statement.query().fetch_one(&self.read).await?;
        let keys = [
            &mut scope.model_key,
            &mut scope.hardware_key,
            &mut scope.organization_key,
            &mut scope.account_key,
        ];
        for (column, (key, (name, _))) in keys.into_iter().zip(named).enumerate() {
            *key = row.try_get(column)?;
            if name.is_some() && key.is_none() {
                return Ok(None);
            }
            if name.is_none() {
                *key = None;
            }
        }
        for (place, text) in words.into_iter().enumerate() {
            let mut is_in = [false; 3];
            for (table, is_in) in is_in.iter_mut().enumerate() {
                *is_in = row.try_get::<i64, _>(named.len() + place * 3 + table)? > 0;
            }
            if is_in == [false; 3] {
                return Ok(None);
            }
            scope.words.push(SearchWord { text, is_in });
        }
        Ok(Some(scope))
    }
}

impl Scope {
    /// Whether variants are all that is asked for, or nothing is.
    pub(crate) fn is_of_variants(&self) -> bool {
        self.model_key.is_none() && self.hardware_key.is_none() && self.words.is_empty()
    }

    /// Whether nothing is asked for but a kind.
    pub(crate) fn is_of_kinds(&self) -> bool {
        self.is_of_variants()
            && self.engine.is_none()
            && self.quantization.is_none()
            && self.gpu_count.is_none()
    }

    /// Whether figures of one kind only are asked for.
    pub(crate) fn is_of_one_kind(&self) -> bool {
        self.kind.is_some()
    }

    /// Whether a model or a hardware is all that is asked for.
    pub(crate) fn is_of_one_name(&self) -> bool {
        self.model_key.is_some() != self.hardware_key.is_some()
            && self.words.is_empty()
            && !self.asks_for_variants()
    }

    fn asks_for_variants(&self) -> bool {
        self.kind.is_some()
            || self.leaves_simulated_out
            || self.engine.is_some()
            || self.quantization.is_some()
            || self.gpu_count.is_some()
    }

    /// Conditions on the keys of a table, each after an AND; `of` is its alias and a dot.
    pub(crate) fn push_conditions(
        &self,
        statement: &mut Statement,
        of: &str,
    ) -> Result<(), StoreError> {
        for (column, key) in [
            ("model_key", self.model_key),
            ("hardware_key", self.hardware_key),
        ] {
            if let Some(key) = key {
                statement
                    .push(" AND ")
                    .push(of)
                    .push(column)
                    .push(" = ")
                    .bind(key)?;
            }
        }
        if self.asks_for_variants() {
            statement
                .push(" AND ")
                .push(of)
                .push("variant_key IN (SELECT variant_key FROM variants WHERE 1 = 1");
            self.push_variant_conditions(statement)?;
            statement.push(")");
        }
        self.push_search(statement, of)
    }

    /// Conditions on the table of variants itself.
    pub(crate) fn push_variant_conditions(
        &self,
        statement: &mut Statement,
    ) -> Result<(), StoreError> {
        if self.leaves_simulated_out {
            statement
                .push(" AND kind <> ")
                .bind(Kind::Simulated.as_str())?;
        }
        if let Some(kind) = self.kind {
            statement.push(" AND kind = ").bind(kind.as_str())?;
        }
        for (column, text) in [
            ("engine", &self.engine),
            ("quantization", &self.quantization),
        ] {
            if let Some(text) = text {
                statement
                    .push(" AND ")
                    .push(column)
                    .push(" = ")
                    .bind(text.as_str())?;
            }
        }
        if let Some(gpu_count) = self.gpu_count {
            statement
                .push(" AND gpu_count = ")
                .bind(i64::from(gpu_count))?;
        }
        Ok(())
    }

    fn push_search(&self, statement: &mut Statement, of: &str) -> Result<(), StoreError> {
        let Some(dialect) = self.dialect else {
            return Ok(());
        };
        for word in &self.words {
            let mut before = " AND (";
            // Where a word does not occur need not be asked for each row.
            for ((column, table), _) in SEARCHED.iter().zip(word.is_in).filter(|(_, is_in)| *is_in)
            {
                statement.push(before).push(of).push(column);
                statement
                    .push(" IN (SELECT ")
                    .push(column)
                    .push(" FROM ")
                    .push(table);
                statement.push(" WHERE ");
                push_contains(statement, dialect, &word.text)?;
                statement.push(")");
                before = " OR ";
            }
            statement.push(")");
        }
        Ok(())
    }
}

/// The different words of a search, in lower case.
pub(crate) fn search_words(search: Option<&str>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    // PostgreSQL has no zero byte in texts.
    let search = search.unwrap_or_default().replace('\0', " ").to_lowercase();
    for word in search.split_whitespace() {
        if words.len() < SEARCH_WORDS_MAX && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    words
}

/// That `search_text` has a word.
pub(crate) fn push_contains(
    statement: &mut Statement,
    dialect: Dialect,
    word: &str,
) -> Result<(), StoreError> {
    statement.push(match dialect {
        Dialect::Sqlite => "INSTR(search_text, ",
        Dialect::Postgres => "STRPOS(search_text, ",
    });
    statement.bind(word)?.push(") > 0");
    Ok(())
}
