-- Documents as they came, compressed with zstd, named by their content.
CREATE TABLE documents (
    sha256 TEXT PRIMARY KEY,
    content_bytes BIGINT NOT NULL,
    content_zstd BLOB NOT NULL
);

CREATE TABLE models (
    model_key INTEGER PRIMARY KEY AUTOINCREMENT,
    slug TEXT NOT NULL UNIQUE,
    id TEXT NOT NULL UNIQUE,
    -- Lower case: what a search looks at.
    search_text TEXT NOT NULL,
    run_count BIGINT NOT NULL DEFAULT 0,
    last_published_at_ms BIGINT
);
CREATE INDEX models_by_runs ON models (run_count DESC, model_key);

-- A GPU, or a processor where there is none.
CREATE TABLE hardware (
    hardware_key INTEGER PRIMARY KEY AUTOINCREMENT,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    search_text TEXT NOT NULL,
    run_count BIGINT NOT NULL DEFAULT 0,
    last_published_at_ms BIGINT
);
CREATE INDEX hardware_by_runs ON hardware (run_count DESC, hardware_key);

CREATE TABLE organizations (
    organization_key INTEGER PRIMARY KEY AUTOINCREMENT,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    run_count BIGINT NOT NULL DEFAULT 0,
    last_published_at_ms BIGINT
);
CREATE INDEX organizations_by_runs ON organizations (run_count DESC, organization_key);

CREATE TABLE accounts (
    account_key INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Lower case; unique as people read it.
    name TEXT NOT NULL UNIQUE,
    password_hash TEXT,
    oidc_issuer TEXT,
    oidc_subject TEXT,
    is_administrator BIGINT NOT NULL DEFAULT 0,
    created_at_ms BIGINT NOT NULL,
    UNIQUE (oidc_issuer, oidc_subject)
);

-- What a configuration has beside model and hardware. Few, so that a filter finds
-- those it means and then compares one number.
CREATE TABLE variants (
    variant_key INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL, -- measured, imported, simulated
    engine TEXT NOT NULL, -- '' where unknown, as quantization
    quantization TEXT NOT NULL,
    gpu_count BIGINT NOT NULL, -- 0 where unknown or without GPU
    search_text TEXT NOT NULL,
    run_count BIGINT NOT NULL DEFAULT 0,
    UNIQUE (engine, quantization, gpu_count, kind)
);

-- What is compared with what: like is ranked with like.
CREATE TABLE configurations (
    configuration_key INTEGER PRIMARY KEY AUTOINCREMENT,
    model_key BIGINT NOT NULL REFERENCES models,
    hardware_key BIGINT NOT NULL REFERENCES hardware,
    variant_key BIGINT NOT NULL REFERENCES variants,
    run_count BIGINT NOT NULL DEFAULT 0,
    UNIQUE (model_key, hardware_key, variant_key)
);
CREATE INDEX configurations_by_model
    ON configurations (model_key, hardware_key, variant_key, run_count);
CREATE INDEX configurations_by_hardware
    ON configurations (hardware_key, variant_key, model_key, run_count);
CREATE INDEX configurations_by_variant
    ON configurations (variant_key, model_key, hardware_key, run_count);

CREATE TABLE runs (
    -- Grows with time: newer runs have larger keys.
    run_key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL UNIQUE REFERENCES documents,
    published_at_ms BIGINT NOT NULL,
    measured_at_ms BIGINT,
    configuration_key BIGINT NOT NULL REFERENCES configurations,
    -- The configuration's, so that a filter is answered from an index.
    model_key BIGINT NOT NULL REFERENCES models,
    hardware_key BIGINT NOT NULL REFERENCES hardware,
    variant_key BIGINT NOT NULL REFERENCES variants,
    account_key BIGINT REFERENCES accounts,
    organization_key BIGINT REFERENCES organizations,
    -- As the document says, for runs without an account.
    author TEXT,
    engine_version TEXT,
    cell_count BIGINT NOT NULL,
    context_tokens_max BIGINT,
    concurrency_max BIGINT,
    -- Of the cells that may rank.
    decode_tok_s_max DOUBLE PRECISION,
    prefill_tok_s_max DOUBLE PRECISION,
    hidden_at_ms BIGINT,
    hidden_reason TEXT,
    hidden_by_account_key BIGINT REFERENCES accounts
);
CREATE INDEX runs_by_configuration ON runs (configuration_key, run_key, hidden_at_ms);
-- Each holds all that a filter asks: a list is found without touching the runs.
CREATE INDEX runs_by_key
    ON runs (run_key, model_key, hardware_key, variant_key, hidden_at_ms);
CREATE INDEX runs_by_model
    ON runs (model_key, run_key, hardware_key, variant_key, hidden_at_ms);
CREATE INDEX runs_by_hardware
    ON runs (hardware_key, run_key, model_key, variant_key, hidden_at_ms);
CREATE INDEX runs_by_variant ON runs (variant_key, run_key, hidden_at_ms);
CREATE INDEX runs_by_account
    ON runs (account_key, run_key, model_key, hardware_key, variant_key, hidden_at_ms);
CREATE INDEX runs_by_organization
    ON runs (organization_key, run_key, model_key, hardware_key, variant_key, hidden_at_ms);

-- Phase, context and concurrency: what makes cells comparable.
CREATE TABLE shapes (
    shape_key INTEGER PRIMARY KEY AUTOINCREMENT,
    phase TEXT NOT NULL, -- prefill, decode
    context_tokens BIGINT NOT NULL,
    concurrency BIGINT NOT NULL,
    UNIQUE (context_tokens, concurrency, phase)
);

CREATE TABLE cells (
    run_key BIGINT NOT NULL REFERENCES runs,
    cell_index BIGINT NOT NULL, -- position in the document
    shape_key BIGINT NOT NULL REFERENCES shapes,
    status TEXT NOT NULL,
    total_tok_s DOUBLE PRECISION,
    per_request_tok_s DOUBLE PRECISION,
    ttft_ms_p50 DOUBLE PRECISION,
    tbt_ms_p50 DOUBLE PRECISION,
    average_active DOUBLE PRECISION,
    flags TEXT NOT NULL, -- names, separated by a space
    -- Which figures may rank: valid, measured and taken away by no flag.
    ranks_total BIGINT NOT NULL,
    ranks_per_request BIGINT NOT NULL,
    ranks_ttft BIGINT NOT NULL,
    cache_proof TEXT, -- proved, failed, unproven
    PRIMARY KEY (run_key, cell_index)
) WITHOUT ROWID;

-- Kept as runs are written, and proved by `check`: the best cell of every
-- configuration, metric and shape, of runs that are not hidden.
CREATE TABLE best_cells (
    configuration_key BIGINT NOT NULL REFERENCES configurations,
    metric BIGINT NOT NULL, -- 1 total, 2 per_gpu, 3 per_request, 4 ttft
    shape_key BIGINT NOT NULL,
    -- The metric's value, negative where less is better: the largest is the best.
    score DOUBLE PRECISION NOT NULL,
    run_key BIGINT NOT NULL,
    cell_index BIGINT NOT NULL,
    PRIMARY KEY (configuration_key, metric, shape_key)
) WITHOUT ROWID;
CREATE INDEX best_cells_by_score
    ON best_cells (shape_key, metric, score DESC, configuration_key);

-- How many cells that may rank have a shape: of a model, on a hardware; 0 is any.
CREATE TABLE shape_counts (
    model_key BIGINT NOT NULL,
    hardware_key BIGINT NOT NULL,
    shape_key BIGINT NOT NULL,
    cell_count BIGINT NOT NULL,
    PRIMARY KEY (model_key, hardware_key, shape_key)
) WITHOUT ROWID;

-- Runs of an organization by configuration.
CREATE TABLE organization_counts (
    organization_key BIGINT NOT NULL REFERENCES organizations,
    configuration_key BIGINT NOT NULL REFERENCES configurations,
    run_count BIGINT NOT NULL,
    PRIMARY KEY (organization_key, configuration_key)
) WITHOUT ROWID;
CREATE INDEX organization_counts_by_configuration ON organization_counts (configuration_key);

-- What competes for a place in best_cells.
CREATE VIEW candidates AS
SELECT r.configuration_key, CAST(1 AS BIGINT) AS metric, c.shape_key, c.total_tok_s AS score,
    c.run_key, c.cell_index
FROM cells c JOIN runs r ON r.run_key = c.run_key
WHERE c.ranks_total = 1 AND r.hidden_at_ms IS NULL
UNION ALL
SELECT r.configuration_key, CAST(2 AS BIGINT), c.shape_key, c.total_tok_s / v.gpu_count,
    c.run_key, c.cell_index
FROM cells c JOIN runs r ON r.run_key = c.run_key JOIN variants v ON v.variant_key = r.variant_key
WHERE c.ranks_total = 1 AND v.gpu_count >= 1 AND r.hidden_at_ms IS NULL
UNION ALL
SELECT r.configuration_key, CAST(3 AS BIGINT), c.shape_key, c.per_request_tok_s,
    c.run_key, c.cell_index
FROM cells c JOIN runs r ON r.run_key = c.run_key
WHERE c.ranks_per_request = 1 AND r.hidden_at_ms IS NULL
UNION ALL
SELECT r.configuration_key, CAST(4 AS BIGINT), c.shape_key, -c.ttft_ms_p50,
    c.run_key, c.cell_index
FROM cells c JOIN runs r ON r.run_key = c.run_key
WHERE c.ranks_ttft = 1 AND r.hidden_at_ms IS NULL;

-- What shape_counts counts, whether the run is hidden or not.
CREATE VIEW shape_cells AS
SELECT r.model_key * scope.of_model AS model_key, r.hardware_key * scope.of_hardware AS hardware_key,
    c.shape_key, c.run_key, r.hidden_at_ms
FROM cells c
JOIN runs r ON r.run_key = c.run_key
CROSS JOIN (
    SELECT 0 AS of_model, 0 AS of_hardware
    UNION ALL SELECT 0, 1
    UNION ALL SELECT 1, 0
    UNION ALL SELECT 1, 1
) scope
WHERE c.ranks_total = 1 OR c.ranks_per_request = 1 OR c.ranks_ttft = 1;

-- One upload for one key: the answer to a repeated upload is the first one's.
CREATE TABLE idempotency_keys (
    account_key BIGINT NOT NULL REFERENCES accounts,
    idempotency_key TEXT NOT NULL,
    request_sha256 TEXT NOT NULL,
    run_id TEXT NOT NULL REFERENCES runs (id),
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (account_key, idempotency_key)
);
CREATE INDEX idempotency_keys_by_run ON idempotency_keys (run_id);
