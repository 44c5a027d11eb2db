/// Storage of the counts by hour. The sums of all replicas are in one table.
public protocol AppCheckHourStore: Sendable {
    /// Adds the counts to the stored counts, in one transaction: all of them or none. The rows are of
    /// distinct targets and hours.
    func addAppCheckHours(_ hours: [AppCheckHour]) async throws

    /// Returns the hours of these targets from the given hour on, the oldest first, and hours without requests
    /// not at all.
    func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) async throws -> [AppCheckHour]

    /// Deletes hours that began before this time in seconds since 1970. A bounded number per call. Returns
    /// the number of deleted rows.
    func purgeAppCheckHours(before end: Int64) async throws -> Int
}
