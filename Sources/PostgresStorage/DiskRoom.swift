import AppleAccounts

/// Room on the disk of the database, found out by taking some: a row that replaces another one, or fits into
/// the rest of a page, is stored on a full disk too.
enum DiskRoom {
    /// A file of its own, of 1 MiB, which goes away with the transaction. It is temporary, so that it costs no
    /// write-ahead log, and lies where the tables of the database lie by default.
    private static let take = """
        BEGIN;
        SET LOCAL temp_tablespaces = '';
        CREATE TEMPORARY TABLE siwa_room (filler text) ON COMMIT DROP;
        ALTER TABLE siwa_room ALTER filler SET STORAGE PLAIN;
        INSERT INTO siwa_room SELECT repeat('x', 8000) FROM generate_series(1, 130);
        ROLLBACK
        """

    /// - Throws: `PostgresError` of class 53 when there is none. A role that may make no temporary tables
    ///   learns nothing here.
    static func require(in session: PostgresSession) throws {
        do {
            try session.execute(script: take, name: "take_room")
        } catch let error as PostgresError where error.sqlState.hasPrefix("42") {
            try session.rollBack()
        }
    }
}
