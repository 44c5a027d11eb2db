import AppAttestation
import AppleAccounts
import Foundation
import GRDB

/// Statements of the reading connection, prepared once. Stays on its queue; after it threw, it must not be
/// used again.
final class RowReader {
    let subjects: SubjectRows
    let credentials: CredentialRows
    let events: EventRows
    let keySets: KeySetRows
    let database: Database
    private let names: Names
    private var appleTokenReader: AppleTokenReader?
    private var oauthReader: OAuthReader?
    private var appCheckHourRows: AppCheckHourRows?
    private var attestedKeyRows: AttestedKeyRows?
    private var receiverRows: ReceiverRows?
    private var auditRows: AuditRows?
    private var historyRows: HistoryRows?
    private let beginStatement: PreparedStatement
    private let endStatement: PreparedStatement

    init(_ database: Database) throws {
        self.database = database
        names = try Names(writes: false, in: database)
        subjects = try SubjectRows(names, in: database)
        credentials = try CredentialRows(names, in: database)
        events = try EventRows(names, in: database)
        keySets = try KeySetRows(in: database)
        beginStatement = try PreparedStatement("BEGIN", in: database)
        endStatement = try PreparedStatement("COMMIT", in: database)
    }

    func tokens() throws -> AppleTokenReader {
        let reader = try appleTokenReader ?? AppleTokenReader(names, in: database)
        appleTokenReader = reader
        return reader
    }

    func oauth() throws -> OAuthReader {
        let reader = try oauthReader ?? OAuthReader(names, in: database)
        oauthReader = reader
        return reader
    }

    /// Returns the hours of all targets, the oldest first.
    func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) throws -> [AppCheckHour] {
        let rows = try appCheckHourRows ?? AppCheckHourRows(in: database)
        appCheckHourRows = rows
        return try targets.flatMap { try rows.hours(of: $0, from: hour) }.sorted { $0.hour < $1.hour }
    }

    /// Returns the sums over all replicas, the oldest first.
    func serviceHours(from hour: Moment) throws -> [ServiceHourSum] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT begins_at, name, sum(count) AS total FROM service_hour WHERE begins_at >= :begin
                GROUP BY begins_at, name ORDER BY begins_at, name
                """, arguments: ["begin": hour.milliseconds]
        ).map { row in
            ServiceHourSum(
                hour: Moment(milliseconds: row["begins_at"]), name: row["name"], count: row["total"])
        }
    }

    func attestedKeys() throws -> AttestedKeyRows {
        let rows = try attestedKeyRows ?? AttestedKeyRows(in: database)
        attestedKeyRows = rows
        return rows
    }

    func hasTicket(_ digest: TicketDigest, _ purpose: TicketPurpose, at moment: Moment) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (SELECT 1 FROM ticket
                    WHERE purpose = :purpose AND digest = :digest AND expires_at > :now)
                """,
            arguments: [
                "purpose": purpose.storageCode, "digest": Data(digest.digest), "now": moment.milliseconds,
            ]) ?? false
    }

    func receivers() throws -> ReceiverRows {
        let rows = try receiverRows ?? ReceiverRows(in: database)
        receiverRows = rows
        return rows
    }

    func audit() throws -> AuditRows {
        let rows = try auditRows ?? AuditRows(in: database)
        auditRows = rows
        return rows
    }

    func history() throws -> HistoryRows {
        let rows = try historyRows ?? HistoryRows(names, in: database)
        historyRows = rows
        return rows
    }

    var search: AccountSearchRows { AccountSearchRows(database: database, names: names, subjects: subjects) }

    func begin() throws {
        beginStatement.begin()
        try beginStatement.execute()
    }

    func end() throws {
        endStatement.begin()
        try endStatement.execute()
    }
}
