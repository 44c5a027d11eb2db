public import AppleAccounts
import Encodings
public import KeySets

/// The measurements of one moment from which the overview finds faults.
public struct ServiceCondition: Sendable {
    public var now: Moment
    /// The failure of the last check of the database; `nil` while it accepts commands.
    public var databaseFailure: StorageError?
    public var isPostgres = false
    /// `nil` where commits wait for no standby, and on SQLite.
    public var standbys: StandbyCondition?
    public var keys: KeySetHealth
    /// The address of Apple's keys; empty for keys from a file.
    public var keysURL = ""
    /// Seconds by which the clock is ahead of Apple's; `nil` until Apple has responded.
    public var secondsAhead: Int64?
    /// Values of the last sample that the sealing keys do not open.
    public var unreadableValues: Int64 = 0
    /// Keys that sign tokens and that the sealing keys do not open.
    public var shutKeys: [ShutKey] = []
    /// True while a key of each algorithm signs.
    public var signs = true
    /// False where no sealing key is configured, so that nothing is sealed.
    public var hasSealingKeys = false
    /// The number of values of the last sample.
    public var sampledValues: Int64 = 0
    /// The private address from which all requests of the last hour came; `nil` for an ordinary hour.
    public var loneRequester: String?
    /// The report to Google that has failed for longest; `nil` without any.
    public var google: ReceiverCondition?
    /// Receivers of events that are paused.
    public var pausedReceivers: [String] = []
    /// Receivers that have not taken an event for some time, except paused receivers.
    public var lateReceivers: [LateReceiver] = []
    public var queues: [QueueCondition] = []
    /// Counts of the last ten minutes, of this process.
    var recent: NumberSeries.Counts = [:]
    /// Counts of the last five minutes.
    var latest: NumberSeries.Counts = [:]
    /// Counts of the last two minutes.
    var newest: NumberSeries.Counts = [:]
    /// Counts of the last hour.
    var hour: NumberSeries.Counts = [:]
    /// Counts of the last day, of all replicas.
    var day: NumberSeries.Counts = [:]
    /// The moment of the last notification that this process has received.
    var lastNotification: Moment?
    /// The moment of the last notification of all replicas; `nil` while it is not known.
    public var lastStoredNotification: Moment?
    /// The moment at which this process found the last rejected refresh token.
    var lastRejection: Moment?
    /// The cause of the last failed transaction.
    var newestFailure: StorageError.Code?

    public init(now: Moment, keys: KeySetHealth) { (self.now, self.keys) = (now, keys) }
}

/// The standbys that commits wait for.
///
/// - wanted: The setting `synchronous_standby_names`.
public typealias StandbyCondition = (required: Int, connected: Int, wanted: String)

/// A key that signs tokens and does not open.
public struct ShutKey: Sendable, Equatable {
    public let keyID: String
    public let algorithm: String
    /// The name of the sealing key that has sealed it.
    public let sealedBy: String

    public init(keyID: String, algorithm: String, sealedBy: String) {
        (self.keyID, self.algorithm, self.sealedBy) = (keyID, algorithm, sealedBy)
    }
}

/// A receiver with an event that it has not taken.
///
/// - waiting: Events that wait, at most.
/// - since: The moment at which the first of them was recorded.
public typealias LateReceiver = (name: String, waiting: Int64, since: Moment)

/// Events that wait for a receiver.
///
/// - failing: Events whose delivery has failed at least once.
/// - attempts: The highest number of attempts of an event.
public typealias ReceiverCondition = (failing: Int, attempts: Int64, failingSince: Moment)

/// Work that is due.
public struct QueueCondition: Sendable, Equatable {
    public enum Name: String, Sendable, CaseIterable {
        case exchange, check, erasure, receipt
        /// Reports to Google.
        case google
        /// Events for the receivers of the deployment.
        case deliveries
    }

    public let name: Name
    /// `nil` where the number is not counted.
    public let count: Int64?
    /// Seconds since the oldest was due first, whatever attempts have failed. For events: since it was recorded.
    /// For receipts: since the time of the next attempt.
    public let oldest: Int64
    /// The moment at which the first of it is given up; `nil` where nothing is.
    public var deadline: Moment?

    public init(_ name: Name, count: Int64?, oldest: Int64) {
        (self.name, self.count, self.oldest) = (name, count, oldest)
    }

    /// As in the alert `SiwaWorkOverdue`: an hour. For checks 26 hours, because a check whose response was lost
    /// is made again the next day.
    public var isOverdue: Bool {
        switch name {
        case .check: oldest > 93_600
        case .exchange, .erasure, .receipt, .google, .deliveries: oldest > 3600
        }
    }
}

extension ServiceCondition {
    static func requests(caller: String? = nil, code: String? = nil) -> Trouble.Page {
        let query = [("caller", caller), ("code", code)].compactMap { name, value in
            value.map { "\(name)=\(QueryText.encode($0))" }
        }.joined(separator: "&")
        return Trouble.Page(title: "Requests", path: "/console/requests" + (query.isEmpty ? "" : "?\(query)"))
    }

    static func percent(_ part: Int64, of whole: Int64) -> String { "\(whole > 0 ? part * 100 / whole : 0)%" }

    static func duration(_ seconds: Int64) -> String {
        switch seconds {
        case 172_800...: "\(whole(seconds, 86_400)) days"
        case 7200...: "\(whole(seconds, 3600)) hours"
        case 120...: "\(whole(seconds, 60)) minutes"
        default: "\(seconds) seconds"
        }
    }

    static func ago(_ moment: Moment, at now: Moment) -> String {
        let seconds = max(0, now.milliseconds - moment.milliseconds) / 1000
        return seconds < 5 ? "now" : "\(duration(seconds)) ago"
    }

    /// The nearest number of units. Does not overflow.
    private static func whole(_ seconds: Int64, _ unit: Int64) -> Int64 {
        seconds / unit + (seconds % unit >= unit / 2 ? 1 : 0)
    }

    static func time(_ milliseconds: Int64) -> String {
        String(RFC3339.text(milliseconds: milliseconds).dropFirst(11).prefix(5))
    }

    /// The time of day with seconds.
    static func clockTime(_ milliseconds: Int64) -> String {
        String(RFC3339.text(milliseconds: milliseconds).dropFirst(11).prefix(8))
    }

    static func date(_ milliseconds: Int64) -> String {
        let text = RFC3339.text(milliseconds: milliseconds)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }
}

extension QueueCondition.Name {
    /// A noun in the plural, at the beginning of a sentence.
    var words: String {
        switch self {
        case .exchange: "Exchanges of codes at Apple"
        case .check: "Daily checks at Apple"
        case .erasure: "Erasures at Apple"
        case .receipt: "Exchanges of App Attest receipts"
        case .google: "Reports to Google"
        case .deliveries: "Events for receivers"
        }
    }

    /// False for deliveries, which have troubles of their own.
    var isAtApple: Bool {
        switch self {
        case .exchange, .check, .erasure, .receipt: true
        case .google, .deliveries: false
        }
    }
}
