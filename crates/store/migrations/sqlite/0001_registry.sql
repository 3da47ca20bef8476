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
    run_count BIGINT NOT NULL DEFAULT 0,
    last_published_at_ms BIGINT
);
CREATE INDEX models_by_runs ON models (run_count DESC, model_key);

-- A GPU, or a processor where there is none.
CREATE TABLE hardware (
    hardware_key INTEGER PRIMARY KEY AUTOINCREMENT,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
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

-- What is compared with what: like is ranked with like.
CREATE TABLE configurations (
    configuration_key INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL, -- measured, imported, simulated
    model_key BIGINT NOT NULL REFERENCES models,
    quantization TEXT NOT NULL, -- '' where unknown, as in the next three
    engine TEXT NOT NULL,
    hardware_key BIGINT NOT NULL REFERENCES hardware,
    gpu_count BIGINT NOT NULL, -- 0 where unknown or without GPU
    run_count BIGINT NOT NULL DEFAULT 0,
    -- Lower case, everything a search looks at.
    search_text TEXT NOT NULL,
    UNIQUE (model_key, hardware_key, engine, quantization, gpu_count, kind)
);
CREATE INDEX configurations_by_hardware ON configurations (hardware_key);

CREATE TABLE runs (
    -- Grows with time: newer runs have larger keys.
    run_key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL UNIQUE REFERENCES documents,
    published_at_ms BIGINT NOT NULL,
    measured_at_ms BIGINT,
    configuration_key BIGINT NOT NULL REFERENCES configurations,
    model_key BIGINT NOT NULL REFERENCES models,
    hardware_key BIGINT NOT NULL REFERENCES hardware,
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
CREATE INDEX runs_by_configuration ON runs (configuration_key, run_key);
CREATE INDEX runs_by_model ON runs (model_key, run_key);
CREATE INDEX runs_by_hardware ON runs (hardware_key, run_key);
CREATE INDEX runs_by_account ON runs (account_key, run_key);
CREATE INDEX runs_by_organization ON runs (organization_key, run_key);

CREATE TABLE cells (
    run_key BIGINT NOT NULL REFERENCES runs,
    cell_index BIGINT NOT NULL, -- position in the document
    configuration_key BIGINT NOT NULL REFERENCES configurations,
    phase TEXT NOT NULL,
    context_tokens BIGINT NOT NULL,
    concurrency BIGINT NOT NULL,
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
    cache_proved BIGINT NOT NULL,
    PRIMARY KEY (run_key, cell_index)
) WITHOUT ROWID;
CREATE INDEX cells_by_configuration ON cells (configuration_key, phase, context_tokens, concurrency);

-- The best cell of every configuration, shape and metric.
CREATE TABLE best_cells (
    configuration_key BIGINT NOT NULL REFERENCES configurations,
    phase TEXT NOT NULL,
    context_tokens BIGINT NOT NULL,
    concurrency BIGINT NOT NULL,
    metric TEXT NOT NULL, -- total, per_gpu, per_request, ttft
    value DOUBLE PRECISION NOT NULL,
    run_key BIGINT NOT NULL REFERENCES runs,
    cell_index BIGINT NOT NULL,
    PRIMARY KEY (configuration_key, phase, context_tokens, concurrency, metric)
) WITHOUT ROWID;
CREATE INDEX best_cells_by_value ON best_cells (phase, context_tokens, concurrency, metric, value, configuration_key);
CREATE INDEX best_cells_by_run ON best_cells (run_key);

-- How many cells that may rank have a shape: in all runs, of a model, on a hardware.
CREATE TABLE shape_counts (
    scope TEXT NOT NULL, -- all, model, hardware
    scope_key BIGINT NOT NULL, -- 0 for all
    phase TEXT NOT NULL,
    context_tokens BIGINT NOT NULL,
    concurrency BIGINT NOT NULL,
    cell_count BIGINT NOT NULL,
    PRIMARY KEY (scope, scope_key, phase, context_tokens, concurrency)
) WITHOUT ROWID;

-- How many runs have a value: engine, quantization, gpu_count, kind.
CREATE TABLE value_counts (
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    run_count BIGINT NOT NULL,
    PRIMARY KEY (field, value)
) WITHOUT ROWID;

-- Runs of an organization by configuration.
CREATE TABLE organization_counts (
    organization_key BIGINT NOT NULL REFERENCES organizations,
    configuration_key BIGINT NOT NULL REFERENCES configurations,
    run_count BIGINT NOT NULL,
    PRIMARY KEY (organization_key, configuration_key)
) WITHOUT ROWID;

-- One upload for one key: the answer to a repeated upload is the first one's.
CREATE TABLE idempotency_keys (
    account_key BIGINT NOT NULL REFERENCES accounts,
    idempotency_key TEXT NOT NULL,
    request_sha256 TEXT NOT NULL,
    run_id TEXT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (account_key, idempotency_key)
);
