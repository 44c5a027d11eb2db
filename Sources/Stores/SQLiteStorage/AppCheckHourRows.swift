public import AppAttestation
import AppleAccounts
import GRDB
import SQLTables

extension SQLiteAccountStore: AppCheckHourStore {
    private static let addition = Insertion<AppCheckHourTable>(
        conflict: """
            ON CONFLICT (target_kind, target, begins_at)
            DO UPDATE SET \(AppCheckHourTable.additions(to: "app_check_hour"))
            """)

    public func addAppCheckHours(_ hours: [AppCheckHour]) async throws {
        try await writer.run { database in
            try database.inTransaction(.immediate) {
                for hour in hours { try Self.addition.run(in: database) { $0.write(hour, to: $1) } }
                return .commit
            }
        }
    }

    public func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) async throws -> [AppCheckHour] {
        try await reader.read { try $0.appCheckHours(of: targets, from: hour) }
    }

    public func purgeAppCheckHours(before end: Int64) async throws -> Int {
        try await writer.run { database in
            try database.execute(
                sql: """
                    DELETE FROM app_check_hour WHERE (target_kind, target, begins_at) IN (
                        SELECT target_kind, target, begins_at FROM app_check_hour WHERE begins_at < :end
                        ORDER BY begins_at LIMIT :limit)
                    """,
                arguments: ["end": Moment(seconds: end).milliseconds, "limit": Self.largestPurge])
            return database.changesCount
        }
    }
}

/// Reads the counts of App Check. Stays on the queue of its connection; after it threw, it must not be used
/// again.
final class AppCheckHourRows {
    private let find: PreparedStatement
    private let columns: AppCheckHourTable
    private let kind: Parameter<Int64>
    private let name: Parameter<String>
    private let begin: Parameter<Moment>

    init(in database: Database) throws {
        var list = SelectList()
        columns = list.add(AppCheckHourTable.self)
        var parameters = ParameterList()
        (kind, name) = (parameters.add(Int64.self), parameters.add(String.self))
        begin = parameters.add(Moment.self)
        find = try PreparedStatement(
            """
            SELECT \(list) FROM app_check_hour
            WHERE target_kind = \(kind) AND target = \(name) AND begins_at >= \(begin) ORDER BY begins_at
            """, in: database)
    }

    func hours(of target: AppCheckTarget, from hour: Int64) throws -> [AppCheckHour] {
        find.begin()
        find.bind(target.kind.storageCode, to: kind)
        find.bind(target.name, to: name)
        find.bind(Moment(seconds: hour), to: begin)
        defer { find.finish() }
        var hours: [AppCheckHour] = []
        while try find.step() { hours.append(try columns.hour(find)) }
        return hours
    }
}
