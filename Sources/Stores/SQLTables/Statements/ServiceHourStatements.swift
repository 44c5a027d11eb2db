public import AppleAccounts

/// Statements for hourly service counts, for both databases.
enum ServiceHourStatements {
    // Each replica writes its own rows, so that no transaction waits for another.
    static let set = SQLInsertion<ServiceHourTable>(
        "set_service_hour",
        conflict: "ON CONFLICT (begins_at, replica, name) DO UPDATE SET count = excluded.count")
    static let sum = SQLStatement<(hour: Column<Moment>, name: Column<String>, count: Column<Int64>), Moment>(
        "sum_service_hours"
    ) {
        (
            hour: $0.add("begins_at", Moment.self, as: "hour"), name: $0.add("name", String.self, as: "name"),
            count: $0.add("CAST(sum(count) AS bigint)", Int64.self, as: "sum")
        )
    } sql: { dialect, list, begin in
        """
        SELECT \(list) FROM service_hour WHERE begins_at >= \(begin)
        GROUP BY begins_at, name ORDER BY begins_at, name \(dialect.byteOrder)
        """
    }
    static let purge = ServiceHourTable.purge(by: "begins_at, replica, name", before: "begins_at")
}

extension ServiceHourStore where Self: SQLStore {
    public func setServiceHours(_ counts: [ServiceHourCount]) async throws {
        let calls = counts.map { count in ServiceHourStatements.set { $0.write(count, to: $1) } }
        _ = try await transaction { try $0.run(calls) }
    }

    public func serviceHours(from hour: Moment) async throws -> [ServiceHourSum] {
        let columns = ServiceHourStatements.sum.columns
        return try await snapshot { session in
            try session.rows(ServiceHourStatements.sum(hour)) { row in
                ServiceHourSum(
                    hour: try row.required(columns.hour), name: try row.required(columns.name),
                    count: try row.required(columns.count))
            }
        }
    }

    public func purgeServiceHours(before moment: Moment) async throws -> Int {
        try await purge(ServiceHourStatements.purge, before: moment)
    }
}
