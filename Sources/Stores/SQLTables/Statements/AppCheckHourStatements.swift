public import AppAttestation
import AppleAccounts

/// Statements for hourly App Check counts, for both databases.
enum AppCheckHourStatements {
    static let add = SQLInsertion<AppCheckHourTable>(
        "add_app_check_hour",
        conflict: """
            ON CONFLICT (target_kind, target, begins_at)
            DO UPDATE SET \(AppCheckHourTable.additions(to: "app_check_hour"))
            """)
    static let find = SQLStatement<AppCheckHourTable, Int64, String, Moment>(rows: "find_app_check_hours") {
        _, kind, name, begin in
        """
        WHERE target_kind = \(kind) AND target = \(name) AND begins_at >= \(begin)
        """
    }
    static let purge = AppCheckHourTable.purge(by: "target_kind, target, begins_at", before: "begins_at")
}

extension SQLReader {
    public func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) async throws -> [AppCheckHour] {
        try await snapshot { session in
            try targets.flatMap { target in
                try session.records(
                    AppCheckHourStatements.find, target.kind.storageCode, target.name, Moment(seconds: hour))
            }.sorted { $0.hour < $1.hour }
        }
    }
}

extension AppCheckHourStore where Self: SQLStore {
    public func addAppCheckHours(_ hours: [AppCheckHour]) async throws {
        // All replicas write in the same order, so that two replicas that add to the same rows cannot
        // deadlock.
        let sorted = hours.sorted {
            ($0.target.kind.storageCode, $0.hour, $0.target.name)
                < ($1.target.kind.storageCode, $1.hour, $1.target.name)
        }
        let calls = sorted.map { hour in AppCheckHourStatements.add { $0.write(hour, to: $1) } }
        _ = try await transaction { try $0.run(calls) }
    }

    public func purgeAppCheckHours(before end: Int64) async throws -> Int {
        try await purge(AppCheckHourStatements.purge, before: Moment(seconds: end))
    }
}
