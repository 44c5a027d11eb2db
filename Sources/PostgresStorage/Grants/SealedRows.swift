import AppleAccounts

/// Goes through all sealed secrets in the order of their keys.
///
/// The places are read one after the other, each as it is then: a secret that moves on meanwhile is met in
/// its new place.
enum SealedRows {
    private static let codes = PostgresStatement(
        "sealed_codes",
        """
        SELECT c.id, c.account_id, client.name, c.sealed,
            \(SealedPurpose.authorizationCode.storageCode)::bigint
        FROM authorization_code c JOIN client ON client.id = c.client_id
        WHERE c.id > $1::uuid ORDER BY c.id LIMIT $2::bigint
        """)
    private static let tokens = PostgresStatement(
        "sealed_tokens",
        """
        SELECT t.account_id, t.account_id, client.name, t.sealed,
            \(SealedPurpose.refreshToken.storageCode)::bigint
        FROM refresh_token t JOIN client ON client.id = t.client_id
        WHERE (t.account_id, t.client_id) >
            ($1::uuid, coalesce((SELECT id FROM client WHERE name = $3::text), 0))
        ORDER BY t.account_id, t.client_id LIMIT $2::bigint
        """)
    private static let erasures = PostgresStatement(
        "sealed_erasures",
        """
        SELECT g.id, e.account_id, client.name, g.sealed, g.kind
        FROM erasure_grant g JOIN erasure e ON e.id = g.erasure_id JOIN client ON client.id = g.client_id
        WHERE g.id > $1::uuid AND g.sealed IS NOT NULL ORDER BY g.id LIMIT $2::bigint
        """)
    private static let count = PostgresStatement(
        "sealed_count",
        """
        SELECT (SELECT count(*) FROM authorization_code) + (SELECT count(*) FROM refresh_token)
            + (SELECT count(*) FROM erasure_grant WHERE sealed IS NOT NULL)
        """)

    static func page(
        after cursor: SealedCursor?, limit: Int, in session: PostgresSession
    ) throws -> [SealedRow] {
        var found: [SealedRow] = []
        for place in SealedCursor.Place.allCases where place.rawValue >= cursor?.place.rawValue ?? 0 {
            guard found.count < limit else { break }
            let start = cursor?.place == place ? cursor : nil
            let rows = try session.run(call(place, after: start, limit: limit - found.count))
            for row in 0..<rows.count { found.append(try read(rows, row, in: place)) }
        }
        return found
    }

    static func count(in session: PostgresSession) throws -> Int {
        let rows = try session.run(PostgresCall(count))
        guard rows.count == 1, let count = rows.integer(0, 0) else { return 0 }
        return Int(count)
    }

    private static func call(
        _ place: SealedCursor.Place, after cursor: SealedCursor?, limit: Int
    ) -> PostgresCall {
        // No ID is as small as this.
        let id = PostgresValue.uuid(cursor?.id ?? UniqueID(high: 0, low: 0))
        let limit = PostgresValue.integer(Int64(limit))
        return switch place {
        case .code: PostgresCall(codes, [id, limit])
        case .token:
            PostgresCall(
                tokens, [id, limit, cursor?.clientID.map { .text($0.rawValue) } ?? .null])
        case .erasure: PostgresCall(erasures, [id, limit])
        }
    }

    private static func read(
        _ rows: PostgresRows, _ row: Int, in place: SealedCursor.Place
    ) throws -> SealedRow {
        guard let id = rows.uuid(row, 0), let account = rows.uuid(row, 1),
            let clientID = rows.text(row, 2).flatMap({ ClientID($0) }),
            let sealed = rows.bytes(row, 3).flatMap({ SealedSecret($0) })
        else { throw StorageError(.corrupted, detail: "a sealed secret lacks something") }
        return SealedRow(
            cursor: SealedCursor(place: place, id: id, clientID: place == .token ? clientID : nil),
            purpose: try SealedPurpose(storageCode: rows.integer(row, 4) ?? 0),
            accountID: AccountID(account), clientID: clientID, sealed: sealed)
    }
}
