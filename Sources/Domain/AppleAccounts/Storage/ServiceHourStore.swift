/// Storage of the service's own numbers by hour, for the plots of the console.
///
/// The table is bounded by the number of names, of retained hours, and of replicas. A
/// replica that starts again is another replica.
public protocol ServiceHourStore: Sendable {
    /// Replaces the counts of these hours of a replica, in one transaction: all or none. A count
    /// covers the whole hour so far, so that a write whose outcome is unknown can be repeated. The
    /// rows are distinct by replica, hour and name.
    func setServiceHours(_ counts: [ServiceHourCount]) async throws

    /// Returns the sums over all replicas by hour and name, from the given hour on, the
    /// oldest first, sorted by name within an hour.
    func serviceHours(from hour: Moment) async throws -> [ServiceHourSum]

    /// Deletes a bounded number of hours that began before this moment. Returns the number of deleted rows.
    func purgeServiceHours(before moment: Moment) async throws -> Int
}

/// A number that one replica has counted within one hour, under a name from a closed list of this service.
///
/// Neither the name nor the number identifies a user.
public struct ServiceHourCount: Sendable, Hashable {
    /// The process that counts, by a random name that it generates at its start.
    public let replica: String
    /// Start of the hour. A multiple of an hour.
    public let hour: Moment
    public let name: String
    /// Count of the whole hour so far. Never negative.
    public let count: Int64

    public static let milliseconds: Int64 = 3_600_000
    /// Retention time of hours: 7 days.
    public static let kept: Int64 = 7 * 24 * milliseconds
    /// Largest number of characters of replica and name.
    public static let longestName = 80

    public init(replica: String, hour: Moment, name: String, count: Int64) {
        (self.replica, self.hour, self.name, self.count) = (replica, hour, name, count)
    }

    /// Returns the start of the hour of a moment.
    public static func beginning(of moment: Moment) -> Moment {
        Moment(milliseconds: max(0, moment.milliseconds) / milliseconds * milliseconds)
    }
}

/// The sum of the counts of all replicas within one hour.
public struct ServiceHourSum: Sendable, Hashable {
    public let hour: Moment
    public let name: String
    public let count: Int64

    public init(hour: Moment, name: String, count: Int64) {
        (self.hour, self.name, self.count) = (hour, name, count)
    }
}
