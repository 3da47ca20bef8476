-- A browser that is signed in. Its secret is known here only by its SHA-256.
CREATE TABLE sessions (
    session_key INTEGER PRIMARY KEY AUTOINCREMENT,
    account_key BIGINT NOT NULL REFERENCES accounts,
    sha256 TEXT NOT NULL UNIQUE,
    browser TEXT NOT NULL, -- as it calls itself
    created_at_ms BIGINT NOT NULL,
    last_seen_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX sessions_by_account ON sessions (account_key, session_key);

-- A token of a program. Known here only by its SHA-256; a revoked one is deleted.
CREATE TABLE tokens (
    token_key INTEGER PRIMARY KEY AUTOINCREMENT,
    account_key BIGINT NOT NULL REFERENCES accounts,
    sha256 TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    may_read BIGINT NOT NULL,
    may_publish BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT,
    last_used_at_ms BIGINT
);
CREATE INDEX tokens_by_account ON tokens (account_key, token_key);

CREATE TABLE members (
    organization_key BIGINT NOT NULL REFERENCES organizations,
    account_key BIGINT NOT NULL REFERENCES accounts,
    role TEXT NOT NULL, -- owner, member
    since_ms BIGINT NOT NULL,
    PRIMARY KEY (organization_key, account_key)
) WITHOUT ROWID;
CREATE INDEX members_by_account ON members (account_key, organization_key);

-- A terminal that asks to be signed in, until it fetches its token or time is up.
CREATE TABLE device_requests (
    sha256 TEXT PRIMARY KEY, -- of the device code
    user_code TEXT NOT NULL UNIQUE,
    client TEXT NOT NULL, -- as it calls itself
    may_read BIGINT NOT NULL,
    may_publish BIGINT NOT NULL,
    account_key BIGINT REFERENCES accounts, -- who answered
    state TEXT NOT NULL, -- pending, approved, denied
    interval_s BIGINT NOT NULL,
    polled_at_ms BIGINT,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX device_requests_by_end ON device_requests (expires_at_ms);

-- A sign-in that is under way at the OpenID provider.
CREATE TABLE oidc_requests (
    sha256 TEXT PRIMARY KEY, -- of the state
    nonce TEXT NOT NULL,
    pkce_verifier TEXT NOT NULL,
    next TEXT NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX oidc_requests_by_end ON oidc_requests (expires_at_ms);

CREATE INDEX runs_hidden ON runs (hidden_at_ms) WHERE hidden_at_ms IS NOT NULL;
