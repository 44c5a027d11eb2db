public import AppleAccounts

/// Statements that list all sealed secrets in key order, and replace them; for both databases.
///
/// The walk reads one table after another, each in its current state, so if a secret moves to a later table
/// in the meantime, the walk finds it there.
private enum SealedStatements {
    /// The columns of the walk's three statements.
    struct Columns: Sendable {
        let id: Column<UniqueID>
        let accountID: Column<AccountID>
        let client: Column<ClientID>
        let sealed: Column<SealedSecret>
        let kind: Column<SealedPurpose>

        /// - Parameters:
        ///   - id: SQL for the cursor's ID.
        ///   - row: The table's alias.
        ///   - kind: SQL for the purpose code.
        init(_ list: inout SelectList, id: String, account: String, row: String, kind: String) {
            self.id = list.add(id, UniqueID.self, as: "id")
            accountID = list.add(account, AccountID.self, as: "account_id")
            client = list.add(
                "(SELECT name FROM client WHERE id = \(row).client_id)", ClientID.self, as: "client")
            sealed = list.add("\(row).sealed", SealedSecret.self, as: "sealed")
            self.kind = list.add(kind, SealedPurpose.self, as: "kind")
        }
    }

    private static func code(_ purpose: SealedPurpose) -> String { "CAST(\(purpose.storageCode) AS bigint)" }

    static let codes = SQLStatement<Columns, UniqueID, Int64>("sealed_codes") {
        Columns(&$0, id: "c.id", account: "c.account_id", row: "c", kind: code(.authorizationCode))
    } sql: { _, list, start, limit in
        "SELECT \(list) FROM authorization_code AS c WHERE c.id > \(start) ORDER BY c.id LIMIT \(limit)"
    }
    static let tokens = SQLStatement<Columns, UniqueID, Int64, ClientID>("sealed_tokens") {
        Columns(&$0, id: "t.account_id", account: "t.account_id", row: "t", kind: code(.refreshToken))
    } sql: { _, list, start, limit, startClient in
        """
        SELECT \(list) FROM refresh_token AS t
        WHERE (t.account_id, t.client_id) >
            (\(start), coalesce((SELECT id FROM client WHERE name = \(startClient)), 0))
        ORDER BY t.account_id, t.client_id LIMIT \(limit)
        """
    }
    static let erasures = SQLStatement<Columns, UniqueID, Int64>("sealed_erasures") {
        Columns(&$0, id: "g.id", account: "e.account_id", row: "g", kind: "g.kind")
    } sql: { _, list, start, limit in
        """
        SELECT \(list) FROM erasure_token AS g JOIN erasure AS e ON e.id = g.erasure_id
        WHERE g.id > \(start) AND g.sealed IS NOT NULL ORDER BY g.id LIMIT \(limit)
        """
    }
    static let count = SQLStatement<Void>("sealed_count") { _ in
        """
        SELECT (SELECT count(*) FROM authorization_code) + (SELECT count(*) FROM refresh_token)
            + (SELECT count(*) FROM erasure_token WHERE sealed IS NOT NULL)
        """
    }
    static let replaceCode = SQLStatement<Void, UniqueID, SealedSecret, SealedSecret>("reseal_code") {
        _, id, old, new in
        "UPDATE authorization_code SET sealed = \(new) WHERE id = \(id) AND sealed = \(old)"
    }
    static let replaceToken = SQLStatement<Void, UniqueID, SealedSecret, SealedSecret, ClientID>(
        "reseal_token"
    ) { _, account, old, new, client in
        """
        UPDATE refresh_token SET sealed = \(new) WHERE account_id = \(account) AND sealed = \(old)
            AND client_id = (SELECT id FROM client WHERE name = \(client))
        """
    }
    static let replaceErasure = SQLStatement<Void, UniqueID, SealedSecret, SealedSecret>("reseal_erasure") {
        _, id, old, new in
        "UPDATE erasure_token SET sealed = \(new) WHERE id = \(id) AND sealed = \(old)"
    }
}

extension SQLReader {
    public func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow] {
        try await snapshot { session in
            var found: [SealedRow] = []
            for place in SealedCursor.Place.allCases where place.rawValue >= cursor?.place.rawValue ?? 0 {
                let left = Int64(limit - found.count)
                guard left > 0 else { break }
                let cursor = cursor?.place == place ? cursor : nil
                // Every ID is greater than zero, so a walk without a cursor starts at the first row.
                let start = cursor?.id ?? UniqueID(high: 0, low: 0)
                let (call, columns) =
                    switch place {
                    case .code: (SealedStatements.codes(start, left), SealedStatements.codes.columns)
                    case .token:
                        (
                            SealedStatements.tokens(start, left, cursor?.clientID),
                            SealedStatements.tokens.columns
                        )
                    case .erasure: (SealedStatements.erasures(start, left), SealedStatements.erasures.columns)
                    }
                found += try session.rows(call) { row in
                    let clientID = try row.required(columns.client)
                    return SealedRow(
                        cursor: SealedCursor(
                            place: place, id: try row.required(columns.id),
                            clientID: place == .token ? clientID : nil),
                        purpose: try row.requiredCode(columns.kind),
                        accountID: try row.required(columns.accountID), clientID: clientID,
                        sealed: try row.required(columns.sealed))
                }
            }
            return found
        }
    }
}

extension AppleTokenStore where Self: SQLStore {
    public func sealedCount() async throws -> Int {
        try await snapshot { Int(try $0.value(SealedStatements.count(), as: Int64.self) ?? 0) }
    }

    /// Locks rows in the order of the walk, which is also the lock order of batches. Skips rows that were
    /// deleted or changed since they were read, because a newer token must not be overwritten.
    public func replaceSealed(_ changes: [SealedChange]) async throws -> Int {
        let calls = SealedCursor.Place.allCases.flatMap { place in
            changes.filter { $0.row.cursor.place == place }.map { change in
                let (row, id) = (change.row, change.row.cursor.id)
                return switch place {
                case .code: SealedStatements.replaceCode(id, row.sealed, change.sealed)
                case .token: SealedStatements.replaceToken(id, row.sealed, change.sealed, row.clientID)
                case .erasure: SealedStatements.replaceErasure(id, row.sealed, change.sealed)
                }
            }
        }
        return try await transaction { try $0.run(calls) }
    }
}
