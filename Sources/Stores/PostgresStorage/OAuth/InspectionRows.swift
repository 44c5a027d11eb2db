public import AppleAccounts
public import AuthorizationServer
public import Cryptography
import SQLTables

extension PostgresAccountStore: GrantInspectionStore, InboxStore {
    public func code(withDigest digest: SHA256Digest) async throws -> CodeRecord? {
        try await pool.run { try InspectionRows.code(withDigest: digest, in: $0) }
    }

    public func device(withDigest digest: SHA256Digest) async throws -> DeviceAuthorization? {
        try await pool.run { try DeviceRows.find(digest: digest, in: $0) }
    }

    public func clientUsage(lookingAt most: Int) async throws -> ClientUsage {
        try await pool.run { try InspectionRows.clientUsage(lookingAt: most, in: $0) }
    }

    public func googleEvents(
        before position: GoogleEventPosition?, limit: Int
    ) async throws -> [ReceivedGoogleEvent] {
        try await pool.run { try InspectionRows.googleEvents(before: position, limit: limit, in: $0) }
    }

    public func notifications(
        before number: Int64?, limit: Int, visibleTo scope: AppScope
    ) async throws -> InboxPage {
        try await pool.run {
            try InspectionRows.notifications(before: number, limit: limit, visibleTo: scope, in: $0)
        }
    }
}

/// Reads for operators.
enum InspectionRows {
    private struct CodeColumns {
        let code: OAuthCodeTable
        let account: Column<AccountID>
        let client: Column<OAuthClientID>
    }

    private struct CountColumns {
        let client: Column<OAuthClientID>
        let count: Column<Int64>

        init(_ list: inout SelectList) {
            client = list.add("r.oauth_client", OAuthClientID.self, as: "oauth_client")
            count = list.add("count(*)", Int64.self, as: "count")
        }

        func counts(_ rows: PostgresRows) throws -> [OAuthClientID: Int] {
            var counts: [OAuthClientID: Int] = [:]
            for row in rows { counts[try row.required(client)] = Int(try row.required(count)) }
            return counts
        }
    }

    private static let findCode = TypedQuery<CodeColumns, SHA256Digest>("inspect_code") { list in
        CodeColumns(
            code: list.add(OAuthCodeTable.self, as: "c"),
            account: list.add("g.account_id", AccountID.self, as: "account_id"),
            client: list.add("g.oauth_client", OAuthClientID.self, as: "oauth_client"))
    } sql: { list, digest in
        "SELECT \(list) FROM oauth_code c JOIN oauth_grant g ON g.id = c.grant_id WHERE c.digest = \(digest)"
    }

    private static let countGrants = TypedQuery<CountColumns, Int64>("inspect_grants") {
        CountColumns(&$0)
    } sql: { list, most in
        """
        SELECT \(list) FROM (SELECT oauth_client FROM oauth_grant LIMIT \(most)) AS r
        GROUP BY r.oauth_client
        """
    }

    private static let countFamilies = TypedQuery<CountColumns, Int64>("inspect_families") {
        CountColumns(&$0)
    } sql: { list, most in
        """
        SELECT \(list) FROM (
            SELECT g.oauth_client
            FROM (SELECT grant_id FROM oauth_token_family LIMIT \(most)) AS l
            JOIN oauth_grant AS g ON g.id = l.grant_id) AS r
        GROUP BY r.oauth_client
        """
    }

    private static let findNotifications = TypedQuery<NotificationTable, Int64, Int64>("inspect_inbox") {
        $0.add(NotificationTable.self)
    } sql: { list, before, limit in
        "SELECT \(list) FROM notification WHERE id < \(before) ORDER BY id DESC LIMIT \(limit)"
    }

    private static let findGoogleEvents = TypedQuery<GoogleEventTable, Moment, String, Int64>(
        "inspect_google"
    ) {
        $0.add(GoogleEventTable.self)
    } sql: { list, before, jti, limit in
        """
        SELECT \(list) FROM google_event WHERE (received_at, jti) < (\(before), \(jti))
        ORDER BY received_at DESC, jti DESC LIMIT \(limit)
        """
    }

    static func code(withDigest digest: SHA256Digest, in session: PostgresSession) throws -> CodeRecord? {
        let columns = findCode.columns
        return try session.run(findCode.statement(digest)).first.map { row in
            try columns.code.code(
                row, of: row.required(columns.account), client: row.required(columns.client))
        }
    }

    static func clientUsage(lookingAt most: Int, in session: PostgresSession) throws -> ClientUsage {
        ClientUsage(
            grants: try countGrants.columns.counts(session.run(countGrants.statement(Int64(most)))),
            families: try countFamilies.columns.counts(session.run(countFamilies.statement(Int64(most)))),
            lookedAt: most)
    }

    static func notifications(
        before number: Int64?, limit: Int, visibleTo scope: AppScope, in session: PostgresSession
    ) throws -> InboxPage {
        let scan = scope == .all ? limit + 1 : max(limit + 1, InboxPage.longestScan)
        let columns = findNotifications.columns
        let found = try session.run(findNotifications.statement(number ?? .max, Int64(scan)))
        let rows = try found.map { row in
            ReceivedNotification(
                number: try row.required(columns.id), identifier: try row.required(columns.identifier),
                clientID: try session.names.apps.name(of: try row.required(columns.appID), in: session),
                receipt: try row.requiredCode(columns.receipt), payload: try row.required(columns.payload),
                receivedAt: try row.required(columns.receivedAt))
        }
        return InboxPage(rows, scan: scan, limit: limit, visibleTo: scope)
    }

    static func googleEvents(
        before position: GoogleEventPosition?, limit: Int, in session: PostgresSession
    ) throws -> [ReceivedGoogleEvent] {
        let (columns, position) = (findGoogleEvents.columns, position ?? .newest)
        let statement = findGoogleEvents.statement(position.receivedAt, position.jti, Int64(limit))
        return try session.run(statement).map { row in
            ReceivedGoogleEvent(
                jti: try row.required(columns.jti), payload: try row.required(columns.payload),
                receivedAt: try row.required(columns.receivedAt))
        }
    }
}
