extension Migration {
    /// Authorization codes, refresh tokens, erasures, team transfers and the one-time secrets of the web
    /// flow.
    ///
    /// Codes and tokens hang on the account's ID and not on the subject's row: what they are sealed with
    /// names the account, and it outlives a transfer and an erasure. The ID is not declared as a foreign key,
    /// because every change of a subject would then have to look for them.
    ///
    /// A subject's `sub` that begins with U+0001 is a tombstone, or what an older tombstone has become: a row
    /// that only old events hang on.
    static let second = Migration(
        number: 2,
        sql: """
            -- Whether a refresh token is held (1), awaited (2) or unavailable (3), and then why. NULL while no
            -- code ever came.
            ALTER TABLE credential ADD COLUMN refresh_token INTEGER CHECK (refresh_token BETWEEN 1 AND 3);
            ALTER TABLE credential ADD COLUMN refresh_token_cause INTEGER
                CHECK (refresh_token_cause BETWEEN 1 AND 99);

            -- Client IDs, primary or not, that codes and tokens were issued to.
            CREATE TABLE client (
                id INTEGER PRIMARY KEY,
                name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 255)
            ) STRICT;

            -- Codes that wait for their exchange. While one is claimed, next_attempt_at is the claim's end.
            CREATE TABLE authorization_code (
                id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
                account_id BLOB NOT NULL CHECK (length(account_id) = 16),
                client_id INTEGER NOT NULL REFERENCES client (id),
                app_id INTEGER NOT NULL REFERENCES app (id),
                redirect_uri TEXT,
                sealed BLOB NOT NULL CHECK (length(sealed) BETWEEN 1 AND 16384),
                authorized_at INTEGER NOT NULL CHECK (authorized_at BETWEEN 0 AND 253402300799999),
                expires_at INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
                attempts INTEGER NOT NULL CHECK (attempts >= 0),
                next_attempt_at INTEGER NOT NULL CHECK (next_attempt_at BETWEEN 0 AND 253402300799999),
                is_claimed INTEGER NOT NULL CHECK (is_claimed IN (0, 1))
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX authorization_code_by_account ON authorization_code (account_id);
            CREATE INDEX authorization_code_by_attempt ON authorization_code (next_attempt_at);

            -- The newest token of each account and client ID.
            CREATE TABLE refresh_token (
                account_id BLOB NOT NULL CHECK (length(account_id) = 16),
                client_id INTEGER NOT NULL REFERENCES client (id),
                app_id INTEGER NOT NULL REFERENCES app (id),
                token_id BLOB NOT NULL CHECK (length(token_id) = 16),
                sealed BLOB NOT NULL CHECK (length(sealed) BETWEEN 1 AND 16384),
                authorized_at INTEGER NOT NULL CHECK (authorized_at BETWEEN 0 AND 253402300799999),
                next_check_at INTEGER NOT NULL CHECK (next_check_at BETWEEN 0 AND 253402300799999),
                PRIMARY KEY (account_id, client_id)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX refresh_token_by_check ON refresh_token (next_check_at);

            CREATE TABLE erasure (
                id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
                account_id BLOB NOT NULL UNIQUE CHECK (length(account_id) = 16),
                team_id INTEGER NOT NULL REFERENCES team (id),
                requested_at INTEGER NOT NULL CHECK (requested_at BETWEEN 0 AND 253402300799999),
                deadline INTEGER NOT NULL CHECK (deadline BETWEEN 0 AND 253402300799999),
                finished_at INTEGER CHECK (finished_at BETWEEN 0 AND 253402300799999)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE erasure_app (
                erasure_id BLOB NOT NULL REFERENCES erasure (id),
                app_id INTEGER NOT NULL REFERENCES app (id),
                had_token INTEGER NOT NULL CHECK (had_token IN (0, 1)),
                state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 99),
                reason INTEGER CHECK (reason BETWEEN 1 AND 99),
                refresh_token_cause INTEGER CHECK (refresh_token_cause BETWEEN 1 AND 99),
                PRIMARY KEY (erasure_id, app_id)
            ) STRICT, WITHOUT ROWID;

            -- What was held for an erased account. Steps: 1 exchange, 2 revoke, 3 prove, 4 done.
            CREATE TABLE erasure_grant (
                id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
                erasure_id BLOB NOT NULL REFERENCES erasure (id),
                client_id INTEGER NOT NULL REFERENCES client (id),
                app_id INTEGER NOT NULL REFERENCES app (id),
                kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 99),
                step INTEGER NOT NULL CHECK (step BETWEEN 1 AND 4),
                outcome INTEGER CHECK (outcome BETWEEN 1 AND 99),
                attempts INTEGER NOT NULL CHECK (attempts >= 0),
                next_attempt_at INTEGER NOT NULL CHECK (next_attempt_at BETWEEN 0 AND 253402300799999),
                is_claimed INTEGER NOT NULL CHECK (is_claimed IN (0, 1)),
                cause TEXT CHECK (length(cause) BETWEEN 1 AND 64),
                sealed BLOB CHECK (length(sealed) BETWEEN 1 AND 16384),
                redirect_uri TEXT,
                expires_at INTEGER CHECK (expires_at BETWEEN 0 AND 253402300799999),
                CHECK ((step = 4) = (outcome IS NOT NULL)),
                CHECK (step < 4 OR sealed IS NULL)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX erasure_grant_by_erasure ON erasure_grant (erasure_id);
            CREATE INDEX erasure_grant_by_attempt ON erasure_grant (next_attempt_at) WHERE step < 4;

            -- What another team told of an account that is to come.
            CREATE TABLE transfer (
                team_id INTEGER NOT NULL REFERENCES team (id),
                transfer_sub TEXT NOT NULL CHECK (length(transfer_sub) BETWEEN 1 AND 255),
                account_id BLOB NOT NULL CHECK (length(account_id) = 16),
                created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
                expires_at INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
                PRIMARY KEY (team_id, transfer_sub)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX transfer_by_account ON transfer (account_id);
            CREATE INDEX transfer_by_expiry ON transfer (expires_at);

            CREATE TABLE ticket (
                purpose INTEGER NOT NULL CHECK (purpose BETWEEN 1 AND 99),
                digest BLOB NOT NULL CHECK (length(digest) = 32),
                payload BLOB NOT NULL CHECK (length(payload) <= 4096),
                expires_at INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
                PRIMARY KEY (purpose, digest)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX ticket_by_expiry ON ticket (expires_at);

            -- For the rare subject that gets an account which comes from elsewhere: the events of the time
            -- when it had none go with it. Events of accounts need no such index and pay for none.
            CREATE INDEX event_without_account ON event (subject_id) WHERE account_id IS NULL;
            """)
}
