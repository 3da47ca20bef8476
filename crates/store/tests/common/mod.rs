//! Runs for tests, and what a ranking of them must be.
#![allow(dead_code, reason = "each test file uses its part")]

use document::RunDocument;
use serde_json::{Value, json};
use store::{NewRun, Published, Store, StoreError};

/// A run document in a few words.
#[derive(Debug, Clone)]
pub struct Run {
    pub json: Value,
}

impl Run {
    /// A measured run of `model` on four GPUs by vLLM, without cells.
    pub fn new(id: &str) -> Run {
        Run {
            json: json!({
                "schema": "tokgrid.run/1",
                "id": id,
                "source": "measured",
                "started_at": "2025-01-02T03:04:05Z",
                "author": "keennay",
                "model": {"id": "org/Model-1"},
                "engine": {"name": "vllm", "version": "0.11.0", "quantization": "NVFP4"},
                "hardware": {"gpu": "RTX PRO 6000", "gpu_count": 4},
                "cells": [],
            }),
        }
    }

    pub fn with(mut self, path: &str, value: impl Into<Value>) -> Run {
        let (parent, field) = path.rsplit_once('/').unwrap();
        let parent = self.json.pointer_mut(parent).unwrap();
        parent[field] = value.into();
        self
    }

    pub fn model(self, id: &str) -> Run {
        self.with("/model/id", id)
    }

    pub fn gpu(self, name: &str, count: u32) -> Run {
        self.with("/hardware/gpu", name)
            .with("/hardware/gpu_count", count)
    }

    pub fn engine(self, name: &str, quantization: &str) -> Run {
        self.with("/engine/name", name)
            .with("/engine/quantization", quantization)
    }

    pub fn simulated(self) -> Run {
        self.with("/hardware/type", "Simulated engine")
    }

    /// A valid decode cell.
    pub fn decode(self, context_tokens: u64, concurrency: u32, total_tok_s: f64) -> Run {
        self.cell(json!({
            "phase": "decode",
            "context_tokens": context_tokens,
            "concurrency": concurrency,
            "status": "valid",
            "total_tok_s": total_tok_s,
            "per_request_tok_s": total_tok_s / f64::from(concurrency),
            "ttft_ms": {"p50": 100_000.0 / total_tok_s},
            "tbt_ms": {"p50": 6.3},
            "average_active": 1.0,
            "cache_proof": "proved",
        }))
    }

    pub fn cell(mut self, cell: Value) -> Run {
        self.json["cells"].as_array_mut().unwrap().push(cell);
        self
    }

    /// Changes the cell that was added last.
    pub fn last_cell(mut self, field: &str, value: impl Into<Value>) -> Run {
        let cells = self.json["cells"].as_array_mut().unwrap();
        cells.last_mut().unwrap()[field] = value.into();
        self
    }

    pub fn flagged(self, flag: &str) -> Run {
        self.last_cell("flags", json!([{"name": flag, "evidence": "seen"}]))
    }

    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(&self.json).unwrap()
    }

    pub fn document(&self) -> RunDocument {
        RunDocument::from_json(&self.bytes()).unwrap()
    }

    pub async fn publish(&self, store: &Store) -> Published {
        self.publish_at(store, 1_000).await.unwrap()
    }

    pub async fn publish_at(&self, store: &Store, at_ms: i64) -> Result<Published, StoreError> {
        self.publish_by(store, None, None, at_ms).await
    }

    /// Publishes for an account, with an idempotency key.
    pub async fn publish_by(
        &self,
        store: &Store,
        account_key: Option<i64>,
        idempotency_key: Option<&str>,
        at_ms: i64,
    ) -> Result<Published, StoreError> {
        store
            .publish(NewRun {
                content: &self.bytes(),
                document: &self.document(),
                account_key,
                organization_key: None,
                idempotency_key,
                published_at_ms: at_ms,
            })
            .await
    }
}

/// Opens the database of a test.
pub async fn open(url: &str) -> Store {
    Store::open(&url.parse().unwrap()).await.unwrap()
}

/// Fails with what is wrong where something is.
pub async fn assert_clean(store: &Store) {
    let report = store.check().await.unwrap();
    assert!(report.is_clean(), "{report:#?}");
}

/// An account to publish with.
pub async fn account(store: &Store, name: &str) -> i64 {
    let new = store::NewAccount {
        name,
        password_hash: None,
        oidc: None,
        created_at_ms: 1,
    };
    store
        .create_account(new)
        .await
        .unwrap()
        .unwrap()
        .account_key
}
