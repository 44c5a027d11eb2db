/// Storage of the counts by hour. The sums of all replicas are in one table.
public protocol AppCheckHourStore: Sendable {
    /// Adds the counts to the stored counts, in one transaction: all of them or none.
    func addAppCheckHours(_ hours: [AppCheckHour]) async throws

    /// Returns the hours of these targets from the given hour on, the oldest first, and hours without requests
    /// not at all.
    func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) async throws -> [AppCheckHour]

    /// Deletes up to `limit` rows of hours before the given hour. Returns their number.
    func deleteAppCheckHours(before hour: Int64, limit: Int) async throws -> Int
}
