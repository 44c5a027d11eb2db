/// A number that one replica has counted within one hour, under a name of a closed list of this service.
///
/// No name and no number leads to a user.
public struct ServiceHourCount: Sendable, Hashable {
    /// The process that counts: a random name that it makes at its start.
    public let replica: String
    /// Beginning of the hour. A multiple of an hour.
    public let hour: Moment
    public let name: String
    /// Of the whole hour so far. Never negative.
    public let count: Int64

    public static let milliseconds: Int64 = 3_600_000
    /// Time for which hours are kept: 7 days.
    public static let kept: Int64 = 7 * 24 * milliseconds
    /// In characters, of replica and name.
    public static let longestName = 80

    public init(replica: String, hour: Moment, name: String, count: Int64) {
        (self.replica, self.hour, self.name, self.count) = (replica, hour, name, count)
    }

    /// Returns the beginning of the hour of a moment.
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
