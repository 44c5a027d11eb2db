/// The judged requests of one target within one hour.
public struct AppCheckHour: Sendable, Hashable {
    public let target: AppCheckTarget
    /// Beginning of the hour, in seconds since 1970. A multiple of 3600.
    public let hour: Int64
    public var tally: AppCheckTally

    public static let seconds: Int64 = 3600
    /// Time for which hours are kept, in seconds: 7 days.
    public static let kept: Int64 = 7 * 86_400

    public init(target: AppCheckTarget, hour: Int64, tally: AppCheckTally) {
        (self.target, self.hour, self.tally) = (target, hour, tally)
    }

    /// Returns the beginning of the hour of a time in seconds since 1970.
    public static func beginning(of now: Int64) -> Int64 { max(0, now) / seconds * seconds }
}
