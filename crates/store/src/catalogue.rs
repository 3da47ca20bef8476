use serde::Serialize;

use crate::catalogue_list::{Entry, HARDWARE, MODELS, ORGANIZATIONS};
use crate::{Filter, Named, Page, PageRequest, Store, StoreError};

/// A model with its numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelEntry {
    /// Its page and its name (`deepseek-ai/DeepSeek-V4.1-Flash-1017`).
    #[serde(flatten)]
    pub named: Named,
    /// Runs that are not hidden.
    pub run_count: u64,
    /// ms since 1970.
    pub last_published_at_ms: Option<i64>,
}

/// A GPU, or a processor, with its numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HardwareEntry {
    /// Its page and its name.
    #[serde(flatten)]
    pub named: Named,
    /// Runs that are not hidden.
    pub run_count: u64,
    /// ms since 1970.
    pub last_published_at_ms: Option<i64>,
}

/// An organization with its numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrganizationEntry {
    /// Its page and its name.
    #[serde(flatten)]
    pub named: Named,
    /// Runs that are not hidden.
    pub run_count: u64,
    /// ms since 1970.
    pub last_published_at_ms: Option<i64>,
}

impl From<Entry> for ModelEntry {
    fn from(entry: Entry) -> ModelEntry {
        ModelEntry {
            named: entry.named,
            run_count: entry.run_count,
            last_published_at_ms: entry.last_published_at_ms,
        }
    }
}

impl From<Entry> for HardwareEntry {
    fn from(entry: Entry) -> HardwareEntry {
        HardwareEntry {
            named: entry.named,
            run_count: entry.run_count,
            last_published_at_ms: entry.last_published_at_ms,
        }
    }
}

impl From<Entry> for OrganizationEntry {
    fn from(entry: Entry) -> OrganizationEntry {
        OrganizationEntry {
            named: entry.named,
            run_count: entry.run_count,
            last_published_at_ms: entry.last_published_at_ms,
        }
    }
}

/// A value that filters can have, and how many runs have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// As a filter names it (a slug for models and hardware).
    pub value: String,
    /// As people read it.
    pub label: String,
    /// Runs.
    pub run_count: u64,
}

/// What filters can be set to, commonest first, a bounded number of each.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Offered {
    /// Models by slug.
    pub models: Vec<Counted>,
    /// Hardware by slug.
    pub hardware: Vec<Counted>,
    /// Engines.
    pub engines: Vec<Counted>,
    /// Quantizations.
    pub quantizations: Vec<Counted>,
    /// GPU counts.
    pub gpu_counts: Vec<Counted>,
    /// Kinds.
    pub kinds: Vec<Counted>,
}

impl Store {
    /// What filters can be set to.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn offered(&self) -> Result<Offered, StoreError> {
        self.offered_values().await
    }

    /// Models whose name has all words of `search`, most runs first.
    ///
    /// # Errors
    /// [`StoreError::Cursor`] for a page this list does not have.
    pub async fn models(
        &self,
        search: Option<&str>,
        page: &PageRequest,
    ) -> Result<Page<ModelEntry>, StoreError> {
        self.catalogue_page(&MODELS, search, page).await
    }

    /// The model with this slug.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn model(&self, slug: &str) -> Result<Option<ModelEntry>, StoreError> {
        self.catalogue_entry(&MODELS, slug).await
    }

    /// Hardware whose name has all words of `search`, most runs first.
    ///
    /// # Errors
    /// [`StoreError::Cursor`] for a page this list does not have.
    pub async fn hardware_list(
        &self,
        search: Option<&str>,
        page: &PageRequest,
    ) -> Result<Page<HardwareEntry>, StoreError> {
        self.catalogue_page(&HARDWARE, search, page).await
    }

    /// The hardware with this slug.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn hardware(&self, slug: &str) -> Result<Option<HardwareEntry>, StoreError> {
        self.catalogue_entry(&HARDWARE, slug).await
    }

    /// Organizations, those without runs too, most runs first.
    ///
    /// # Errors
    /// [`StoreError::Cursor`] for a page this list does not have.
    pub async fn organizations(
        &self,
        search: Option<&str>,
        page: &PageRequest,
    ) -> Result<Page<OrganizationEntry>, StoreError> {
        self.catalogue_page(&ORGANIZATIONS, search, page).await
    }

    /// The organization with this slug.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn organization(&self, slug: &str) -> Result<Option<OrganizationEntry>, StoreError> {
        self.catalogue_entry(&ORGANIZATIONS, slug).await
    }

    /// Models, hardware and the rest that occur among the runs of a filter: a
    /// model's GPUs and quantizations, a hardware's or an organization's models;
    /// commonest first, a bounded number of each.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn occurring(
        &self,
        filter: &Filter,
        organization: Option<&str>,
    ) -> Result<Offered, StoreError> {
        self.occurring_values(filter, organization).await
    }
}
