import AppleAccounts
import Foundation
import GRDB
import SQLTables

/// Walks all sealed secrets in the order of their keys.
final class SealedRows {
    /// One of the three statements. They have the same parameters and columns.
    private struct Source {
        let statement: PreparedStatement
        let start: Parameter<UniqueID>
        let limit: Parameter<Int64>
        let startClient: Parameter<Int64>
        let id: Column<UniqueID>
        let accountID: Column<AccountID>
        let client: Column<Int64>
        let sealed: Column<SealedSecret>
        let kind: Column<SealedPurpose>

        /// - Parameters:
        ///   - id: SQL of the cursor's ID.
        ///   - kind: SQL of the code of the purpose.
        init(
            id: String, account: String, alias: String, kind: String, in database: Database,
            from: (_ start: String, _ startClient: String, _ limit: String) -> String
        ) throws {
            var parameters = ParameterList()
            start = parameters.add(UniqueID.self)
            limit = parameters.add(Int64.self)
            startClient = parameters.add(Int64.self)
            var list = SelectList()
            self.id = list.add(id, UniqueID.self, as: "id")
            accountID = list.add(account, AccountID.self, as: "account_id")
            client = list.add("\(alias).client_id", Int64.self, as: "client_id")
            sealed = list.add("\(alias).sealed", SealedSecret.self, as: "sealed")
            self.kind = list.add(kind, SealedPurpose.self, as: "kind")
            statement = try PreparedStatement(
                "SELECT \(list) " + from("\(start)", "\(startClient)", "\(limit)"), in: database)
        }
    }

    private let names: Names
    private let codes: Source
    private let tokens: Source
    private let erasures: Source

    init(_ names: Names, in database: Database) throws {
        self.names = names
        codes = try Source(
            id: "c.id", account: "c.account_id", alias: "c",
            kind: "\(SealedPurpose.authorizationCode.storageCode)", in: database
        ) { start, _, limit in
            "FROM authorization_code c WHERE c.id > \(start) ORDER BY c.id LIMIT \(limit)"
        }
        tokens = try Source(
            id: "t.account_id", account: "t.account_id", alias: "t",
            kind: "\(SealedPurpose.refreshToken.storageCode)", in: database
        ) { start, startClient, limit in
            """
            FROM refresh_token t WHERE (t.account_id, t.client_id) > (\(start), \(startClient))
            ORDER BY t.account_id, t.client_id LIMIT \(limit)
            """
        }
        erasures = try Source(
            id: "g.id", account: "e.account_id", alias: "g", kind: "g.kind", in: database
        ) { start, _, limit in
            """
            FROM erasure_token g JOIN erasure e ON e.id = g.erasure_id
            WHERE g.id > \(start) AND g.sealed IS NOT NULL ORDER BY g.id LIMIT \(limit)
            """
        }
    }

    func page(after cursor: SealedCursor?, limit: Int) throws -> [SealedRow] {
        var rows: [SealedRow] = []
        for place in SealedCursor.Place.allCases where place.rawValue >= cursor?.place.rawValue ?? 0 {
            let start = cursor?.place == place ? cursor : nil
            try read(place, after: start, limit: limit - rows.count, into: &rows)
        }
        return rows
    }

    private func read(
        _ place: SealedCursor.Place, after cursor: SealedCursor?, limit: Int, into rows: inout [SealedRow]
    ) throws {
        guard limit > 0 else { return }
        let source =
            switch place {
            case .code: codes
            case .token: tokens
            case .erasure: erasures
            }
        let statement = source.statement
        statement.begin()
        // Every ID is greater than zero.
        statement.bind(cursor?.id ?? UniqueID(high: 0, low: 0), to: source.start)
        statement.bind(Int64(limit), to: source.limit)
        if place == .token {
            let client = try cursor?.clientID.flatMap { try names.clients.number(of: $0) }
            statement.bind(client ?? 0, to: source.startClient)
        }
        defer { statement.finish() }
        while try statement.step() {
            let id = try statement.required(source.id)
            let clientID = try names.clients.name(of: statement.required(source.client))
            rows.append(
                SealedRow(
                    cursor: SealedCursor(place: place, id: id, clientID: place == .token ? clientID : nil),
                    purpose: try statement.requiredCode(source.kind),
                    accountID: try statement.required(source.accountID), clientID: clientID,
                    sealed: try statement.required(source.sealed)))
        }
    }
}

/// Replaces sealed secrets. Runs in its caller's transaction.
struct SealedReplacement {
    let database: Database

    /// Returns `false` when the row is gone or was changed since it was read: a newer token must not be
    /// overwritten.
    func replace(_ change: SealedChange) throws -> Bool {
        let row = change.row
        let (new, old, id) = (Data(change.sealed.bytes), Data(row.sealed.bytes), row.cursor.id.data)
        switch row.cursor.place {
        case .code:
            try execute(
                "UPDATE authorization_code SET sealed = :new WHERE id = :id AND sealed = :old",
                ["new": new, "id": id, "old": old])
        case .token:
            try execute(
                """
                UPDATE refresh_token SET sealed = :new WHERE account_id = :id AND sealed = :old
                    AND client_id = (SELECT id FROM client WHERE name = :client)
                """, ["new": new, "id": id, "old": old, "client": row.clientID.rawValue])
        case .erasure:
            try execute(
                "UPDATE erasure_token SET sealed = :new WHERE id = :id AND sealed = :old",
                ["new": new, "id": id, "old": old])
        }
        return database.changesCount > 0
    }

    private func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
