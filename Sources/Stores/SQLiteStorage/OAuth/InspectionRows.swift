public import AppleAccounts
public import AuthorizationServer
public import Cryptography
import GRDB
import SQLTables

extension SQLiteAccountStore: GrantInspectionStore, InboxStore {
    public func code(withDigest digest: SHA256Digest) async throws -> CodeRecord? {
        try await reader.read { try $0.oauth().code(withDigest: digest) }
    }

    public func device(withDigest digest: SHA256Digest) async throws -> DeviceAuthorization? {
        try await reader.read { try $0.oauth().device(withDigest: digest) }
    }

    public func clientUsage(lookingAt most: Int) async throws -> ClientUsage {
        try await reader.read { try $0.oauth().inspection.clientUsage(lookingAt: most) }
    }

    public func googleEvents(
        before position: GoogleEventPosition?, limit: Int
    ) async throws -> [ReceivedGoogleEvent] {
        try await reader.read { try $0.oauth().inspection.googleEvents(before: position, limit: limit) }
    }

    public func notifications(
        before number: Int64?, limit: Int, visibleTo scope: AppScope
    ) async throws -> InboxPage {
        try await reader.read {
            try $0.oauth().inspection.notifications(before: number, limit: limit, visibleTo: scope)
        }
    }
}

/// Reads of a connection for operators, prepared at the first use. Stays on the queue of the connection.
final class InspectionRows {
    private let names: Names
    private let usage: Usage
    private let inbox: Inbox
    private let googleEvents: GoogleEvents

    /// Rows by client, of at most so many rows.
    private struct Usage {
        let grants: PreparedStatement
        let families: PreparedStatement
        let most: Parameter<Int64>
        let client: Column<OAuthClientID>
        let count: Column<Int64>

        init(in database: Database) throws {
            var parameters = ParameterList()
            most = parameters.add(Int64.self)
            var list = SelectList()
            client = list.add("r.oauth_client", OAuthClientID.self, as: "oauth_client")
            count = list.add("count(*)", Int64.self, as: "count")
            grants = try PreparedStatement(
                """
                SELECT \(list) FROM (SELECT oauth_client FROM oauth_grant LIMIT \(most)) AS r
                GROUP BY r.oauth_client
                """, in: database)
            families = try PreparedStatement(
                """
                SELECT \(list) FROM (
                    SELECT g.oauth_client
                    FROM (SELECT grant_id FROM oauth_token_family LIMIT \(most)) AS l
                    JOIN oauth_grant AS g ON g.id = l.grant_id) AS r
                GROUP BY r.oauth_client
                """, in: database)
        }

        func counts(_ statement: PreparedStatement, _ most: Int) throws -> [OAuthClientID: Int] {
            statement.begin()
            statement.bind(Int64(most), to: self.most)
            defer { statement.finish() }
            var counts: [OAuthClientID: Int] = [:]
            while try statement.step() {
                counts[try statement.required(client)] = Int(try statement.required(count))
            }
            return counts
        }
    }

    private struct Inbox {
        let find: PreparedStatement
        let before: Parameter<Int64>
        let limit: Parameter<Int64>
        let columns: NotificationTable

        init(in database: Database) throws {
            var parameters = ParameterList()
            (before, limit) = (parameters.add(Int64.self), parameters.add(Int64.self))
            var list = SelectList()
            columns = list.add(NotificationTable.self)
            find = try PreparedStatement(
                "SELECT \(list) FROM notification WHERE id < \(before) ORDER BY id DESC LIMIT \(limit)",
                in: database)
        }
    }

    private struct GoogleEvents {
        let find: PreparedStatement
        let before: Parameter<Moment>
        let jti: Parameter<String>
        let limit: Parameter<Int64>
        let columns: GoogleEventTable

        init(in database: Database) throws {
            var parameters = ParameterList()
            (before, jti) = (parameters.add(Moment.self), parameters.add(String.self))
            limit = parameters.add(Int64.self)
            var list = SelectList()
            columns = list.add(GoogleEventTable.self)
            find = try PreparedStatement(
                """
                SELECT \(list) FROM google_event WHERE (received_at, jti) < (\(before), \(jti))
                ORDER BY received_at DESC, jti DESC LIMIT \(limit)
                """, in: database)
        }
    }

    init(_ names: Names, in database: Database) throws {
        self.names = names
        usage = try Usage(in: database)
        inbox = try Inbox(in: database)
        googleEvents = try GoogleEvents(in: database)
    }

    func clientUsage(lookingAt most: Int) throws -> ClientUsage {
        ClientUsage(
            grants: try usage.counts(usage.grants, most), families: try usage.counts(usage.families, most),
            lookedAt: most)
    }

    func notifications(
        before number: Int64?, limit: Int, visibleTo scope: AppScope
    ) throws -> InboxPage {
        let scan = scope == .all ? limit + 1 : max(limit + 1, InboxPage.longestScan)
        inbox.find.begin()
        inbox.find.bind(number ?? .max, to: inbox.before)
        inbox.find.bind(Int64(scan), to: inbox.limit)
        defer { inbox.find.finish() }
        var rows: [ReceivedNotification] = []
        while try inbox.find.step() {
            let (row, columns) = (inbox.find, inbox.columns)
            rows.append(
                ReceivedNotification(
                    number: try row.required(columns.id), identifier: try row.required(columns.identifier),
                    clientID: try names.apps.name(of: try row.required(columns.appID)),
                    receipt: try row.requiredCode(columns.receipt),
                    payload: try row.required(columns.payload),
                    receivedAt: try row.required(columns.receivedAt)))
        }
        return InboxPage(rows, scan: scan, limit: limit, visibleTo: scope)
    }

    func googleEvents(before position: GoogleEventPosition?, limit: Int) throws -> [ReceivedGoogleEvent] {
        let (find, position) = (googleEvents.find, position ?? .newest)
        find.begin()
        find.bind(position.receivedAt, to: googleEvents.before)
        find.bind(position.jti, to: googleEvents.jti)
        find.bind(Int64(limit), to: googleEvents.limit)
        defer { find.finish() }
        var events: [ReceivedGoogleEvent] = []
        while try find.step() {
            events.append(
                ReceivedGoogleEvent(
                    jti: try find.required(googleEvents.columns.jti),
                    payload: try find.required(googleEvents.columns.payload),
                    receivedAt: try find.required(googleEvents.columns.receivedAt)))
        }
        return events
    }
}
