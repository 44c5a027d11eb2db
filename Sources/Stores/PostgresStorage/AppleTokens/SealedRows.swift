import AppleAccounts
import SQLTables

/// Walks all sealed secrets in the order of their keys.
///
/// The tables are read one after the other, each in its current state: a secret that moves during the walk is
/// met in its new table.
enum SealedRows {
    /// The columns of the three statements.
    private struct Columns {
        let id: Column<UniqueID>
        let accountID: Column<AccountID>
        let client: Column<ClientID>
        let sealed: Column<SealedSecret>
        let kind: Column<SealedPurpose>

        /// - Parameters:
        ///   - id: SQL of the cursor's ID.
        ///   - kind: SQL of the code of the purpose.
        init(_ list: inout SelectList, id: String, account: String, sealed: String, kind: String) {
            self.id = list.add(id, UniqueID.self, as: "id")
            accountID = list.add(account, AccountID.self, as: "account_id")
            client = list.add("client.name", ClientID.self, as: "client")
            self.sealed = list.add(sealed, SealedSecret.self, as: "sealed")
            self.kind = list.add(kind, SealedPurpose.self, as: "kind")
        }
    }

    private struct Find {
        let codes: TypedStatement<UniqueID, Int64>
        let codeColumns: Columns
        let tokens: TypedStatement<UniqueID, Int64, ClientID>
        let tokenColumns: Columns
        let erasures: TypedStatement<UniqueID, Int64>
        let erasureColumns: Columns

        init() {
            func code(_ purpose: SealedPurpose) -> String { "\(purpose.storageCode)::bigint" }
            var codeList = SelectList()
            codeColumns = Columns(
                &codeList, id: "c.id", account: "c.account_id", sealed: "c.sealed",
                kind: code(.authorizationCode))
            codes = TypedStatement("sealed_codes") { start, limit in
                """
                SELECT \(codeList) FROM authorization_code c JOIN client ON client.id = c.client_id
                WHERE c.id > \(start) ORDER BY c.id LIMIT \(limit)
                """
            }
            var tokenList = SelectList()
            tokenColumns = Columns(
                &tokenList, id: "t.account_id", account: "t.account_id", sealed: "t.sealed",
                kind: code(.refreshToken))
            tokens = TypedStatement("sealed_tokens") { start, limit, startClient in
                """
                SELECT \(tokenList) FROM refresh_token t JOIN client ON client.id = t.client_id
                WHERE (t.account_id, t.client_id) >
                    (\(start), coalesce((SELECT id FROM client WHERE name = \(startClient)), 0))
                ORDER BY t.account_id, t.client_id LIMIT \(limit)
                """
            }
            var erasureList = SelectList()
            erasureColumns = Columns(
                &erasureList, id: "g.id", account: "e.account_id", sealed: "g.sealed", kind: "g.kind")
            erasures = TypedStatement("sealed_erasures") { start, limit in
                """
                SELECT \(erasureList)
                FROM erasure_token g JOIN erasure e ON e.id = g.erasure_id
                    JOIN client ON client.id = g.client_id
                WHERE g.id > \(start) AND g.sealed IS NOT NULL ORDER BY g.id LIMIT \(limit)
                """
            }
        }
    }

    private static let find = Find()
    private static let count = PostgresCall(
        PostgresStatement(
            "sealed_count",
            """
            SELECT (SELECT count(*) FROM authorization_code) + (SELECT count(*) FROM refresh_token)
                + (SELECT count(*) FROM erasure_token WHERE sealed IS NOT NULL)
            """))

    static func page(
        after cursor: SealedCursor?, limit: Int, in session: PostgresSession
    ) throws -> [SealedRow] {
        var found: [SealedRow] = []
        for place in SealedCursor.Place.allCases where place.rawValue >= cursor?.place.rawValue ?? 0 {
            guard found.count < limit else { break }
            let start = cursor?.place == place ? cursor : nil
            let (call, columns) = statement(place, after: start, limit: limit - found.count)
            for row in try session.run(call) { found.append(try read(row, columns, in: place)) }
        }
        return found
    }

    static func count(in session: PostgresSession) throws -> Int {
        Int(try session.run(count).onlyValue(as: Int64.self) ?? 0)
    }

    private static func statement(
        _ place: SealedCursor.Place, after cursor: SealedCursor?, limit: Int
    ) -> (PostgresCall, Columns) {
        // Every ID is greater than zero.
        let start = cursor?.id ?? UniqueID(high: 0, low: 0)
        let limit = Int64(limit)
        return switch place {
        case .code: (find.codes(start, limit), find.codeColumns)
        case .token: (find.tokens(start, limit, cursor?.clientID), find.tokenColumns)
        case .erasure: (find.erasures(start, limit), find.erasureColumns)
        }
    }

    private static func read(
        _ row: PostgresRow, _ columns: Columns, in place: SealedCursor.Place
    ) throws(StorageError) -> SealedRow {
        let clientID = try row.required(columns.client)
        return SealedRow(
            cursor: SealedCursor(
                place: place, id: try row.required(columns.id), clientID: place == .token ? clientID : nil),
            purpose: try row.requiredCode(columns.kind), accountID: try row.required(columns.accountID),
            clientID: clientID, sealed: try row.required(columns.sealed))
    }
}

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
