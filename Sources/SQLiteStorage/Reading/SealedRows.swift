import AppleAccounts
import GRDB

/// Goes through all sealed secrets in the order of their keys.
final class SealedRows {
    private let names: Names
    private let codes: PreparedStatement
    private let tokens: PreparedStatement
    private let erasures: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.names = names
        codes = try PreparedStatement(
            """
            SELECT id, account_id, client_id, sealed FROM authorization_code WHERE id > ?1
            ORDER BY id LIMIT ?2
            """, in: database)
        tokens = try PreparedStatement(
            """
            SELECT account_id, account_id, client_id, sealed FROM refresh_token
            WHERE (account_id, client_id) > (?1, ?3) ORDER BY account_id, client_id LIMIT ?2
            """, in: database)
        erasures = try PreparedStatement(
            """
            SELECT g.id, e.account_id, g.client_id, g.sealed, g.kind
            FROM erasure_grant g JOIN erasure e ON e.id = g.erasure_id
            WHERE g.id > ?1 AND g.sealed IS NOT NULL ORDER BY g.id LIMIT ?2
            """, in: database)
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
        let statement =
            switch place {
            case .code: codes
            case .token: tokens
            case .erasure: erasures
            }
        statement.begin()
        // No ID is as small as this.
        statement.bind(cursor?.id ?? UniqueID(high: 0, low: 0), at: 1)
        statement.bind(Int64(limit), at: 2)
        if place == .token {
            statement.bind(try cursor?.clientID.flatMap { try names.clients.number(of: $0) } ?? 0, at: 3)
        }
        defer { statement.finish() }
        while try statement.step() {
            guard let id = statement.uniqueID(0), let account = statement.uniqueID(1),
                let sealed = statement.bytes(3).flatMap({ SealedSecret($0) })
            else { throw StorageError(.corrupted, detail: "a sealed secret lacks something") }
            let clientID = try names.clients.name(of: statement.integer(2) ?? 0)
            rows.append(
                SealedRow(
                    cursor: SealedCursor(
                        place: place, id: id, clientID: place == .token ? clientID : nil),
                    purpose: try purpose(in: place, statement), accountID: AccountID(account),
                    clientID: clientID, sealed: sealed))
        }
    }

    private func purpose(in place: SealedCursor.Place, _ row: PreparedStatement) throws -> SealedPurpose {
        switch place {
        case .code: .authorizationCode
        case .token: .refreshToken
        case .erasure: try SealedPurpose(storageCode: row.integer(4) ?? 0)
        }
    }
}
