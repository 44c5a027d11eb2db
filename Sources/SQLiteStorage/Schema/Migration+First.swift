extension Migration {
    /// Accounts, credentials, nonces, the notification inbox, account events and the key set.
    ///
    /// Times are milliseconds since 1970. Reasons, sources and the like are the numbers of `StorageCode`.
    /// Columns that change with every sign-in are in `credential`, whose rows are all integers, so that a
    /// sign-in writes some 40 bytes; `subject` may be wide. Text is compared by its bytes, which is SQLite's
    /// default (BINARY).
    static let first = Migration(
        number: 1,
        sql: """
            CREATE TABLE team (
                id INTEGER PRIMARY KEY,
                name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 255)
            ) STRICT;

            -- An app by its primary client ID. Number 0 is no app: it stands for all apps of the team.
            CREATE TABLE app (
                id INTEGER PRIMARY KEY,
                name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 255)
            ) STRICT;

            -- No client ID has a line feed in it.
            INSERT INTO app (id, name) VALUES (0, char(10));

            -- A person of a team. Without account_id: one of whom Apple spoke before they signed in here.
            CREATE TABLE subject (
                id INTEGER PRIMARY KEY,
                team_id INTEGER NOT NULL REFERENCES team (id),
                sub TEXT NOT NULL CHECK (length(sub) BETWEEN 1 AND 255),
                account_id BLOB UNIQUE CHECK (length(account_id) = 16),
                created_at INTEGER CHECK (created_at BETWEEN 0 AND 253402300799999),
                email TEXT CHECK (length(email) BETWEEN 1 AND 320),
                email_is_verified INTEGER CHECK (email_is_verified IN (0, 1)),
                email_is_private INTEGER CHECK (email_is_private IN (0, 1)),
                email_at INTEGER CHECK (email_at BETWEEN 0 AND 253402300799999),
                unsigned_email TEXT CHECK (length(unsigned_email) BETWEEN 1 AND 320),
                forwarding INTEGER CHECK (forwarding BETWEEN 1 AND 99),
                forwarding_at INTEGER CHECK (forwarding_at BETWEEN 0 AND 253402300799999),
                first_name TEXT CHECK (length(first_name) BETWEEN 1 AND 256),
                last_name TEXT CHECK (length(last_name) BETWEEN 1 AND 256),
                real_user_status INTEGER,
                UNIQUE (team_id, sub),
                CHECK ((account_id IS NULL) = (created_at IS NULL)),
                CHECK ((email IS NULL) = (email_is_verified IS NULL)),
                CHECK ((email IS NULL) = (email_is_private IS NULL)),
                CHECK ((email IS NULL) = (email_at IS NULL)),
                CHECK (email IS NULL OR unsigned_email IS NULL),
                CHECK ((forwarding IS NULL) = (forwarding_at IS NULL))
            ) STRICT;

            -- What is known of a person for an app. The row for app 0 has what ended the credentials for all
            -- apps, also for those first seen later: it is here, so that a state query reads one place.
            CREATE TABLE credential (
                subject_id INTEGER NOT NULL REFERENCES subject (id),
                app_id INTEGER NOT NULL REFERENCES app (id),
                authorized_at INTEGER CHECK (authorized_at BETWEEN 0 AND 253402300799999),
                authorized_source INTEGER CHECK (authorized_source BETWEEN 1 AND 99),
                revoked_at INTEGER CHECK (revoked_at BETWEEN 0 AND 253402300799999),
                revoked_reason INTEGER CHECK (revoked_reason BETWEEN 1 AND 99),
                revoked_source INTEGER CHECK (revoked_source BETWEEN 1 AND 99),
                last_sign_in_at INTEGER CHECK (last_sign_in_at BETWEEN 0 AND 253402300799999),
                -- When the subject's address was last confirmed, as far as this credential knows. The latest
                -- of these and of subject.email_at counts: confirming an address leaves the wide row alone.
                email_at INTEGER CHECK (email_at BETWEEN 0 AND 253402300799999),
                PRIMARY KEY (subject_id, app_id),
                CHECK (app_id > 0 OR (authorized_at IS NULL AND last_sign_in_at IS NULL)),
                CHECK ((authorized_at IS NULL) = (authorized_source IS NULL)),
                CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL)),
                CHECK ((revoked_at IS NULL) = (revoked_source IS NULL))
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE nonce (
                digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
                expires_at INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
                is_used INTEGER NOT NULL CHECK (is_used IN (0, 1))
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX nonce_by_expiry ON nonce (expires_at);

            -- Apple's notifications as they came, each once.
            CREATE TABLE notification (
                id INTEGER PRIMARY KEY,
                identifier TEXT NOT NULL UNIQUE CHECK (length(identifier) BETWEEN 1 AND 255),
                app_id INTEGER NOT NULL REFERENCES app (id),
                receipt INTEGER NOT NULL CHECK (receipt BETWEEN 1 AND 99),
                payload TEXT NOT NULL CHECK (length(payload) BETWEEN 1 AND 65536),
                received_at INTEGER NOT NULL CHECK (received_at BETWEEN 0 AND 253402300799999)
            ) STRICT;

            -- What makes two deliveries of one event the same, when their identifiers differ.
            CREATE TABLE notification_event (
                app_id INTEGER NOT NULL REFERENCES app (id),
                sub TEXT NOT NULL CHECK (length(sub) BETWEEN 1 AND 255),
                type TEXT NOT NULL,
                event_time INTEGER NOT NULL CHECK (event_time BETWEEN 0 AND 253402300799999),
                notification_id INTEGER NOT NULL REFERENCES notification (id),
                PRIMARY KEY (app_id, sub, type, event_time)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX notification_event_by_notification ON notification_event (notification_id);

            -- The feed. A sequence number is never given twice, also when old events are removed one day.
            CREATE TABLE event (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                id BLOB NOT NULL CHECK (length(id) = 16),
                kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 99),
                subject_id INTEGER NOT NULL REFERENCES subject (id),
                -- As it was when it happened: an account can come, and go, later.
                account_id BLOB CHECK (length(account_id) = 16),
                app_id INTEGER REFERENCES app (id),
                reason INTEGER CHECK (reason BETWEEN 1 AND 99),
                source INTEGER CHECK (source BETWEEN 1 AND 99),
                moment INTEGER NOT NULL CHECK (moment BETWEEN 0 AND 253402300799999),
                recorded_at INTEGER NOT NULL CHECK (recorded_at BETWEEN 0 AND 253402300799999)
            ) STRICT;

            CREATE TABLE key_set_snapshot (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                body BLOB NOT NULL CHECK (length(body) BETWEEN 1 AND 1048576),
                entity_tag TEXT,
                fetched_at INTEGER NOT NULL,
                fresh_until INTEGER NOT NULL
            ) STRICT;

            -- Written to find out whether anything can be.
            CREATE TABLE health_probe (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                count INTEGER NOT NULL
            ) STRICT;
            """)
}
