import AppleAccounts
import GRDB
import SQLTables

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
