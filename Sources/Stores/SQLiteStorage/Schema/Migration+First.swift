import AppleAccounts
import SQLTables

extension Migration {
    /// All tables, with the columns of their declarations, except those of later migrations, and the constraints
    /// and indexes of this store.
    ///
    /// Times are milliseconds since 1970. Reasons, sources and the like are the numbers of `StorageCode`. Text is
    /// compared by its bytes, which is SQLite's default (BINARY).
    static let first = Migration(
        number: 1, sql: names + subjects + inbox + grants + erasures + oauth + appAttest + audit + rest)

    private static let oauth = """
        CREATE TABLE oauth_grant (
            \(OAuthGrantTable.schema),
            PRIMARY KEY (id),
            FOREIGN KEY (app_id) REFERENCES app (id),
            UNIQUE (account_id, oauth_client)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE oauth_token_family (
            \(OAuthTokenFamilyTable.schema(.exceptRetries)),
            PRIMARY KEY (id),
            FOREIGN KEY (grant_id) REFERENCES oauth_grant (id),
            CHECK ((family_secret_digest IS NULL) = (token_digest IS NULL)),
            CHECK ((family_secret_digest IS NULL) = (generation IS NULL)),
            CHECK ((previous_digest IS NULL) = (rotated_at IS NULL))
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX oauth_token_family_by_grant ON oauth_token_family (grant_id);
        CREATE INDEX oauth_token_family_by_end ON oauth_token_family (expires_at);
        CREATE INDEX oauth_token_family_by_google_subject ON oauth_token_family (google_subject)
            WHERE google_subject IS NOT NULL;
        CREATE INDEX oauth_token_family_by_double_sha512 ON oauth_token_family (double_sha512)
            WHERE double_sha512 IS NOT NULL;

        CREATE TABLE oauth_code (
            \(OAuthCodeTable.schema),
            PRIMARY KEY (digest),
            FOREIGN KEY (grant_id) REFERENCES oauth_grant (id),
            CHECK ((challenge IS NULL) = (challenge_is_plain IS NULL)),
            CHECK ((redeemed_at IS NULL) = (family_id IS NULL))
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX oauth_code_by_grant ON oauth_code (grant_id);
        CREATE INDEX oauth_code_by_end ON oauth_code (expires_at);

        -- A consent replaces the row by a row of oauth_code with the same digest.
        CREATE TABLE oauth_device (
            \(OAuthDeviceTable.schema),
            PRIMARY KEY (digest),
            UNIQUE (user_code_digest)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX oauth_device_by_client ON oauth_device (oauth_client);
        CREATE INDEX oauth_device_by_end ON oauth_device (expires_at);

        CREATE TABLE oauth_grant_pace (
            \(OAuthGrantPaceTable.schema(.exceptFamilies)),
            PRIMARY KEY (account_id, oauth_client)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX oauth_grant_pace_by_begin ON oauth_grant_pace (begun_at);

        CREATE TABLE google_event (
            \(GoogleEventTable.schema),
            PRIMARY KEY (jti)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX google_event_by_subject ON google_event (google_subject)
            WHERE google_subject IS NOT NULL;
        CREATE INDEX google_event_by_arrival ON google_event (received_at);
        CREATE INDEX google_event_by_verification ON google_event (verification_state)
            WHERE verification_state IS NOT NULL;

        CREATE TABLE google_account (
            \(GoogleAccountTable.schema),
            PRIMARY KEY (google_subject)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX google_account_by_moment ON google_account (moment) WHERE is_disabled = 0;

        CREATE TABLE signing_key (
            \(SigningKeyTable.schema),
            PRIMARY KEY (key_id)
        ) STRICT;

        """

    /// Keys of App Attest belong to an app, and to no user.
    private static let appAttest = """
        CREATE TABLE app_attest_key (
            \(AppAttestKeyTable.schema),
            PRIMARY KEY (key_id)
        ) STRICT;

        CREATE INDEX app_attest_key_by_use ON app_attest_key (used_at);
        CREATE INDEX app_attest_key_by_refresh ON app_attest_key (receipt_refresh_at)
            WHERE receipt_refresh_at IS NOT NULL;

        CREATE TABLE app_attest_count (
            \(AppAttestCountTable.schema),
            PRIMARY KEY (app_id)
        ) STRICT, WITHOUT ROWID;

        """

    /// Rows of the audit log are only appended, except that an erasure clears the columns about its user, and that
    /// the oldest are deleted after their time. The log has no foreign key: it outlives what it tells of.
    private static let audit = """
        CREATE TABLE audit (
            \(AuditTable.schema),
            PRIMARY KEY (sequence),
            CHECK ((account_id IS NULL) = (salt IS NULL)),
            CHECK (account_id IS NULL OR person_digest IS NOT NULL),
            CHECK (account_id IS NOT NULL OR (token_family IS NULL AND scope IS NULL))
        ) STRICT;

        CREATE INDEX audit_by_account ON audit (account_id, sequence) WHERE account_id IS NOT NULL;
        CREATE INDEX audit_by_time ON audit (recorded_at, sequence);

        CREATE TABLE audit_chain (
            \(AuditChainTable.schema),
            PRIMARY KEY (id)
        ) STRICT;

        INSERT INTO audit_chain (id, last_sequence, last_hash, anchor_sequence, anchor_hash)
        VALUES (1, 0, x'\(AuditLink.beginning.hashText)', 0, x'\(AuditLink.beginning.hashText)');

        CREATE TABLE configuration_fingerprint (
            \(ConfigurationFingerprintTable.schema),
            PRIMARY KEY (item)
        ) STRICT, WITHOUT ROWID;

        """

    private static let rest = """
        CREATE TABLE ticket (
            \(TicketTable.schema),
            PRIMARY KEY (purpose, digest)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX ticket_by_expiry ON ticket (expires_at);

        CREATE TABLE key_set_snapshot (
            \(KeySetSnapshotTable.schema),
            PRIMARY KEY (id)
        ) STRICT;

        -- Written to find out if anything can be written.
        CREATE TABLE health_probe (
            \(HealthProbeTable.schema),
            PRIMARY KEY (id)
        ) STRICT;

        CREATE TABLE app_check_hour (
            \(AppCheckHourTable.schema),
            PRIMARY KEY (target_kind, target, begins_at)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX app_check_hour_by_begin ON app_check_hour (begins_at);

        CREATE TABLE service_hour (
            \(ServiceHourTable.schema),
            PRIMARY KEY (begins_at, replica, name)
        ) STRICT, WITHOUT ROWID;

        -- A claim moves not_before to its end.
        CREATE TABLE event_receiver (
            \(EventReceiverTable.schema),
            PRIMARY KEY (name)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE event_retry (
            \(EventRetryTable.schema),
            PRIMARY KEY (receiver, sequence),
            FOREIGN KEY (receiver) REFERENCES event_receiver (name)
        ) STRICT, WITHOUT ROWID;
        """
}
