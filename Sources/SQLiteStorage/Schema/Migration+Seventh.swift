extension Migration {
    /// OAuth 2.0: grants, lines of tokens, codes, what Google is told and what it tells, and the keys that
    /// sign tokens.
    ///
    /// Grants hang on the account's ID and on the app, which a transfer does not change. The ID is not
    /// declared as a foreign key, because every change of a subject would then have to look for them.
    static let seventh = Migration(
        number: 7,
        sql: """
            -- Only of events of grants.
            ALTER TABLE event ADD COLUMN grant_id BLOB CHECK (length(grant_id) = 16);
            ALTER TABLE event ADD COLUMN oauth_client TEXT CHECK (length(oauth_client) BETWEEN 1 AND 255);
            ALTER TABLE event ADD COLUMN grant_reason INTEGER CHECK (grant_reason BETWEEN 1 AND 99);

            -- What a person has granted to an OAuth client.
            CREATE TABLE oauth_grant (
                id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
                account_id BLOB NOT NULL CHECK (length(account_id) = 16),
                oauth_client TEXT NOT NULL CHECK (length(oauth_client) BETWEEN 1 AND 255),
                app_id INTEGER NOT NULL REFERENCES app (id),
                scope TEXT NOT NULL CHECK (length(scope) <= 2048),
                created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
                consented_at INTEGER NOT NULL CHECK (consented_at BETWEEN 0 AND 253402300799999),
                -- The authorization moment of the credential at the latest line or code.
                authorized_at INTEGER NOT NULL CHECK (authorized_at BETWEEN 0 AND 253402300799999),
                google_subject TEXT CHECK (length(google_subject) BETWEEN 1 AND 255),
                UNIQUE (account_id, oauth_client)
            ) STRICT, WITHOUT ROWID;

            -- What one code or assertion gave.
            CREATE TABLE oauth_line (
                id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
                grant_id BLOB NOT NULL REFERENCES oauth_grant (id),
                is_native INTEGER NOT NULL CHECK (is_native IN (0, 1)),
                scope TEXT NOT NULL CHECK (length(scope) <= 2048),
                authenticated_at INTEGER NOT NULL CHECK (authenticated_at BETWEEN 0 AND 253402300799999),
                authorized_at INTEGER NOT NULL CHECK (authorized_at BETWEEN 0 AND 253402300799999),
                created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
                expires_at INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
                -- SHA-256 of the secret that all refresh tokens of the line share. NULL without refresh token.
                line_secret_digest BLOB CHECK (length(line_secret_digest) = 32),
                -- SHA-256 of the current refresh token.
                token_digest BLOB CHECK (length(token_digest) = 32),
                generation INTEGER CHECK (generation BETWEEN 0 AND 4294967295),
                previous_digest BLOB CHECK (length(previous_digest) = 32),
                rotated_at INTEGER CHECK (rotated_at BETWEEN 0 AND 253402300799999),
                double_sha512 BLOB CHECK (length(double_sha512) = 64),
                google_subject TEXT CHECK (length(google_subject) BETWEEN 1 AND 255),
                CHECK ((line_secret_digest IS NULL) = (token_digest IS NULL)),
                CHECK ((line_secret_digest IS NULL) = (generation IS NULL)),
                CHECK ((previous_digest IS NULL) = (rotated_at IS NULL))
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX oauth_line_by_grant ON oauth_line (grant_id);
            CREATE INDEX oauth_line_by_end ON oauth_line (expires_at);
            CREATE INDEX oauth_line_by_google_subject ON oauth_line (google_subject)
                WHERE google_subject IS NOT NULL;
            CREATE INDEX oauth_line_by_double_sha512 ON oauth_line (double_sha512)
                WHERE double_sha512 IS NOT NULL;

            CREATE TABLE oauth_code (
                digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
                grant_id BLOB NOT NULL REFERENCES oauth_grant (id),
                redirect_uri TEXT NOT NULL CHECK (length(redirect_uri) BETWEEN 1 AND 2048),
                challenge TEXT CHECK (length(challenge) BETWEEN 1 AND 128),
                challenge_is_plain INTEGER CHECK (challenge_is_plain IN (0, 1)),
                scope TEXT NOT NULL CHECK (length(scope) <= 2048),
                nonce TEXT CHECK (length(nonce) <= 2048),
                authenticated_at INTEGER NOT NULL CHECK (authenticated_at BETWEEN 0 AND 253402300799999),
                authorized_at INTEGER NOT NULL CHECK (authorized_at BETWEEN 0 AND 253402300799999),
                issued_at INTEGER NOT NULL CHECK (issued_at BETWEEN 0 AND 253402300799999),
                expires_at INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
                redeemed_at INTEGER CHECK (redeemed_at BETWEEN 0 AND 253402300799999),
                line_id BLOB CHECK (length(line_id) = 16),
                CHECK ((challenge IS NULL) = (challenge_is_plain IS NULL)),
                CHECK ((redeemed_at IS NULL) = (line_id IS NULL))
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX oauth_code_by_grant ON oauth_code (grant_id);
            CREATE INDEX oauth_code_by_end ON oauth_code (expires_at);

            -- How many grants an account has given to a client since begun_at. Good for an hour.
            CREATE TABLE oauth_grant_pace (
                account_id BLOB NOT NULL CHECK (length(account_id) = 16),
                oauth_client TEXT NOT NULL CHECK (length(oauth_client) BETWEEN 1 AND 255),
                begun_at INTEGER NOT NULL CHECK (begun_at BETWEEN 0 AND 253402300799999),
                count INTEGER NOT NULL CHECK (count > 0),
                PRIMARY KEY (account_id, oauth_client)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX oauth_grant_pace_by_begin ON oauth_grant_pace (begun_at);

            -- Refresh tokens that have ended, for Google. A claim moves next_attempt_at to its end.
            CREATE TABLE security_event_delivery (
                id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
                oauth_client TEXT NOT NULL CHECK (length(oauth_client) BETWEEN 1 AND 255),
                double_sha512 BLOB NOT NULL CHECK (length(double_sha512) = 64),
                created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
                attempts INTEGER NOT NULL CHECK (attempts >= 0),
                next_attempt_at INTEGER NOT NULL CHECK (next_attempt_at BETWEEN 0 AND 253402300799999)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX security_event_delivery_by_attempt ON security_event_delivery (next_attempt_at);

            -- Google's security events as they came, each once.
            CREATE TABLE google_event (
                jti TEXT NOT NULL PRIMARY KEY CHECK (length(jti) BETWEEN 1 AND 255),
                google_subject TEXT CHECK (length(google_subject) BETWEEN 1 AND 255),
                payload BLOB NOT NULL CHECK (length(payload) <= 65536),
                received_at INTEGER NOT NULL CHECK (received_at BETWEEN 0 AND 253402300799999)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX google_event_by_subject ON google_event (google_subject)
                WHERE google_subject IS NOT NULL;
            CREATE INDEX google_event_by_arrival ON google_event (received_at);

            -- Google's last word about a Google account.
            CREATE TABLE google_account (
                google_subject TEXT NOT NULL PRIMARY KEY CHECK (length(google_subject) BETWEEN 1 AND 255),
                is_disabled INTEGER NOT NULL CHECK (is_disabled IN (0, 1)),
                moment INTEGER NOT NULL CHECK (moment BETWEEN 0 AND 253402300799999)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX google_account_by_moment ON google_account (moment) WHERE is_disabled = 0;

            -- The keys that sign tokens of this service. The private ones are sealed.
            CREATE TABLE signing_key (
                key_id TEXT NOT NULL PRIMARY KEY CHECK (length(key_id) BETWEEN 1 AND 255),
                algorithm TEXT NOT NULL CHECK (length(algorithm) BETWEEN 1 AND 16),
                sealed BLOB NOT NULL CHECK (length(sealed) BETWEEN 1 AND 16384),
                public_key BLOB NOT NULL CHECK (length(public_key) BETWEEN 1 AND 16384),
                created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
                signs_from INTEGER NOT NULL CHECK (signs_from BETWEEN 0 AND 253402300799999),
                retires_at INTEGER NOT NULL CHECK (retires_at BETWEEN 0 AND 253402300799999)
            ) STRICT;

            -- For Google's streamlined linking, which knows an address. Relays are never found by it.
            CREATE INDEX subject_by_email ON subject (lower(email))
                WHERE email_is_verified = 1 AND email_is_private = 0;
            """)
}
