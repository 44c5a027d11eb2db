import AppleAccounts

/// The migration SQL that both databases run. It is never edited after a release.
///
/// The first migration creates all tables with their constraints and indexes, and with all declared columns
/// except those that later migrations add. Times are milliseconds since 1970. Reasons, sources and similar
/// values are stored as `StorageCode` numbers. Text is compared byte by byte.
public enum SharedSchema {
    public static func names(_ sql: SQLDialect) -> String {
        """
        CREATE TABLE team (
            \(TeamTable.schema(sql)),
            PRIMARY KEY (id),
            UNIQUE (name)
        )\(sql.rows())\(sql.identity("team"));

        -- An app by its primary client ID. Number 0 is reserved and stands for all apps of the team.
        CREATE TABLE app (
            \(AppTable.schema(sql)),
            PRIMARY KEY (id),
            UNIQUE (name)
        )\(sql.rows())\(sql.identity("app"));

        -- No client ID has a family feed in it.
        INSERT INTO app (id, name) VALUES (0, \(sql.character(10)));

        -- Client IDs, primary or not, that codes and tokens were issued to.
        CREATE TABLE client (
            \(ClientTable.schema(sql)),
            PRIMARY KEY (id),
            UNIQUE (name)
        )\(sql.rows())\(sql.identity("client"));

        """
    }

    /// Creates subjects and credentials. They are separate tables because every sign-in changes a
    /// `credential`, which is narrow, while a `subject` can be wide.
    ///
    /// A subject whose `sub` begins with U+0001 is a tombstone, or an older, replaced tombstone that only old
    /// events still refer to.
    ///
    /// - Parameters:
    ///   - subject: Columns and keys of the subject table.
    ///   - subjectIndex: An additional index on subjects.
    ///   - credential: Columns and keys of the credential table.
    ///   - credentialIndex: An additional index on credentials.
    public static func subjects(
        _ sql: SQLDialect, subject: String, subjectIndex: String = "", credential: String,
        credentialIndex: String = ""
    ) -> String {
        """
        CREATE TABLE subject (
            \(subject),
            CHECK ((account_id IS NULL) = (created_at IS NULL)),
            CHECK ((email IS NULL) = (email_is_verified IS NULL)),
            CHECK (email IS NOT NULL OR email_is_private IS NULL),
            CHECK ((email IS NULL) = (email_at IS NULL)),
            CHECK (email IS NULL OR unsigned_email IS NULL),
            CHECK ((forwarding IS NULL) = (forwarding_at IS NULL))
        )\(sql.rows(filled: 90));
        \(subjectIndex)
        -- For searches by address, and for Google's streamlined linking. Letters are compared as the stored form has them,
        -- ASCII letters in lower case.
        CREATE INDEX subject_by_email ON subject (lower(email), account_id) WHERE email IS NOT NULL;
        CREATE INDEX subject_by_unsigned_email ON subject (lower(unsigned_email), account_id)
            WHERE unsigned_email IS NOT NULL;
        CREATE INDEX subject_by_first_name ON subject (lower(first_name), account_id)
            WHERE first_name IS NOT NULL;
        CREATE INDEX subject_by_last_name ON subject (lower(last_name), account_id)
            WHERE last_name IS NOT NULL;

        -- The row for app 0 has what ended the credentials for all apps, also for those first seen later, and what
        -- disables the account: it is here, so that a state query reads one place.
        CREATE TABLE credential (
            \(credential),
            CHECK (app_id > 0 OR (authorized_at IS NULL AND last_sign_in_at IS NULL)),
            CHECK ((authorized_at IS NULL) = (authorized_source IS NULL)),
            CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL)),
            CHECK ((revoked_at IS NULL) = (revoked_source IS NULL)),
            CHECK (app_id = 0 OR (disabled_until IS NULL AND sessions_ended_at IS NULL)),
            CHECK ((disabled_until IS NULL) = (disabled_at IS NULL)),
            CHECK ((disabled_until IS NULL) = (disabled_reason IS NULL))
        )\(sql.rows(filled: 80));
        \(credentialIndex)
        -- For the sweep that enables accounts whose time is over.
        CREATE INDEX credential_by_disabled_until ON credential (disabled_until)
            WHERE disabled_until IS NOT NULL;

        -- For searches: the newest users of an app, those with a revocation, and those who are disabled.
        CREATE INDEX credential_by_app ON credential (app_id, subject_id) WHERE app_id > 0;
        CREATE INDEX credential_by_revocation ON credential (app_id, subject_id) WHERE revoked_at IS NOT NULL;
        CREATE INDEX credential_of_disabled ON credential (subject_id) WHERE disabled_until IS NOT NULL;

        CREATE TABLE used_nonce (
            \(UsedNonceTable.schema(sql)),
            PRIMARY KEY (digest)
        )\(sql.keyed);

        CREATE INDEX used_nonce_by_end ON used_nonce (kept_until);

        CREATE TABLE nonce_key (
            \(NonceKeyTable.schema(sql)),
            PRIMARY KEY (id)
        )\(sql.rows());

        """
    }

    /// - Parameter eventKeys: Keys of the event table.
    public static func inbox(_ sql: SQLDialect, eventKeys: String) -> String {
        """
        CREATE TABLE notification (
            \(NotificationTable.schema(sql)),
            PRIMARY KEY (id),
            FOREIGN KEY (app_id) REFERENCES app (id),
            UNIQUE (identifier)
        )\(sql.rows())\(sql.identity("notification"));

        CREATE TABLE notification_event (
            \(NotificationEventTable.schema(sql)),
            PRIMARY KEY (\(sql == .sqlite ? "app_id, sub, type, event_time" : "app_id, sub, event_time, type")),
            FOREIGN KEY (app_id) REFERENCES app (id),
            FOREIGN KEY (notification_id) REFERENCES notification (id)
        )\(sql.keyed);

        CREATE INDEX notification_event_by_notification ON notification_event (notification_id);

        CREATE TABLE event (
            \(EventTable.schema(sql)),
            \(eventKeys)
        )\(sql.rows());

        -- For the rare subject that gets an account which comes from elsewhere: the events of the time when it had none
        -- go with it.
        CREATE INDEX event_without_account ON event (subject_id) WHERE account_id IS NULL;

        -- The events of one account.
        CREATE INDEX event_by_account ON event (account_id, sequence) WHERE account_id IS NOT NULL;

        -- The clients that an account had granted something at the time of an event.
        CREATE INDEX event_of_grant ON event (account_id, oauth_client, sequence) WHERE oauth_client IS NOT NULL;

        """
    }

    /// Returns SQL that creates all other tables.
    public static func rest(_ sql: SQLDialect) -> String {
        grants(sql) + erasures(sql) + oauth(sql) + appAttest(sql) + audit(sql) + workers(sql)
    }

    /// Codes and tokens refer to the account ID instead of the subject's row because they are sealed for the
    /// account, which outlives a transfer and an erasure. The ID is not declared as a foreign key, because
    /// every change of a subject would then have to search for its codes and tokens.
    private static func grants(_ sql: SQLDialect) -> String {
        """
        -- For people who look at one account.
        CREATE TABLE account_history (
            \(AccountHistoryTable.schema(sql)),
            PRIMARY KEY (account_id, number)
        )\(sql.keyed);

        CREATE INDEX account_history_by_time ON account_history (recorded_at);

        -- While a code is claimed, next_attempt_at is the claim's end.
        CREATE TABLE authorization_code (
            \(AuthorizationCodeTable.schema(sql)),
            PRIMARY KEY (id),
            FOREIGN KEY (client_id) REFERENCES client (id),
            FOREIGN KEY (app_id) REFERENCES app (id)
        )\(sql.keyed);

        CREATE INDEX authorization_code_by_account ON authorization_code (account_id);
        CREATE INDEX authorization_code_by_attempt ON authorization_code (next_attempt_at);

        -- The newest token of each account and client ID.
        CREATE TABLE refresh_token (
            \(RefreshTokenTable.schema(sql)),
            PRIMARY KEY (account_id, client_id),
            FOREIGN KEY (client_id) REFERENCES client (id),
            FOREIGN KEY (app_id) REFERENCES app (id)
        )\(sql.keyed);

        CREATE INDEX refresh_token_by_check ON refresh_token (next_check_at);
        -- For numbers about checks that fail. Mostly empty.
        CREATE INDEX refresh_token_unchecked ON refresh_token (unchecked_since) WHERE unchecked_since IS NOT NULL;

        """
    }

    private static func erasures(_ sql: SQLDialect) -> String {
        """
        CREATE TABLE erasure (
            \(ErasureTable.schema(sql)),
            PRIMARY KEY (id),
            FOREIGN KEY (team_id) REFERENCES team (id),
            UNIQUE (account_id)
        )\(sql.keyed);

        CREATE INDEX erasure_unfinished ON erasure (requested_at) WHERE finished_at IS NULL;

        CREATE TABLE erasure_app (
            \(ErasureAppTable.schema(sql)),
            PRIMARY KEY (erasure_id, app_id),
            FOREIGN KEY (erasure_id) REFERENCES erasure (id),
            FOREIGN KEY (app_id) REFERENCES app (id)
        )\(sql.keyed);

        -- Steps: 1 exchange, 2 revoke, 3 prove, 4 done.
        CREATE TABLE erasure_token (
            \(ErasureTokenTable.schema(sql)),
            PRIMARY KEY (id),
            FOREIGN KEY (erasure_id) REFERENCES erasure (id),
            FOREIGN KEY (client_id) REFERENCES client (id),
            FOREIGN KEY (app_id) REFERENCES app (id),
            CHECK ((step = 4) = (outcome IS NOT NULL)),
            CHECK (step < 4 OR sealed IS NULL)
        )\(sql.keyed);

        CREATE INDEX erasure_token_by_erasure ON erasure_token (erasure_id);
        CREATE INDEX erasure_token_by_attempt ON erasure_token (next_attempt_at) WHERE step < 4;

        -- What another team told of an account that is to come.
        CREATE TABLE transfer (
            \(TransferTable.schema(sql)),
            PRIMARY KEY (team_id, transfer_sub),
            FOREIGN KEY (team_id) REFERENCES team (id)
        )\(sql.keyed);

        CREATE INDEX transfer_by_account ON transfer (account_id);
        CREATE INDEX transfer_by_expiry ON transfer (expires_at);

        """
    }

    /// OAuth grants refer to the account ID and the app, because a transfer changes neither. The ID is not
    /// declared as a foreign key, because every change of a subject would then have to search for its grants.
    private static func oauth(_ sql: SQLDialect) -> String {
        """
        CREATE TABLE oauth_grant (
            \(OAuthGrantTable.schema(sql)),
            PRIMARY KEY (id),
            FOREIGN KEY (app_id) REFERENCES app (id),
            UNIQUE (account_id, oauth_client)
        )\(sql.keyed);

        CREATE TABLE oauth_token_family (
            \(OAuthTokenFamilyTable.schema(sql, .exceptRetries)),
            PRIMARY KEY (id),
            FOREIGN KEY (grant_id) REFERENCES oauth_grant (id),
            CHECK ((family_secret_digest IS NULL) = (token_digest IS NULL)),
            CHECK ((family_secret_digest IS NULL) = (generation IS NULL)),
            CHECK ((previous_digest IS NULL) = (rotated_at IS NULL))
        )\(sql.keyed);

        CREATE INDEX oauth_token_family_by_grant ON oauth_token_family (grant_id);
        CREATE INDEX oauth_token_family_by_end ON oauth_token_family (expires_at);
        CREATE INDEX oauth_token_family_by_google_subject ON oauth_token_family (google_subject)
            WHERE google_subject IS NOT NULL;
        CREATE INDEX oauth_token_family_by_double_sha512 ON oauth_token_family (double_sha512)
            WHERE double_sha512 IS NOT NULL;

        CREATE TABLE oauth_code (
            \(OAuthCodeTable.schema(sql)),
            PRIMARY KEY (digest),
            FOREIGN KEY (grant_id) REFERENCES oauth_grant (id),
            CHECK ((challenge IS NULL) = (challenge_is_plain IS NULL)),
            CHECK ((redeemed_at IS NULL) = (family_id IS NULL))
        )\(sql.keyed);

        CREATE INDEX oauth_code_by_grant ON oauth_code (grant_id);
        CREATE INDEX oauth_code_by_end ON oauth_code (expires_at);

        -- A consent replaces the row by a row of oauth_code with the same digest.
        CREATE TABLE oauth_device (
            \(OAuthDeviceTable.schema(sql)),
            PRIMARY KEY (digest),
            UNIQUE (user_code_digest)
        )\(sql.keyed);

        CREATE INDEX oauth_device_by_client ON oauth_device (oauth_client);
        CREATE INDEX oauth_device_by_end ON oauth_device (expires_at);

        CREATE TABLE oauth_grant_pace (
            \(OAuthGrantPaceTable.schema(sql, .exceptFamilies)),
            PRIMARY KEY (account_id, oauth_client)
        )\(sql.keyed);

        CREATE INDEX oauth_grant_pace_by_begin ON oauth_grant_pace (begun_at);

        CREATE TABLE google_event (
            \(GoogleEventTable.schema(sql)),
            PRIMARY KEY (jti)
        )\(sql.keyed);

        CREATE INDEX google_event_by_subject ON google_event (google_subject)
            WHERE google_subject IS NOT NULL;
        CREATE INDEX google_event_by_arrival ON google_event (received_at);
        CREATE INDEX google_event_by_verification ON google_event (verification_state)
            WHERE verification_state IS NOT NULL;

        CREATE TABLE google_account (
            \(GoogleAccountTable.schema(sql)),
            PRIMARY KEY (google_subject)
        )\(sql.keyed);

        CREATE INDEX google_account_by_moment ON google_account (moment) WHERE \(sql.isFalse("is_disabled"));

        CREATE TABLE signing_key (
            \(SigningKeyTable.schema(sql)),
            PRIMARY KEY (key_id)
        )\(sql.rows());

        """
    }

    /// App Attest keys belong to an app, not to a user.
    private static func appAttest(_ sql: SQLDialect) -> String {
        """
        CREATE TABLE app_attest_key (
            \(AppAttestKeyTable.schema(sql)),
            PRIMARY KEY (key_id)
        )\(sql.rows());

        CREATE INDEX app_attest_key_by_use ON app_attest_key (used_at);
        CREATE INDEX app_attest_key_by_refresh ON app_attest_key (receipt_refresh_at)
            WHERE receipt_refresh_at IS NOT NULL;

        CREATE TABLE app_attest_count (
            \(AppAttestCountTable.schema(sql)),
            PRIMARY KEY (app_id)
        )\(sql.keyed);

        """
    }

    /// The service only appends to the audit log, with two exceptions: an erasure clears the columns about
    /// its user, and a purge deletes the oldest rows. The log has no foreign keys, because it outlives the
    /// rows that it refers to.
    private static func audit(_ sql: SQLDialect) -> String {
        let head = sql.bytes(hexadecimal: AuditLink.beginning.hashText)
        return """
            CREATE TABLE audit (
                \(AuditTable.schema(sql)),
                PRIMARY KEY (sequence),
                CHECK ((account_id IS NULL) = (salt IS NULL)),
                CHECK (account_id IS NULL OR person_digest IS NOT NULL),
                CHECK (account_id IS NOT NULL OR (token_family IS NULL AND scope IS NULL))
            )\(sql.rows());

            CREATE INDEX audit_by_account ON audit (account_id, sequence) WHERE account_id IS NOT NULL;
            CREATE INDEX audit_by_time ON audit (recorded_at, sequence);

            CREATE TABLE audit_chain (
                \(AuditChainTable.schema(sql)),
                PRIMARY KEY (id)
            )\(sql.rows());

            INSERT INTO audit_chain (id, last_sequence, last_hash, anchor_sequence, anchor_hash)
            VALUES (1, 0, \(head), 0, \(head));

            CREATE TABLE configuration_fingerprint (
                \(ConfigurationFingerprintTable.schema(sql)),
                PRIMARY KEY (item)
            )\(sql.keyed);

            """
    }

    private static func workers(_ sql: SQLDialect) -> String {
        """
        CREATE TABLE ticket (
            \(TicketTable.schema(sql)),
            PRIMARY KEY (purpose, digest)
        )\(sql.keyed);

        CREATE INDEX ticket_by_expiry ON ticket (expires_at);

        CREATE TABLE key_set_snapshot (
            \(KeySetSnapshotTable.schema(sql)),
            PRIMARY KEY (id)
        )\(sql.rows());

        -- Written to find out if anything can be written.
        CREATE TABLE health_probe (
            \(HealthProbeTable.schema(sql)),
            PRIMARY KEY (id)
        )\(sql.rows());

        CREATE TABLE app_check_hour (
            \(AppCheckHourTable.schema(sql)),
            PRIMARY KEY (target_kind, target, begins_at)
        )\(sql.keyed);

        CREATE INDEX app_check_hour_by_begin ON app_check_hour (begins_at);

        CREATE TABLE service_hour (
            \(ServiceHourTable.schema(sql)),
            PRIMARY KEY (begins_at, replica, name)
        )\(sql.keyed);

        -- A claim moves not_before to its end.
        CREATE TABLE event_receiver (
            \(EventReceiverTable.schema(sql)),
            PRIMARY KEY (name)
        )\(sql.keyed);

        CREATE TABLE event_retry (
            \(EventRetryTable.schema(sql)),
            PRIMARY KEY (receiver, sequence),
            FOREIGN KEY (receiver) REFERENCES event_receiver (name)
        )\(sql.keyed);
        """
    }

    /// The third migration: indexes that match the complete sort order of claims. The earlier indexes covered
    /// only the time, so each claim had to sort all rows due in the same millisecond. The index by client ID
    /// lets claims skip paused client IDs.
    public static let claimOrders = """
        DROP INDEX authorization_code_by_attempt;
        CREATE INDEX authorization_code_by_attempt ON authorization_code (next_attempt_at, id);

        CREATE INDEX refresh_token_by_client ON refresh_token (client_id, next_check_at, account_id);

        DROP INDEX erasure_token_by_attempt;
        CREATE INDEX erasure_token_by_attempt ON erasure_token (next_attempt_at, id) WHERE step < 4;

        DROP INDEX app_attest_key_by_refresh;
        CREATE INDEX app_attest_key_by_refresh ON app_attest_key (receipt_refresh_at, key_id)
            WHERE receipt_refresh_at IS NOT NULL;
        """
}
