extension Migration {
    /// Puts the credentials of a person where the digest of their key says, so that a state query reads one
    /// page, and not one of an index first. Rows with numbers have the slimmest pages above them: those of
    /// ten million people stay in four megabytes of memory. Such a page may keep a number whose row was
    /// deleted: 48 bits of a hash, from which no person can be guessed.
    static let fourth = Migration(
        number: 4,
        rebuildsTables: true,
        sql: """
            -- What is known of a person for an app. The row for app 0 has what ended the credentials for all
            -- apps, also for those first seen later: it is here, so that a state query reads one place.
            CREATE TABLE new_credential (
                -- The first 48 bits of the person's key_digest, and 16 that count.
                id INTEGER PRIMARY KEY,
                subject_id INTEGER NOT NULL REFERENCES subject (id),
                -- The 16 bits that count have room for all apps of two people who share the 48.
                app_id INTEGER NOT NULL REFERENCES app (id) CHECK (app_id BETWEEN 0 AND 32767),
                -- The last 64 bits of key_digest.
                key_check INTEGER NOT NULL,
                authorized_at INTEGER CHECK (authorized_at BETWEEN 0 AND 253402300799999),
                authorized_source INTEGER CHECK (authorized_source BETWEEN 1 AND 99),
                revoked_at INTEGER CHECK (revoked_at BETWEEN 0 AND 253402300799999),
                revoked_reason INTEGER CHECK (revoked_reason BETWEEN 1 AND 99),
                revoked_source INTEGER CHECK (revoked_source BETWEEN 1 AND 99),
                last_sign_in_at INTEGER CHECK (last_sign_in_at BETWEEN 0 AND 253402300799999),
                -- When the subject's address was last confirmed, as far as this credential knows. The latest
                -- of these and of subject.email_at counts: confirming an address leaves the wide row alone.
                email_at INTEGER CHECK (email_at BETWEEN 0 AND 253402300799999),
                -- Whether a refresh token is held (1), awaited (2) or unavailable (3), and then why. NULL while no
                -- code ever came.
                refresh_token INTEGER CHECK (refresh_token BETWEEN 1 AND 3),
                refresh_token_cause INTEGER CHECK (refresh_token_cause BETWEEN 1 AND 99),
                CHECK (app_id > 0 OR (authorized_at IS NULL AND last_sign_in_at IS NULL)),
                CHECK ((authorized_at IS NULL) = (authorized_source IS NULL)),
                CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL)),
                CHECK ((revoked_at IS NULL) = (revoked_source IS NULL))
            ) STRICT;

            -- The window sorts the rows as the new table has them. A credential without subject has no key_check and
            -- fails here, instead of being left out.
            INSERT INTO new_credential
            SELECT first_credential_id(s.key_digest) + row_number() OVER (
                    PARTITION BY first_credential_id(s.key_digest) ORDER BY c.subject_id, c.app_id) - 1,
                c.subject_id, c.app_id, key_check(s.key_digest), c.authorized_at, c.authorized_source, c.revoked_at,
                c.revoked_reason, c.revoked_source, c.last_sign_in_at, c.email_at, c.refresh_token,
                c.refresh_token_cause
            FROM credential c LEFT JOIN subject s ON s.id = c.subject_id;

            DROP TABLE credential;
            ALTER TABLE new_credential RENAME TO credential;
            CREATE UNIQUE INDEX credential_by_subject ON credential (subject_id, app_id);
            """)
}
