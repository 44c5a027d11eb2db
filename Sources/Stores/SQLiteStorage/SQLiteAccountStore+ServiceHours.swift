public import AppleAccounts
import GRDB
import SQLTables

extension SQLiteAccountStore: ServiceHourStore {
    private static let replacement = Insertion<ServiceHourTable>(
        conflict: "ON CONFLICT (begins_at, replica, name) DO UPDATE SET count = excluded.count")

    public func setServiceHours(_ counts: [ServiceHourCount]) async throws {
        try await writer.run { database in
            try database.inTransaction(.immediate) {
                for count in counts { try Self.replacement.run(in: database) { $0.write(count, to: $1) } }
                return .commit
            }
        }
    }

    public func serviceHours(from hour: Moment) async throws -> [ServiceHourSum] {
        try await reader.read { try $0.serviceHours(from: hour) }
    }

    public func purgeServiceHours(before moment: Moment) async throws -> Int {
        try await writer.run { database in
            try database.execute(
                sql: """
                    DELETE FROM service_hour WHERE (begins_at, replica, name) IN (
                        SELECT begins_at, replica, name FROM service_hour WHERE begins_at < :end
                        ORDER BY begins_at LIMIT :limit)
                    """,
                arguments: ["end": moment.milliseconds, "limit": Self.largestPurge])
            return database.changesCount
        }
    }
}
