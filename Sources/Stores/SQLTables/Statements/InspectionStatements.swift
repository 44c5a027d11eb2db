public import AppleAccounts
public import AuthorizationServer
public import Cryptography

/// Queries for operators, for both databases.
private enum InspectionStatements {
    struct CountColumns: Sendable {
        let client: Column<OAuthClientID>
        let count: Column<Int64>

        init(_ list: inout SelectList) {
            client = list.add("r.oauth_client", OAuthClientID.self, as: "oauth_client")
            count = list.add("count(*)", Int64.self, as: "count")
        }
    }

    static let code = SQLStatement<OAuthCodeColumns, SHA256Digest>("inspect_code") {
        OAuthCodeColumns(&$0)
    } sql: { _, list, digest in
        "SELECT \(list) FROM oauth_code c JOIN oauth_grant g ON g.id = c.grant_id WHERE c.digest = \(digest)"
    }
    static let device = SQLStatement<OAuthDeviceTable, SHA256Digest>(rows: "inspect_device") { _, digest in
        "WHERE digest = \(digest)"
    }
    static let grants = SQLStatement<CountColumns, Int64>("inspect_grants") {
        CountColumns(&$0)
    } sql: { _, list, most in
        """
        SELECT \(list) FROM (SELECT oauth_client FROM oauth_grant LIMIT \(most)) AS r GROUP BY r.oauth_client
        """
    }
    static let families = SQLStatement<CountColumns, Int64>("inspect_families") {
        CountColumns(&$0)
    } sql: { _, list, most in
        """
        SELECT \(list) FROM (
            SELECT g.oauth_client FROM (SELECT grant_id FROM oauth_token_family LIMIT \(most)) AS l
            JOIN oauth_grant AS g ON g.id = l.grant_id) AS r
        GROUP BY r.oauth_client
        """
    }
    static let notifications = SQLStatement<
        (row: NotificationTable, app: Column<ClientID>), Int64, Int64
    >("inspect_inbox") {
        (
            $0.add(NotificationTable.self),
            $0.add("(SELECT name FROM app WHERE app.id = app_id)", ClientID.self, as: "app")
        )
    } sql: { _, list, before, limit in
        "SELECT \(list) FROM notification WHERE id < \(before) ORDER BY id DESC LIMIT \(limit)"
    }
    static let googleEvents = SQLStatement<GoogleEventTable, Moment, String, Int64>(rows: "inspect_google") {
        _, before, jti, limit in
        """
        WHERE (received_at, jti) < (\(before), \(jti))
        ORDER BY received_at DESC, jti DESC LIMIT \(limit)
        """
    }
}

extension GrantInspectionStore where Self: SQLStore {
    public func code(withDigest digest: SHA256Digest) async throws -> CodeRecord? {
        let find = InspectionStatements.code
        return try await snapshot { try $0.rows(find(digest)) { try find.columns.record($0) }.first }
    }

    public func device(withDigest digest: SHA256Digest) async throws -> DeviceAuthorization? {
        try await snapshot { try $0.records(InspectionStatements.device, digest).first }
    }

    public func clientUsage(lookingAt most: Int) async throws -> ClientUsage {
        try await snapshot { session in
            func count(_ statement: SQLStatement<InspectionStatements.CountColumns, Int64>) throws
                -> [OAuthClientID: Int]
            {
                let counts = try session.rows(statement(Int64(most))) {
                    (try $0.required(statement.columns.client), Int(try $0.required(statement.columns.count)))
                }
                return Dictionary(uniqueKeysWithValues: counts)
            }
            return ClientUsage(
                grants: try count(InspectionStatements.grants),
                families: try count(InspectionStatements.families), lookedAt: most)
        }
    }

    public func googleEvents(
        before position: GoogleEventPosition?, limit: Int
    ) async throws -> [ReceivedGoogleEvent] {
        let (find, position) = (InspectionStatements.googleEvents, position ?? .newest)
        return try await snapshot { session in
            try session.rows(find(position.receivedAt, position.jti, Int64(limit))) {
                ReceivedGoogleEvent(
                    jti: try $0.required(find.columns.jti), payload: try $0.required(find.columns.payload),
                    receivedAt: try $0.required(find.columns.receivedAt))
            }
        }
    }
}

extension InboxStore where Self: SQLStore {
    public func notifications(
        before number: Int64?, limit: Int, visibleTo scope: AppScope
    ) async throws -> InboxPage {
        let scan = scope == .all ? limit + 1 : max(limit + 1, InboxPage.longestScan)
        let (find, columns) = (InspectionStatements.notifications, InspectionStatements.notifications.columns)
        let rows = try await snapshot { session in
            try session.rows(find(number ?? .max, Int64(scan))) {
                ReceivedNotification(
                    number: try $0.required(columns.row.id),
                    identifier: try $0.required(columns.row.identifier),
                    clientID: try $0.required(columns.app), receipt: try $0.requiredCode(columns.row.receipt),
                    payload: try $0.required(columns.row.payload),
                    receivedAt: try $0.required(columns.row.receivedAt))
            }
        }
        return InboxPage(rows, scan: scan, limit: limit, visibleTo: scope)
    }
}
