public import AppAttestation
import AppleAccounts
import SQLTables

extension PostgresAccountStore: AppCheckHourStore {
    // In one order, because a transaction waits here for another replica that adds to the same row.
    private static let addHours = TableWrite<AppCheckHourTable>("add_app_check_hours") { rows in
        """
        INSERT INTO app_check_hour AS kept (\(rows.names))
        SELECT \(rows.names) FROM \(rows.relation("n")) ORDER BY target_kind, target, begins_at
        ON CONFLICT (target_kind, target, begins_at)
        DO UPDATE SET \(AppCheckHourTable.additions(to: "kept"))
        """
    }
    private static let findHours = TypedQuery<AppCheckHourTable, Int64, String, Moment>(
        "find_app_check_hours"
    ) {
        $0.add(AppCheckHourTable.self)
    } sql: { list, kind, name, begin in
        """
        SELECT \(list) FROM app_check_hour
        WHERE target_kind = \(kind) AND target = \(name) AND begins_at >= \(begin)
        """
    }
    private static let purgeHours = TypedStatement<Moment, Int64>("purge_app_check_hours") { end, limit in
        """
        DELETE FROM app_check_hour WHERE (target_kind, target, begins_at) IN (
            SELECT target_kind, target, begins_at FROM app_check_hour WHERE begins_at < \(end)
            ORDER BY begins_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
        """
    }

    public func addAppCheckHours(_ hours: [AppCheckHour]) async throws {
        let call = Self.addHours.statement.call(hours) { Self.addHours.columns.write($0, to: $1) }
        _ = try await pool.run { try $0.run(call).affected }
    }

    public func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) async throws -> [AppCheckHour] {
        try await pool.run { session in
            try targets.flatMap { target in
                let call = Self.findHours.statement(
                    target.kind.storageCode, target.name, Moment(seconds: hour))
                return try session.run(call).map { try Self.findHours.columns.hour($0) }
            }.sorted { $0.hour < $1.hour }
        }
    }

    public func purgeAppCheckHours(before end: Int64) async throws -> Int {
        let call = Self.purgeHours(Moment(seconds: end), Int64(Self.largestPurge))
        return try await pool.run { try $0.run(call).affected }
    }
}
