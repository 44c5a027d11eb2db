import SQLTables

extension Migration {
    /// Creates all tables, with the columns of their declarations except columns of later migrations, and the
    /// constraints and indexes of this store.
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

    /// Subjects are found by a digest. In an index of Apple's names a page has room for 50 users, and with
    /// millions of users the inner pages are too many to stay in memory. A page has room for more than twice
    /// as many digests, so most look-ups read one page less.
    private static let subject = """
        \(SQLiteSubjectTable.schema(.sqlite)),
            PRIMARY KEY (id),
            FOREIGN KEY (team_id) REFERENCES team (id),
            UNIQUE (account_id)
        """

    /// The rows are all integers, so that a sign-in writes some 40 bytes.
    ///
    /// The number of a credential is derived from the digest of its user's key, so a state query reads one
    /// page, without an index page first. Rows with numbers have the smallest inner pages: with ten million
    /// users they need four megabytes of memory. Such a page may keep a number whose row was deleted: 48 bits
    /// of a hash, which do not reveal the user.
    private static let credential = """
        \(SQLiteCredentialTable.schema(.sqlite)),
            PRIMARY KEY (id),
            FOREIGN KEY (subject_id) REFERENCES subject (id),
            FOREIGN KEY (app_id) REFERENCES app (id),
            -- The 16 bits of the number that count have room for all apps of two users who share the other 48.
            CHECK (app_id BETWEEN 0 AND 32767)
        """

    /// A sequence number is never reused, even if old events are removed.
    private static let eventKeys = """
        PRIMARY KEY (sequence AUTOINCREMENT),
            FOREIGN KEY (subject_id) REFERENCES subject (id),
            FOREIGN KEY (app_id) REFERENCES app (id)
        """
}
