/// Stores the service's own hourly counts, for the plots in the console.
///
/// The table size is limited by the numbers of names, retained hours and replicas. A restarted replica counts
/// as a new replica.
public protocol ServiceHourStore: Sendable {
    /// Replaces a replica's counts for these hours, in one transaction. A count covers the whole hour so far,
    /// so a write whose outcome is unknown can be repeated. Rows are unique by replica, hour and name.
    func setServiceHours(_ counts: [ServiceHourCount]) async throws

    /// Returns the sums over all replicas by hour and name, starting at the given hour, oldest first and
    /// sorted by name within each hour.
    func serviceHours(from hour: Moment) async throws -> [ServiceHourSum]

    /// Deletes a limited number of hours that began before this moment. Returns the number of deleted rows.
    func purgeServiceHours(before moment: Moment) async throws -> Int
}

/// One replica's count for one hour, under a name from a fixed list in this service.
///
/// Neither the name nor the number identifies a user.
public struct ServiceHourCount: Sendable, Hashable {
    /// Random name of the counting process, which generates the name when it starts.
    public let replica: String
    /// Start of the hour, always on a full hour.
    public let hour: Moment
    public let name: String
    /// Count for the whole hour so far. Never negative.
    public let count: Int64

    public static let milliseconds: Int64 = 3_600_000
    /// Retention time of hours: 7 days.
    public static let kept: Int64 = 7 * 24 * milliseconds
    /// Maximum length of replica and name, in characters.
    public static let longestName = 80

    public init(replica: String, hour: Moment, name: String, count: Int64) {
        (self.replica, self.hour, self.name, self.count) = (replica, hour, name, count)
    }

    /// Returns the start of the hour that contains a moment.
    public static func beginning(of moment: Moment) -> Moment {
        Moment(milliseconds: max(0, moment.milliseconds) / milliseconds * milliseconds)
    }
}

/// The sum of all replicas' counts for one hour.
public struct ServiceHourSum: Sendable, Hashable {
    public let hour: Moment
    public let name: String
    public let count: Int64

    public init(hour: Moment, name: String, count: Int64) {
        (self.hour, self.name, self.count) = (hour, name, count)
    }
}
