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
