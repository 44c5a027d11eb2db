import AppleAccounts

/// Replaces sealed secrets: one statement for each kind, with any number of secrets.
///
/// Rows are locked in the order in which batches lock them: codes by ID, tokens by account and client,
/// erasure entries by ID. A row that is gone or was changed since it was read stays as it is: a newer token
/// must not be overwritten.
enum SealedReplacement {
    private typealias ByID = TypedStatement<[UniqueID], [SealedSecret], [SealedSecret]>

    private static let codes = ByID("reseal_codes") { ids, old, new in
        """
        WITH same AS MATERIALIZED (
            SELECT c.id, change.new FROM authorization_code c
                JOIN unnest(\(ids), \(old), \(new)) change (id, old, new)
                ON change.id = c.id AND change.old = c.sealed
            ORDER BY c.id FOR UPDATE OF c
        )
        UPDATE authorization_code c SET sealed = same.new FROM same WHERE c.id = same.id
        """
    }
    private static let tokens = TypedStatement<[UniqueID], [SealedSecret], [SealedSecret], [ClientID]>(
        "reseal_tokens"
    ) { accounts, old, new, clients in
        """
        WITH same AS MATERIALIZED (
            SELECT t.account_id, t.client_id, change.new FROM refresh_token t
                JOIN client ON client.id = t.client_id
                JOIN unnest(\(accounts), \(old), \(new), \(clients)) change (id, old, new, client)
                ON change.id = t.account_id AND change.client = client.name AND change.old = t.sealed
            ORDER BY t.account_id, t.client_id FOR UPDATE OF t
        )
        UPDATE refresh_token t SET sealed = same.new FROM same
        WHERE t.account_id = same.account_id AND t.client_id = same.client_id
        """
    }
    private static let erasures = ByID("reseal_erasures") { ids, old, new in
        """
        WITH same AS MATERIALIZED (
            SELECT g.id, change.new FROM erasure_token g
                JOIN unnest(\(ids), \(old), \(new)) change (id, old, new)
                ON change.id = g.id AND change.old = g.sealed
            ORDER BY g.id FOR UPDATE OF g
        )
        UPDATE erasure_token g SET sealed = same.new FROM same WHERE g.id = same.id
        """
    }

    /// Returns the number of replaced secrets.
    static func replace(_ changes: [SealedChange], in session: PostgresSession) throws -> Int {
        let calls = SealedCursor.Place.allCases.compactMap { place in
            call(place, changes.filter { $0.row.cursor.place == place })
        }
        guard !calls.isEmpty else { return 0 }
        return try session.pipeline([.begin] + calls + [.commit]).dropFirst().dropLast()
            .reduce(0) { $0 + $1.affected }
    }

    private static func call(_ place: SealedCursor.Place, _ changes: [SealedChange]) -> PostgresCall? {
        guard !changes.isEmpty else { return nil }
        let ids = changes.map(\.row.cursor.id)
        let (old, new) = (changes.map(\.row.sealed), changes.map(\.sealed))
        return switch place {
        case .code: codes(ids, old, new)
        case .token: tokens(ids, old, new, changes.map(\.row.clientID))
        case .erasure: erasures(ids, old, new)
        }
    }
}
