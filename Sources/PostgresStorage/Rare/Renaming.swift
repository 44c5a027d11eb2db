import AppleAccounts

/// Gives a subject's row another name.
enum Renaming {
    private static let removeCredentials = PostgresStatement(
        "rename_credentials", "DELETE FROM credential WHERE subject_id = ANY ($1::bigint[])")
    private static let moveEvents = PostgresStatement(
        "rename_events",
        "UPDATE event SET subject_id = $1::bigint WHERE subject_id = $2::bigint AND account_id IS NULL")
    // To delete it would be to search all events for it.
    private static let retireReplaced = PostgresStatement(
        "rename_replaced",
        """
        UPDATE subject SET sub = chr(1) || id, email = NULL, email_is_verified = NULL,
            email_is_private = NULL, email_is_not_private = NULL, email_at = NULL, forwarding = NULL, forwarding_at = NULL
        WHERE id = $1::bigint
        """)
    private static let rename = PostgresStatement(
        "rename",
        """
        UPDATE subject SET team_id = (SELECT id FROM team WHERE name = $2::text), sub = $3::text
        WHERE id = $1::bigint
        """)

    /// All credentials of the row go; the caller saves them anew.
    ///
    /// - Parameter replacedRowID: Of the row that has the name so far, without account.
    static func calls(
        rowID: Int64, to key: SubjectKey, replacing replacedRowID: Int64?
    ) -> [PostgresCall] {
        var calls = [PostgresCall(removeCredentials, [.integers([rowID, replacedRowID])])]
        if let replacedRowID {
            calls.append(PostgresCall(moveEvents, [.integer(rowID), .integer(replacedRowID)]))
            calls.append(PostgresCall(retireReplaced, [.integer(replacedRowID)]))
        }
        calls.append(
            PostgresCall(
                rename, [.integer(rowID), .text(key.team.rawValue), .text(key.subject.rawValue)]))
        return calls
    }
}
