import SQLTables

extension Migration {
    /// Creates all tables with this store's constraints and indexes, and with all declared columns except
    /// those that later migrations add.
    ///
    /// Team, app and client numbers are never changed or reused. So the tables that every sign-in writes have
    /// no foreign keys to them, because each foreign key would need a share lock on a row that all replicas
    /// use concurrently.
    static let first = Migration(
        number: 1, minimumReader: 1,
        sql: SharedSchema.names(.postgres) + subjectNumbers
            + SharedSchema.subjects(.postgres, subject: subject, credential: credential) + expectation
            + SharedSchema.inbox(.postgres, eventKeys: eventKeys) + eventCounter
            + SharedSchema.rest(.postgres))

    /// Assigns subject IDs in blocks of 1024, so that the service knows a row's ID before it writes the row,
    /// and can send dependent rows in the same round trip.
    private static let subjectNumbers = "CREATE SEQUENCE subject_block AS bigint INCREMENT BY 1024;\n"

    private static let subject = """
        \(SubjectTable.schema(.postgres)),
            PRIMARY KEY (id),
            UNIQUE (account_id),
            UNIQUE (team_id, sub)
        """

    /// Rows are narrow, leave room on the page for their next version, and have no index on a changing
    /// column, so that updates are cheap (heap-only tuples).
    private static let credential = """
        \(CredentialTable.schema(.postgres)),
            PRIMARY KEY (subject_id, app_id),
            FOREIGN KEY (subject_id) REFERENCES subject (id)
        """

    /// Aborts a transaction if its rows have changed since the read, so that the service repeats it. The
    /// check runs inside the database, so the commit needs no extra round trip.
    private static let expectation = """
        CREATE FUNCTION expect_rows(changed bigint, expected bigint) RETURNS void LANGUAGE plpgsql AS $$
            BEGIN
                IF changed <> expected THEN
                    RAISE EXCEPTION 'others were faster' USING ERRCODE = 'serialization_failure';
                END IF;
            END
        $$;

        """

    /// The numbers come from `event_counter` instead of a sequence, because a sequence's numbers become
    /// visible out of order, and are lost when a transaction fails.
    private static let eventKeys = """
        PRIMARY KEY (sequence),
            FOREIGN KEY (subject_id) REFERENCES subject (id)
        """

    /// The last event's number. A transaction locks this row last, and keeps the lock until its end, so that
    /// numbers are in commit order and a failed transaction uses no numbers.
    private static let eventCounter = """
        CREATE TABLE event_counter (
            \(EventCounterTable.schema(.postgres)),
            PRIMARY KEY (id)
        ) WITH (fillfactor = 10);

        INSERT INTO event_counter (id, last_sequence) VALUES (1, 0);

        """
}
