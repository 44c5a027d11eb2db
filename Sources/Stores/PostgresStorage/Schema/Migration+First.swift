import SQLTables

extension Migration {
    /// All tables, with the columns of their declarations, except those of later migrations, and the constraints
    /// and indexes of this store.
    ///
    /// Teams, apps and clients are named by numbers that are never changed or taken away, so the tables that are written
    /// with every sign-in have no foreign key to them: each would be a share lock on one row that all replicas want at
    /// once.
    static let first = Migration(
        number: 1, minimumReader: 1,
        sql: SharedSchema.names(.postgres) + subjectNumbers
            + SharedSchema.subjects(.postgres, subject: subject, credential: credential) + expectation
            + SharedSchema.inbox(.postgres, eventKeys: eventKeys) + eventCounter
            + SharedSchema.rest(.postgres))

    /// The IDs of subjects, handed out in blocks of as many, so that a row's ID is known before the row is written,
    /// and what refers to it goes along in the same round trip.
    private static let subjectNumbers = "CREATE SEQUENCE subject_block AS bigint INCREMENT BY 1024;\n"

    private static let subject = """
        \(SubjectTable.schema(.postgres)),
            PRIMARY KEY (id),
            UNIQUE (account_id),
            UNIQUE (team_id, sub)
        """

    /// The rows are narrow, have room for their next version on the same page, and are in no index by what changes.
    private static let credential = """
        \(CredentialTable.schema(.postgres)),
            PRIMARY KEY (subject_id, app_id),
            FOREIGN KEY (subject_id) REFERENCES subject (id)
        """

    /// Ends a transaction that did not find what it had seen, so that it is begun again. Inside of the
    /// database, so that the commit need not wait for the client's opinion.
    private static let expectation = """
        CREATE FUNCTION expect_rows(changed bigint, expected bigint) RETURNS void LANGUAGE plpgsql AS $$
            BEGIN
                IF changed <> expected THEN
                    RAISE EXCEPTION 'others were faster' USING ERRCODE = 'serialization_failure';
                END IF;
            END
        $$;

        """

    /// The numbers come from event_counter and not from a sequence, whose numbers become visible out of order and are
    /// lost when a transaction fails.
    private static let eventKeys = """
        PRIMARY KEY (sequence),
            FOREIGN KEY (subject_id) REFERENCES subject (id)
        """

    /// The number of the last event. Its row is locked last in a transaction and until the end of it, so
    /// that the order of the numbers is the order of commit; a transaction that fails gives them back.
    private static let eventCounter = """
        CREATE TABLE event_counter (
            \(EventCounterTable.schema(.postgres)),
            PRIMARY KEY (id)
        ) WITH (fillfactor = 10);

        INSERT INTO event_counter (id, last_sequence) VALUES (1, 0);

        """
}
