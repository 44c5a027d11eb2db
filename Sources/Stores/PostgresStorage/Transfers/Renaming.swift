import AppleAccounts
import SQLTables

/// Re-keys a subject's row.
enum Renaming {
    private static let removeCredentials = TypedStatement<[Int64?]>("rename_credentials") {
        "DELETE FROM credential WHERE subject_id = ANY (\($0))"
    }
    private static let moveEvents = TypedStatement<Int64, Int64>("rename_events") { row, replaced in
        "UPDATE event SET subject_id = \(row) WHERE subject_id = \(replaced) AND account_id IS NULL"
    }
    // A deletion would have to search all events for the row.
    private static let retireReplaced = TypedStatement<Int64>("rename_replaced") {
        "UPDATE subject SET \(SubjectTable.clearing(subject: "chr(1) || id")) WHERE id = \($0)"
    }
    private static let rename = TypedStatement<Int64, TeamID, String>("rename") { row, team, subject in
        """
        UPDATE subject SET team_id = (SELECT id FROM team WHERE name = \(team)), sub = \(subject)
        WHERE id = \(row)
        """
    }

    /// Deletes all credentials of the row; the caller saves them again.
    ///
    /// - Parameter replacedRowID: ID of the row without account that has the new key so far.
    static func calls(
        rowID: Int64, to key: SubjectKey, replacing replacedRowID: Int64?
    ) -> [PostgresCall] {
        var calls = [removeCredentials([rowID, replacedRowID])]
        if let replacedRowID {
            calls.append(moveEvents(rowID, replacedRowID))
            calls.append(retireReplaced(replacedRowID))
        }
        calls.append(rename(rowID, key.team, key.subject.rawValue))
        return calls
    }
}
