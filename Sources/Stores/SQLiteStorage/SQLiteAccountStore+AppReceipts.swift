import AppAttestation
public import AppleAccounts
import Cryptography
import Foundation
import GRDB
import SQLTables

extension SQLiteAccountStore: AppReceiptStore {
    public func claimReceipts(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [AttestedKeyRecord] {
        try await writer.run { database in
            var claimed: [AttestedKeyRecord] = []
            try database.inTransaction(.immediate) {
                claimed = try Self.dueReceipts(limit: limit, at: moment, in: database)
                for key in claimed {
                    try Self.update(key, "receipt_refresh_at = :time", in: database) {
                        $0["time"] = leaseUntil.milliseconds
                    }
                }
                return .commit
            }
            return claimed
        }
    }

    public func nextReceiptDue() async throws -> Moment? {
        try await writer.run { database in
            try Int64.fetchOne(
                database,
                sql: """
                    SELECT min(receipt_refresh_at) FROM app_attest_key WHERE receipt_refresh_at IS NOT NULL
                    """
            ).map { Moment(milliseconds: $0) }
        }
    }

    public func replaceReceipt(
        of claimed: AttestedKeyRecord, by refreshed: RefreshedReceipt
    ) async throws {
        try await writer.run { database in
            try Self.update(
                claimed, "receipt = :new, receipt_refresh_at = :time, risk_metric = :metric", in: database
            ) {
                $0["new"] = Self.blob(refreshed.sealed.bytes)
                $0["time"] = refreshed.refreshAt.milliseconds
                $0["metric"] = refreshed.riskMetric
            }
        }
    }

    public func postponeReceipt(of claimed: AttestedKeyRecord, until moment: Moment) async throws {
        try await writer.run { database in
            try Self.update(claimed, "receipt_refresh_at = :time", in: database) {
                $0["time"] = moment.milliseconds
            }
        }
    }

    public func dropReceipt(of claimed: AttestedKeyRecord) async throws {
        try await writer.run { database in
            try Self.update(claimed, "receipt = NULL, receipt_refresh_at = NULL", in: database) { _ in }
        }
    }

    private static func dueReceipts(
        limit: Int, at moment: Moment, in database: Database
    ) throws -> [AttestedKeyRecord] {
        var parameters = ParameterList()
        let (now, most) = (parameters.add(Moment.self), parameters.add(Int64.self))
        var list = SelectList()
        let columns = list.add(AppAttestKeyTable.self)
        let statement = try PreparedStatement(
            """
            SELECT \(list) FROM app_attest_key WHERE receipt_refresh_at <= \(now)
            ORDER BY receipt_refresh_at, key_id LIMIT \(most)
            """, in: database)
        statement.begin()
        statement.bind(moment, to: now)
        statement.bind(Int64(max(limit, 0)), to: most)
        defer { statement.finish() }
        var found: [AttestedKeyRecord] = []
        while try statement.step() { found.append(try columns.key(statement)) }
        return found
    }

    /// Changes the row of a key that still has the same receipt.
    private static func update(
        _ key: AttestedKeyRecord, _ assignments: String, in database: Database,
        _ bind: (inout [String: (any DatabaseValueConvertible)?]) -> Void
    ) throws {
        guard let receipt = key.receipt else { return }
        var arguments: [String: (any DatabaseValueConvertible)?] = [
            "id": blob(key.id.digest.bytes), "old": blob(receipt.bytes),
        ]
        bind(&arguments)
        try database.execute(
            sql: "UPDATE app_attest_key SET \(assignments) WHERE key_id = :id AND receipt = :old",
            arguments: StatementArguments(arguments))
    }

    private static func blob(_ bytes: [UInt8]) -> DatabaseValue { Data(bytes).databaseValue }
}
