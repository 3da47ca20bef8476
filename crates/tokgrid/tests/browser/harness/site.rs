//! A site with the two example runs.

use site::intake::{self, Publisher};
use site::{Site, SiteOptions};
use store::{DatabaseUrl, Store};

use crate::common::serve::ServeProcess;

/// The runs of two published pages: what is on them is known.
pub const DEEPSEEK: &str =
    include_str!("../../../../../examples/runs/deepseek-v4.1-flash-4x-rtx-pro-6000.json");
pub const GLM: &str =
    include_str!("../../../../../examples/runs/glm-5.3-flash-4x-rtx-pro-6000.json");

/// `tokgrid serve` on a database of its own.
pub struct TestSite {
    process: ServeProcess,
    /// Holds the database, and files of the test.
    pub folder: tempfile::TempDir,
}

impl TestSite {
    /// A site that nobody has used yet.
    pub fn empty() -> TestSite {
        TestSite::serving(tempfile::tempdir().unwrap())
    }

    /// A site with the two example runs, published by its operator.
    pub async fn with_examples() -> TestSite {
        let folder = tempfile::tempdir().unwrap();
        let url: DatabaseUrl = database(&folder).parse().unwrap();
        let store = Store::open(&url).await.unwrap();
        let options = SiteOptions::new("http://127.0.0.1", |_| Err("none".to_owned()));
        let site = Site::new(store, options);
        for example in [DEEPSEEK, GLM] {
            let received = intake::read(example.as_bytes(), &site.options).unwrap();
            let published = intake::publish(&site, &received, Publisher::default()).await;
            assert!(published.unwrap().created);
        }
        drop(site);
        TestSite::serving(folder)
    }

    fn serving(folder: tempfile::TempDir) -> TestSite {
        TestSite {
            process: ServeProcess::start(&database(&folder)),
            folder,
        }
    }

    /// Where it is, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.process.url
    }

    /// The address of a path.
    pub fn at(&self, path: &str) -> String {
        self.process.at(path)
    }

    /// A file of the test's in its folder.
    pub fn file(&self, name: &str, content: &str) -> std::path::PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

fn database(folder: &tempfile::TempDir) -> String {
    format!("sqlite:{}", folder.path().join("site.db").display())
}

/// The id of a run document.
pub fn id_of(document: &str) -> String {
    let document: serde_json::Value = serde_json::from_str(document).unwrap();
    document["id"].as_str().unwrap().to_owned()
}

/// Where a run's page is.
pub fn page_of(document: &str) -> String {
    format!("/runs/{}", id_of(document))
}

/// The same run, measured another time: another id, and a note.
pub fn again(document: &str, id: &str) -> String {
    let mut document: serde_json::Value = serde_json::from_str(document).unwrap();
    document["id"] = id.into();
    document["notes"] = "measured again".into();
    document.to_string()
}
