public import AppleAccounts
import Synchronization

/// The time of the last verified notification of Apple's, as far as this process knows: of its own requests,
/// and of what it reads of the database, which other replicas and earlier processes have written.
public final class LastNotification: Sendable {
    private let milliseconds: Atomic<Int64>

    /// - Parameter moment: The last notification, or where there is none the time since which one could come.
    public init(_ moment: Moment) {
        milliseconds = Atomic(moment.milliseconds)
    }

    public var moment: Moment { Moment(milliseconds: milliseconds.load(ordering: .relaxed)) }

    /// Does nothing for an earlier time than the known one.
    public func note(_ moment: Moment) {
        milliseconds.max(moment.milliseconds, ordering: .relaxed)
    }
}
