import SQLTables

extension Migration {
    /// Creates all tables with this store's constraints and indexes, and with all declared columns except
    /// those that later migrations add.
    static let first = Migration(
        number: 1,
        sql: SharedSchema.names(.sqlite)
            + SharedSchema.subjects(
                .sqlite, subject: subject,
                subjectIndex: "CREATE UNIQUE INDEX subject_by_key ON subject (key_digest);",
                credential: credential,
                credentialIndex:
                    "CREATE UNIQUE INDEX credential_by_subject ON credential (subject_id, app_id);")
            + SharedSchema.inbox(.sqlite, eventKeys: eventKeys) + SharedSchema.rest(.sqlite))

    /// Subjects are found by a digest. If Apple's names were indexed, an index page would hold only 50 users,
    /// and with millions of users the inner pages would be too many to stay in memory. A page holds more than
    /// twice as many digests, so most look-ups read one page less.
    private static let subject = """
        \(SQLiteSubjectTable.schema(.sqlite)),
            PRIMARY KEY (id),
            FOREIGN KEY (team_id) REFERENCES team (id),
            UNIQUE (account_id)
        """

    /// All columns are integers, so a sign-in writes only some 40 bytes.
    ///
    /// A credential's number is derived from the digest of its user's key, so a state query reads one page,
    /// without an index page first. Rows with numbers have the smallest inner pages: with ten million users
    /// they need four megabytes of memory. Such a page may keep the number of a deleted row: 48 bits of a
    /// hash, which do not reveal the user.
    private static let credential = """
        \(SQLiteCredentialTable.schema(.sqlite)),
            PRIMARY KEY (id),
            FOREIGN KEY (subject_id) REFERENCES subject (id),
            FOREIGN KEY (app_id) REFERENCES app (id),
            -- The 16 bits of the number that count have room for all apps of two users who share the other 48.
            CHECK (app_id BETWEEN 0 AND 32767)
        """

    /// Sequence numbers are never reused, even if old events are removed.
    private static let eventKeys = """
        PRIMARY KEY (sequence AUTOINCREMENT),
            FOREIGN KEY (subject_id) REFERENCES subject (id),
            FOREIGN KEY (app_id) REFERENCES app (id)
        """
}
