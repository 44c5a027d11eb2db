/// Storage of the service's own numbers by hour, for the plots of the console.
///
/// The table is bounded by the number of names, of hours that are kept, and of replicas. A replica that starts
/// again is another replica.
public protocol ServiceHourStore: Sendable {
    /// Replaces the counts of these hours of a replica, in one transaction: all of them or none. A count is of
    /// the whole hour so far, so that a write whose outcome is unknown can be repeated. The rows are distinct
    /// by replica, hour and name.
    func setServiceHours(_ counts: [ServiceHourCount]) async throws

    /// Returns the sums over all replicas by hour and name, from the given hour on, the oldest first, and by
    /// name within an hour.
    func serviceHours(from hour: Moment) async throws -> [ServiceHourSum]

    /// Deletes hours that began before this moment. A bounded number per call. Returns the number of deleted
    /// rows.
    func purgeServiceHours(before moment: Moment) async throws -> Int
}
