import SQLTables

/// The tables of accounts, in the first migration.
extension Migration {
    static let names = """
        CREATE TABLE team (
            \(TeamTable.schema),
            PRIMARY KEY (id),
            UNIQUE (name)
        ) STRICT;

        -- An app by its primary client ID. Number 0 is reserved and stands for all apps of the team.
        CREATE TABLE app (
            \(AppTable.schema),
            PRIMARY KEY (id),
            UNIQUE (name)
        ) STRICT;

        -- No client ID has a family feed in it.
        INSERT INTO app (id, name) VALUES (0, char(10));

        -- Client IDs, primary or not, that codes and tokens were issued to.
        CREATE TABLE client (
            \(ClientTable.schema),
            PRIMARY KEY (id),
            UNIQUE (name)
        ) STRICT;

        """

    /// `credential` changes with every sign-in. Its rows are all integers, so that a sign-in writes some 40 bytes;
    /// `subject` is as wide as it needs to be.
    ///
    /// Subjects are found by a digest. An index of Apple's names has a page for 50 users, and with millions of them the
    /// pages that lead to those are too many to stay in memory. Of digests there are more than twice as many in a page,
    /// so most look-ups read one page less.
    ///
    /// The number of a credential comes from the digest of its user's key, so a state query reads one page, and not one
    /// of an index first. Rows with numbers have the slimmest pages above them: those of ten million users stay in four
    /// megabytes of memory. Such a page may keep a number whose row was deleted: 48 bits of a hash, from which no user
    /// can be guessed.
    ///
    /// A subject's `sub` that begins with U+0001 is a tombstone, or an older tombstone that was replaced: a row that only
    /// old events refer to.
    static let subjects = """
        CREATE TABLE subject (
            \(SQLiteSubjectTable.schema),
            PRIMARY KEY (id),
            FOREIGN KEY (team_id) REFERENCES team (id),
            UNIQUE (account_id),
            CHECK ((account_id IS NULL) = (created_at IS NULL)),
            CHECK ((email IS NULL) = (email_is_verified IS NULL)),
            CHECK (email IS NOT NULL OR email_is_private IS NULL),
            CHECK ((email IS NULL) = (email_at IS NULL)),
            CHECK (email IS NULL OR unsigned_email IS NULL),
            CHECK ((forwarding IS NULL) = (forwarding_at IS NULL))
        ) STRICT;

        CREATE UNIQUE INDEX subject_by_key ON subject (key_digest);
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
            \(SQLiteCredentialTable.schema),
            PRIMARY KEY (id),
            FOREIGN KEY (subject_id) REFERENCES subject (id),
            FOREIGN KEY (app_id) REFERENCES app (id),
            -- The 16 bits of the number that count have room for all apps of two users who share the other 48.
            CHECK (app_id BETWEEN 0 AND 32767),
            CHECK (app_id > 0 OR (authorized_at IS NULL AND last_sign_in_at IS NULL)),
            CHECK ((authorized_at IS NULL) = (authorized_source IS NULL)),
            CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL)),
            CHECK ((revoked_at IS NULL) = (revoked_source IS NULL)),
            CHECK (app_id = 0 OR (disabled_until IS NULL AND sessions_ended_at IS NULL)),
            CHECK ((disabled_until IS NULL) = (disabled_at IS NULL)),
            CHECK ((disabled_until IS NULL) = (disabled_reason IS NULL))
        ) STRICT;

        CREATE UNIQUE INDEX credential_by_subject ON credential (subject_id, app_id);
        -- For the sweep that enables accounts whose time is over.
        CREATE INDEX credential_by_disabled_until ON credential (disabled_until)
            WHERE disabled_until IS NOT NULL;

        -- For searches: the newest users of an app, those with a revocation, and those who are disabled.
        CREATE INDEX credential_by_app ON credential (app_id, subject_id) WHERE app_id > 0;
        CREATE INDEX credential_by_revocation ON credential (app_id, subject_id) WHERE revoked_at IS NOT NULL;
        CREATE INDEX credential_of_disabled ON credential (subject_id) WHERE disabled_until IS NOT NULL;

        CREATE TABLE used_nonce (
            \(UsedNonceTable.schema),
            PRIMARY KEY (digest)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX used_nonce_by_end ON used_nonce (kept_until);

        CREATE TABLE nonce_key (
            \(NonceKeyTable.schema),
            PRIMARY KEY (id)
        ) STRICT;

        """

    static let inbox = """
        CREATE TABLE notification (
            \(NotificationTable.schema),
            PRIMARY KEY (id),
            FOREIGN KEY (app_id) REFERENCES app (id),
            UNIQUE (identifier)
        ) STRICT;

        CREATE TABLE notification_event (
            \(NotificationEventTable.schema),
            PRIMARY KEY (app_id, sub, type, event_time),
            FOREIGN KEY (app_id) REFERENCES app (id),
            FOREIGN KEY (notification_id) REFERENCES notification (id)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX notification_event_by_notification ON notification_event (notification_id);

        -- A sequence number is never given twice, also when old events are removed one day.
        CREATE TABLE event (
            \(EventTable.schema),
            PRIMARY KEY (sequence AUTOINCREMENT),
            FOREIGN KEY (subject_id) REFERENCES subject (id),
            FOREIGN KEY (app_id) REFERENCES app (id)
        ) STRICT;

        -- For the rare subject that gets an account which comes from elsewhere: the events of the time when it had none
        -- go with it.
        CREATE INDEX event_without_account ON event (subject_id) WHERE account_id IS NULL;

        -- The events of one account.
        CREATE INDEX event_by_account ON event (account_id, sequence) WHERE account_id IS NOT NULL;

        -- The clients that an account had granted something at the time of an event.
        CREATE INDEX event_of_grant ON event (account_id, oauth_client, sequence) WHERE oauth_client IS NOT NULL;

        """

    /// Codes and tokens refer to the account's ID and not to the subject's row: what they are sealed with names the
    /// account, and the account outlives a transfer and an erasure. The ID is not declared as a foreign key, because
    /// every change of a subject would then have to look for them.
    static let grants = """
        -- For people who look at one account.
        CREATE TABLE account_history (
            \(AccountHistoryTable.schema),
            PRIMARY KEY (account_id, number)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX account_history_by_time ON account_history (recorded_at);

        -- While a code is claimed, next_attempt_at is the claim's end.
        CREATE TABLE authorization_code (
            \(AuthorizationCodeTable.schema),
            PRIMARY KEY (id),
            FOREIGN KEY (client_id) REFERENCES client (id),
            FOREIGN KEY (app_id) REFERENCES app (id)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX authorization_code_by_account ON authorization_code (account_id);
        CREATE INDEX authorization_code_by_attempt ON authorization_code (next_attempt_at);

        -- The newest token of each account and client ID.
        CREATE TABLE refresh_token (
            \(RefreshTokenTable.schema),
            PRIMARY KEY (account_id, client_id),
            FOREIGN KEY (client_id) REFERENCES client (id),
            FOREIGN KEY (app_id) REFERENCES app (id)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX refresh_token_by_check ON refresh_token (next_check_at);
        -- For numbers about checks that fail. Mostly empty.
        CREATE INDEX refresh_token_unchecked ON refresh_token (unchecked_since) WHERE unchecked_since IS NOT NULL;

        """

    static let erasures = """
        CREATE TABLE erasure (
            \(ErasureTable.schema),
            PRIMARY KEY (id),
            FOREIGN KEY (team_id) REFERENCES team (id),
            UNIQUE (account_id)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX erasure_unfinished ON erasure (requested_at) WHERE finished_at IS NULL;

        CREATE TABLE erasure_app (
            \(ErasureAppTable.schema),
            PRIMARY KEY (erasure_id, app_id),
            FOREIGN KEY (erasure_id) REFERENCES erasure (id),
            FOREIGN KEY (app_id) REFERENCES app (id)
        ) STRICT, WITHOUT ROWID;

        -- Steps: 1 exchange, 2 revoke, 3 prove, 4 done.
        CREATE TABLE erasure_token (
            \(ErasureTokenTable.schema),
            PRIMARY KEY (id),
            FOREIGN KEY (erasure_id) REFERENCES erasure (id),
            FOREIGN KEY (client_id) REFERENCES client (id),
            FOREIGN KEY (app_id) REFERENCES app (id),
            CHECK ((step = 4) = (outcome IS NOT NULL)),
            CHECK (step < 4 OR sealed IS NULL)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX erasure_token_by_erasure ON erasure_token (erasure_id);
        CREATE INDEX erasure_token_by_attempt ON erasure_token (next_attempt_at) WHERE step < 4;

        -- What another team told of an account that is to come.
        CREATE TABLE transfer (
            \(TransferTable.schema),
            PRIMARY KEY (team_id, transfer_sub),
            FOREIGN KEY (team_id) REFERENCES team (id)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX transfer_by_account ON transfer (account_id);
        CREATE INDEX transfer_by_expiry ON transfer (expires_at);

        """

    /// OAuth grants refer to the account's ID and to the app, which a transfer does not change. The ID is not declared
    /// as a foreign key, because every change of a subject would then have to look for them.
}
