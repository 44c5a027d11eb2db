extension Migration {
    /// OAuth 2.0: grants, lines of tokens, codes, what Google is told and what it tells, and the keys that
    /// sign tokens.
    ///
    /// Grants hang on the account's ID and on the app, which a transfer does not change. A replica of an
    /// earlier version can work beside this one; it does not end grants when a credential ends, so that OAuth
    /// clients are to be configured once all replicas are of this version.
    static let fifth = Migration(
        number: 5, minimumReader: 1,
        sql: """
            -- Only of events of grants.
            ALTER TABLE event ADD COLUMN grant_id uuid;
            ALTER TABLE event ADD COLUMN oauth_client text COLLATE "C" CHECK (length(oauth_client) BETWEEN 1 AND 255);
            ALTER TABLE event ADD COLUMN grant_reason smallint CHECK (grant_reason BETWEEN 1 AND 99);

            -- What a person has granted to an OAuth client.
            CREATE TABLE oauth_grant (
                id uuid PRIMARY KEY,
                account_id uuid NOT NULL,
                oauth_client text COLLATE "C" NOT NULL CHECK (length(oauth_client) BETWEEN 1 AND 255),
                app_id integer NOT NULL REFERENCES app (id),
                scope text COLLATE "C" NOT NULL CHECK (length(scope) <= 2048),
                created_at bigint NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
                consented_at bigint NOT NULL CHECK (consented_at BETWEEN 0 AND 253402300799999),
                -- The authorization moment of the credential at the latest line or code.
                authorized_at bigint NOT NULL CHECK (authorized_at BETWEEN 0 AND 253402300799999),
                google_subject text COLLATE "C" CHECK (length(google_subject) BETWEEN 1 AND 255),
                UNIQUE (account_id, oauth_client)
            );

            -- What one code or assertion gave.
            CREATE TABLE oauth_line (
                id uuid PRIMARY KEY,
                grant_id uuid NOT NULL REFERENCES oauth_grant (id),
                is_native boolean NOT NULL,
                scope text COLLATE "C" NOT NULL CHECK (length(scope) <= 2048),
                authenticated_at bigint NOT NULL CHECK (authenticated_at BETWEEN 0 AND 253402300799999),
                authorized_at bigint NOT NULL CHECK (authorized_at BETWEEN 0 AND 253402300799999),
                created_at bigint NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
                expires_at bigint NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
                -- SHA-256 of the secret that all refresh tokens of the line share. NULL without refresh token.
                line_secret_digest bytea CHECK (octet_length(line_secret_digest) = 32),
                -- SHA-256 of the current refresh token.
                token_digest bytea CHECK (octet_length(token_digest) = 32),
                generation bigint CHECK (generation BETWEEN 0 AND 4294967295),
                previous_digest bytea CHECK (octet_length(previous_digest) = 32),
                rotated_at bigint CHECK (rotated_at BETWEEN 0 AND 253402300799999),
                double_sha512 bytea CHECK (octet_length(double_sha512) = 64),
                google_subject text COLLATE "C" CHECK (length(google_subject) BETWEEN 1 AND 255),
                CHECK ((line_secret_digest IS NULL) = (token_digest IS NULL)),
                CHECK ((line_secret_digest IS NULL) = (generation IS NULL)),
                CHECK ((previous_digest IS NULL) = (rotated_at IS NULL))
            );

            CREATE INDEX oauth_line_by_grant ON oauth_line (grant_id);
            CREATE INDEX oauth_line_by_end ON oauth_line (expires_at);
            CREATE INDEX oauth_line_by_google_subject ON oauth_line (google_subject)
                WHERE google_subject IS NOT NULL;
            CREATE INDEX oauth_line_by_double_sha512 ON oauth_line (double_sha512)
                WHERE double_sha512 IS NOT NULL;

            CREATE TABLE oauth_code (
                digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
                grant_id uuid NOT NULL REFERENCES oauth_grant (id),
                redirect_uri text COLLATE "C" NOT NULL CHECK (length(redirect_uri) BETWEEN 1 AND 2048),
                challenge text COLLATE "C" CHECK (length(challenge) BETWEEN 1 AND 128),
                challenge_is_plain boolean,
                scope text COLLATE "C" NOT NULL CHECK (length(scope) <= 2048),
                nonce text COLLATE "C" CHECK (length(nonce) <= 2048),
                authenticated_at bigint NOT NULL CHECK (authenticated_at BETWEEN 0 AND 253402300799999),
                authorized_at bigint NOT NULL CHECK (authorized_at BETWEEN 0 AND 253402300799999),
                issued_at bigint NOT NULL CHECK (issued_at BETWEEN 0 AND 253402300799999),
                expires_at bigint NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
                redeemed_at bigint CHECK (redeemed_at BETWEEN 0 AND 253402300799999),
                line_id uuid,
                CHECK ((challenge IS NULL) = (challenge_is_plain IS NULL)),
                CHECK ((redeemed_at IS NULL) = (line_id IS NULL))
            );

            CREATE INDEX oauth_code_by_grant ON oauth_code (grant_id);
            CREATE INDEX oauth_code_by_end ON oauth_code (expires_at);

            -- How many grants an account has given to a client since begun_at. Good for an hour.
            CREATE TABLE oauth_grant_pace (
                account_id uuid NOT NULL,
                oauth_client text COLLATE "C" NOT NULL CHECK (length(oauth_client) BETWEEN 1 AND 255),
                begun_at bigint NOT NULL CHECK (begun_at BETWEEN 0 AND 253402300799999),
                count bigint NOT NULL CHECK (count > 0),
                PRIMARY KEY (account_id, oauth_client)
            );

            CREATE INDEX oauth_grant_pace_by_begin ON oauth_grant_pace (begun_at);

            -- Refresh tokens that have ended, for Google. A claim moves next_attempt_at to its end.
            CREATE TABLE security_event_delivery (
                id uuid PRIMARY KEY,
                oauth_client text COLLATE "C" NOT NULL CHECK (length(oauth_client) BETWEEN 1 AND 255),
                double_sha512 bytea NOT NULL CHECK (octet_length(double_sha512) = 64),
                created_at bigint NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
                attempts bigint NOT NULL CHECK (attempts >= 0),
                next_attempt_at bigint NOT NULL CHECK (next_attempt_at BETWEEN 0 AND 253402300799999)
            );

            CREATE INDEX security_event_delivery_by_attempt ON security_event_delivery (next_attempt_at);

            -- Google's security events as they came, each once.
            CREATE TABLE google_event (
                jti text COLLATE "C" PRIMARY KEY CHECK (length(jti) BETWEEN 1 AND 255),
                google_subject text COLLATE "C" CHECK (length(google_subject) BETWEEN 1 AND 255),
                payload bytea NOT NULL CHECK (octet_length(payload) <= 65536),
                received_at bigint NOT NULL CHECK (received_at BETWEEN 0 AND 253402300799999)
            );

            CREATE INDEX google_event_by_subject ON google_event (google_subject)
                WHERE google_subject IS NOT NULL;
            CREATE INDEX google_event_by_arrival ON google_event (received_at);

            -- Google's last word about a Google account.
            CREATE TABLE google_account (
                google_subject text COLLATE "C" PRIMARY KEY CHECK (length(google_subject) BETWEEN 1 AND 255),
                is_disabled boolean NOT NULL,
                moment bigint NOT NULL CHECK (moment BETWEEN 0 AND 253402300799999)
            );

            CREATE INDEX google_account_by_moment ON google_account (moment) WHERE NOT is_disabled;

            -- The keys that sign tokens of this service. The private ones are sealed.
            CREATE TABLE signing_key (
                key_id text COLLATE "C" PRIMARY KEY CHECK (length(key_id) BETWEEN 1 AND 255),
                algorithm text COLLATE "C" NOT NULL CHECK (length(algorithm) BETWEEN 1 AND 16),
                sealed bytea NOT NULL CHECK (octet_length(sealed) BETWEEN 1 AND 16384),
                public_key bytea NOT NULL CHECK (octet_length(public_key) BETWEEN 1 AND 16384),
                created_at bigint NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
                signs_from bigint NOT NULL CHECK (signs_from BETWEEN 0 AND 253402300799999),
                retires_at bigint NOT NULL CHECK (retires_at BETWEEN 0 AND 253402300799999)
            );

            -- For Google's streamlined linking, which knows an address. Relays are never found by it.
            CREATE INDEX subject_by_email ON subject (lower(email))
                WHERE email_is_verified AND NOT email_is_private;
            """)
}
