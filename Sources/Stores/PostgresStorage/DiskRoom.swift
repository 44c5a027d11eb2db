import AppleAccounts

/// Checks for room on the disk of the database by allocating some: even on a full disk, a row is stored if it
/// replaces another row or fits into the rest of a page.
enum DiskRoom {
    /// Writes a separate file of 1 MiB, which is deleted with the transaction. It is temporary, so it costs
    /// no write-ahead log, and is in the default tablespace of the database.
    private static let take = """
        BEGIN;
        SET LOCAL temp_tablespaces = '';
        CREATE TEMPORARY TABLE siwa_room (filler text) ON COMMIT DROP;
        ALTER TABLE siwa_room ALTER filler SET STORAGE PLAIN;
        INSERT INTO siwa_room SELECT repeat('x', 8000) FROM generate_series(1, 130);
        ROLLBACK
        """

    /// - Throws: `PostgresError` of class 53 when there is no room. A role that may not create temporary
    ///   tables learns nothing here.
    static func require(in session: PostgresSession) throws {
        do {
            try session.execute(script: take, name: "take_room")
        } catch let error as PostgresError where error.sqlState.hasPrefix("42") {
            try session.rollBack()
        }
    }
}
