public import AppleAccounts
import SQLTables

extension PostgresAccountStore: ServiceHourStore {
    private struct SumColumns: Sendable {
        let hour: Column<Moment>
        let name: Column<String>
        let count: Column<Int64>
    }

    // Each replica writes rows of its own, so that no transaction waits for another.
    private static let setHours = TableWrite<ServiceHourTable>("set_service_hours") { rows in
        """
        INSERT INTO service_hour (\(rows.names)) SELECT \(rows.names) FROM \(rows.relation("n"))
        ON CONFLICT (begins_at, replica, name) DO UPDATE SET count = excluded.count
        """
    }
    // Names are compared as bytes: the order must not depend on the server's locale.
    private static let sumHours = TypedQuery<SumColumns, Moment>("sum_service_hours") { list in
        SumColumns(
            hour: list.add("begins_at", Moment.self, as: "hour"),
            name: list.add("name", String.self, as: "name"),
            count: list.add("sum(count)::bigint", Int64.self, as: "sum"))
    } sql: { list, begin in
        """
        SELECT \(list) FROM service_hour WHERE begins_at >= \(begin)
        GROUP BY begins_at, name ORDER BY begins_at, name COLLATE "C"
        """
    }
    private static let purgeHours = TypedStatement<Moment, Int64>("purge_service_hours") { end, limit in
        """
        DELETE FROM service_hour WHERE (begins_at, replica, name) IN (
            SELECT begins_at, replica, name FROM service_hour WHERE begins_at < \(end)
            ORDER BY begins_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
        """
    }

    public func setServiceHours(_ counts: [ServiceHourCount]) async throws {
        let call = Self.setHours.statement.call(counts) { Self.setHours.columns.write($0, to: $1) }
        _ = try await pool.run { try $0.run(call).affected }
    }

    public func serviceHours(from hour: Moment) async throws -> [ServiceHourSum] {
        try await pool.run { session in
            let columns = Self.sumHours.columns
            return try session.run(Self.sumHours.statement(hour)).map { row in
                guard let hour = row[columns.hour], let name = row[columns.name],
                    let count = row[columns.count]
                else { throw StorageError(.corrupted, detail: "service_hour has an empty column") }
                return ServiceHourSum(hour: hour, name: name, count: count)
            }
        }
    }

    public func purgeServiceHours(before moment: Moment) async throws -> Int {
        let call = Self.purgeHours(moment, Int64(Self.largestPurge))
        return try await pool.run { try $0.run(call).affected }
    }
}
