public import AppleAccounts
import GRDB
import SQLTables

extension SQLiteAccountStore: DeliveryStore {
    private static let addition = Insertion<EventReceiverTable>(conflict: "ON CONFLICT (name) DO NOTHING")
    private static let replacement = Insertion<EventRetryTable>(conflict: EventRetryTable.replacing)

    public func addReceivers(_ names: [ReceiverName], at moment: Moment) async throws {
        let last = try await lastEventSequence()
        try await writer.run { database in
            try database.inTransaction(.immediate) {
                for name in names {
                    let record = ReceiverRecord(name: name, cursor: last, notBefore: moment)
                    try Self.addition.run(in: database) { $0.write(record, to: $1) }
                }
                return .commit
            }
        }
    }

    public func claimReceivers(
        _ names: [ReceiverName], at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedReceiver] {
        try await writer.write { try $0.receivers().claim(names, at: moment, leaseUntil: leaseUntil) }
    }

    public func renewClaims(
        _ claims: [ReceiverRecord], leaseUntil: Moment
    ) async throws -> Set<ReceiverName> {
        try await writer.run { database in
            var renewed: Set<ReceiverName> = []
            try database.inTransaction(.immediate) {
                for claim in claims {
                    try database.execute(
                        sql:
                            "UPDATE event_receiver SET not_before = :end WHERE name = :name AND claims = :claims",
                        arguments: [
                            "end": leaseUntil.milliseconds, "name": claim.name.rawValue,
                            "claims": claim.claims,
                        ])
                    if database.changesCount > 0 { renewed.insert(claim.name) }
                }
                return .commit
            }
            return renewed
        }
    }

    public func endClaim(_ seen: ReceiverRecord, at moment: Moment) async throws -> Bool {
        try await writer.run { database in
            try database.execute(
                sql: """
                    UPDATE event_receiver SET not_before = :moment
                    WHERE name = :name AND claims = :claims AND not_before = :end
                    """,
                arguments: [
                    "moment": moment.milliseconds, "name": seen.name.rawValue, "claims": seen.claims,
                    "end": seen.notBefore.milliseconds,
                ])
            return database.changesCount > 0
        }
    }

    public func dueReceivers(_ names: [ReceiverName]) async throws -> [DueReceiver] {
        try await reader.read {
            try $0.receivers().due(names).map { DueReceiver(record: $0.receiver.record, at: $0.at) }
        }
    }

    public func settle(_ claimed: ReceiverRecord, _ progress: ReceiverProgress) async throws -> Bool {
        try await writer.run { database in
            var isLast = false
            try database.inTransaction(.immediate) {
                try database.execute(
                    sql: """
                        UPDATE event_receiver SET cursor = :cursor, not_before = :end, paused_at = :paused,
                            claims = claims + :more,
                            verification_id = nullif(verification_id, :verified),
                            verification_state =
                                iif(verification_id = :verified, NULL, verification_state)
                        WHERE name = :name AND claims = :claims
                        """,
                    arguments: [
                        "more": progress.countsAsClaim ? 1 : 0,
                        "verified": progress.verified?.uniqueID.data,
                        "cursor": progress.cursor, "end": progress.notBefore.milliseconds,
                        "paused": progress.pausedAt?.milliseconds, "name": claimed.name.rawValue,
                        "claims": claimed.claims,
                    ])
                isLast = database.changesCount > 0
                guard isLast else { return .rollback }
                for retry in progress.changed {
                    try Self.replacement.run(in: database) { $0.write(retry, of: claimed.name, to: $1) }
                }
                for sequence in progress.removed {
                    try database.execute(
                        sql: "DELETE FROM event_retry WHERE receiver = :name AND sequence = :sequence",
                        arguments: ["name": claimed.name.rawValue, "sequence": sequence])
                }
                return .commit
            }
            return isLast
        }
    }

    public func events(numbered sequences: [Int64]) async throws -> [AccountEvent] {
        try await reader.read { rows in
            try sequences.sorted().compactMap { sequence in
                let page = try rows.events.page(after: sequence - 1, limit: 1, visibleTo: .all)
                return page.events.first.flatMap { $0.sequence == sequence ? $0 : nil }
            }
        }
    }

    public func receivers() async throws -> [ClaimedReceiver] {
        try await reader.read { try $0.receivers().all() }
    }

    public func receiver(_ name: ReceiverName) async throws -> ClaimedReceiver? {
        try await reader.read { try $0.receivers().receiver(name) }
    }

    public func requestVerification(
        _ verification: StreamVerification, of name: ReceiverName, at moment: Moment
    ) async throws -> VerificationRequestResult {
        try await writer.write { rows in
            try rows.receivers().change(name) { $0.request(verification, at: moment) } ?? .unknownReceiver
        }
    }

    public func grantEventSequence(
        of account: AccountID, for client: OAuthClientID, before sequence: Int64
    ) async throws -> Int64? {
        try await reader.read {
            try $0.receivers().grantEvent(of: account, for: client, before: sequence)
        }
    }

    public func resumeReceiver(_ name: ReceiverName, at moment: Moment) async throws -> Bool {
        let entry = AuditEntry.resumed(name, at: moment)
        return try await writer.write { writer in
            let database = writer.database
            try database.execute(
                sql: """
                    UPDATE event_receiver
                    SET claims = claims + 1, not_before = :moment, paused_at = NULL WHERE name = :name
                    """, arguments: ["moment": moment.milliseconds, "name": name.rawValue])
            guard database.changesCount > 0 else { return false }
            try database.execute(
                sql: """
                    UPDATE event_retry SET due_at = :moment, waiting_since = :moment
                    WHERE receiver = :name
                    """, arguments: ["moment": moment.milliseconds, "name": name.rawValue])
            try writer.appendAudit([entry])
            return true
        }
    }

    public func moveReceiver(_ name: ReceiverName, to cursor: Int64, at moment: Moment) async throws -> Bool {
        let entry = AuditEntry.replayed(name, after: cursor, at: moment)
        return try await writer.write { writer in
            let database = writer.database
            try database.execute(
                sql: """
                    UPDATE event_receiver
                    SET cursor = :cursor, claims = claims + 1, not_before = :moment, paused_at = NULL
                    WHERE name = :name
                    """,
                arguments: ["cursor": cursor, "moment": moment.milliseconds, "name": name.rawValue])
            guard database.changesCount > 0 else { return false }
            try database.execute(
                sql: "DELETE FROM event_retry WHERE receiver = :name", arguments: ["name": name.rawValue])
            try writer.appendAudit([entry])
            return true
        }
    }

    public func eventSequence(before moment: Moment) async throws -> Int64 {
        try await writer.run { database in
            let first = try Int64.fetchOne(
                database, sql: "SELECT min(sequence) FROM event WHERE recorded_at >= :moment",
                arguments: ["moment": moment.milliseconds])
            if let first { return first - 1 }
            return try Int64.fetchOne(database, sql: "SELECT coalesce(max(sequence), 0) FROM event") ?? 0
        }
    }
}

/// Reads and claims receivers, with statements that are prepared at the first use. Stays on the queue of its
/// connection; after it threw, it must not be used again.
final class ReceiverRows {
    private let find: KeyedSelect<ReceiverName>
    private let columns: EventReceiverTable
    private let findRetries: KeyedSelect<ReceiverName>
    private let retryColumns: EventRetryTable
    private let database: Database
    private let findNames: PreparedStatement
    /// Prepared at the first use, because only the writing connection needs it.
    private var move: PreparedStatement?
    private let lastSequence: PreparedStatement

    /// Ends all claims at the start: the lock on the file excludes another process, so their owner has ended.
    ///
    /// A past time stays: for a receiver that polls it is the time of its last poll.
    static func endClaims(_ database: Database, at moment: Moment) throws {
        try database.execute(
            sql: "UPDATE event_receiver SET not_before = :now WHERE not_before > :now",
            arguments: ["now": moment.milliseconds])
    }

    init(in database: Database) throws {
        self.database = database
        var receivers = SelectList()
        columns = receivers.add(EventReceiverTable.self)
        find = try KeyedSelect(in: database) { "SELECT \(receivers) FROM event_receiver WHERE name = \($0)" }
        var retries = SelectList()
        retryColumns = retries.add(EventRetryTable.self)
        findRetries = try KeyedSelect(in: database) {
            "SELECT \(retries) FROM event_retry WHERE receiver = \($0) ORDER BY sequence"
        }
        findNames = try PreparedStatement("SELECT name FROM event_receiver ORDER BY name", in: database)
        lastSequence = try PreparedStatement("SELECT coalesce(max(sequence), 0) FROM event", in: database)
    }

    func all() throws -> [ClaimedReceiver] { try names().compactMap { try receiver($0) } }

    private func names() throws -> [ReceiverName] {
        findNames.begin()
        defer { findNames.finish() }
        var names: [ReceiverName] = []
        while try findNames.step() {
            if let name = findNames.onlyValue(as: ReceiverName.self) { names.append(name) }
        }
        return names
    }

    func receiver(_ name: ReceiverName) throws -> ClaimedReceiver? {
        try record(name).map { try receiver($0) }
    }

    func record(_ name: ReceiverName) throws -> ReceiverRecord? {
        try find.first(name) { try columns.record($0) }
    }

    private func receiver(_ record: ReceiverRecord) throws -> ClaimedReceiver {
        var retries: [DeliveryRetry] = []
        try findRetries.forEach(record.name) { retries.append(try retryColumns.retry($0)) }
        return ClaimedReceiver(record: record, retries: retries)
    }

    /// Returns the receivers that are not paused, with the moment from which each can be claimed.
    func due(_ names: [ReceiverName]) throws -> [(receiver: ClaimedReceiver, at: Moment?)] {
        let last = try lastEvent()
        return try names.compactMap { name in
            // The retries of a paused receiver are not read.
            guard let record = try record(name), record.pausedAt == nil else { return nil }
            let found = try receiver(record)
            return (found, found.due(lastSequence: last))
        }
    }

    private static let claimed: BoundColumns<EventReceiverTable> = {
        var parameters = ParameterList()
        return parameters.add(
            columnsOf: EventReceiverTable.self, .only { [$0.claims, $0.notBefore, $0.name] })
    }()

    /// Claims those of the receivers that have something to do at this moment.
    func claim(_ names: [ReceiverName], at moment: Moment, leaseUntil: Moment) throws -> [ClaimedReceiver] {
        try due(names).filter { $0.at.map { $0 <= moment } ?? false }.map { found in
            var claimed = found.receiver
            claimed.record.claims += 1
            claimed.record.notBefore = leaseUntil
            let statement =
                try move
                ?? PreparedStatement(
                    """
                    UPDATE event_receiver SET claims = \(Self.claimed[\.claims]),
                        not_before = \(Self.claimed[\.notBefore]) WHERE name = \(Self.claimed[\.name])
                    """, in: database)
            move = statement
            statement.begin()
            Self.claimed.columns.write(claimed.record, to: statement)
            try statement.execute()
            return claimed
        }
    }

    private static let verifying: BoundColumns<EventReceiverTable> = {
        var parameters = ParameterList()
        return parameters.add(
            columnsOf: EventReceiverTable.self,
            .only { [$0.verificationID, $0.verificationState, $0.verificationAskedAt, $0.name] })
    }()

    /// Changes the verification of a receiver. Returns `nil` for an unknown receiver.
    func change<Result>(_ name: ReceiverName, _ body: (inout ReceiverRecord) -> Result) throws -> Result? {
        guard var record = try record(name) else { return nil }
        let before = record
        let result = body(&record)
        guard record != before else { return result }
        let statement = try PreparedStatement(
            """
            UPDATE event_receiver SET verification_id = \(Self.verifying[\.verificationID]),
                verification_state = \(Self.verifying[\.verificationState]),
                verification_asked_at = \(Self.verifying[\.verificationAskedAt])
            WHERE name = \(Self.verifying[\.name])
            """, in: database)
        statement.begin()
        Self.verifying.columns.write(record, to: statement)
        try statement.execute()
        return result
    }

    /// Returns the number of the last event before this one about a grant of the account to the client.
    func grantEvent(
        of account: AccountID, for client: OAuthClientID, before sequence: Int64
    ) throws -> Int64? {
        try Int64.fetchOne(
            database,
            sql: """
                SELECT max(sequence) FROM event
                WHERE account_id = :account AND oauth_client = :client AND oauth_client IS NOT NULL
                    AND sequence < :sequence
                """,
            arguments: [
                "account": account.uniqueID.data, "client": client.rawValue, "sequence": sequence,
            ])
    }

    private func lastEvent() throws -> Int64 {
        lastSequence.begin()
        defer { lastSequence.finish() }
        return try lastSequence.step() ? lastSequence.onlyValue(as: Int64.self) ?? 0 : 0
    }
}
