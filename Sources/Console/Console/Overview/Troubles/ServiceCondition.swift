public import AppleAccounts
import Encodings
public import KeySets

/// The measurements at one point in time. The overview derives faults from them.
public struct ServiceCondition: Sendable {
    public var now: Moment
    /// The last database check's failure; `nil` while the database accepts commands.
    public var databaseFailure: StorageError?
    public var isPostgres = false
    /// The PostgreSQL standbys; `nil` with SQLite, and if commits do not wait for standbys.
    public var standbys: StandbyCondition?
    public var keys: KeySetHealth
    /// The address of Apple's keys; empty if they come from a file.
    public var keysURL = ""
    /// Number of seconds that the clock is ahead of Apple's; `nil` until Apple has responded.
    public var secondsAhead: Int64?
    /// Number of values in the last sample that the sealing keys cannot open.
    public var unreadableValues: Int64 = 0
    /// Signing keys that the sealing keys cannot open.
    public var shutKeys: [ShutKey] = []
    /// True while there is a signing key for each algorithm.
    public var signs = true
    /// False if no sealing key is configured, so that nothing is sealed.
    public var hasSealingKeys = false
    /// Number of values in the last sample.
    public var sampledValues: Int64 = 0
    /// The private address that sent all requests in the last hour; `nil` if other addresses sent some.
    public var loneRequester: String?
    /// The failing reports to Google; `nil` if none is failing.
    public var google: ReceiverCondition?
    /// Event receivers that are paused.
    public var pausedReceivers: [String] = []
    /// Receivers that have not accepted an event for some time, except paused receivers.
    public var lateReceivers: [LateReceiver] = []
    public var queues: [QueueCondition] = []
    /// This process's counts for the last ten minutes.
    var recent: NumberSeries.Counts = [:]
    /// Counts for the last five minutes.
    var latest: NumberSeries.Counts = [:]
    /// Counts for the last two minutes.
    var newest: NumberSeries.Counts = [:]
    /// Counts for the last hour.
    var hour: NumberSeries.Counts = [:]
    /// Counts for the last day, on all replicas.
    var day: NumberSeries.Counts = [:]
    /// Time of the last notification that this process has received.
    var lastNotification: Moment?
    /// Time of the last notification on any replica; `nil` while it is unknown.
    public var lastStoredNotification: Moment?
    /// Time when this process last found a rejected refresh token.
    var lastRejection: Moment?
    /// The cause of the last failed transaction.
    var newestFailure: StorageError.Code?

    public init(now: Moment, keys: KeySetHealth) { (self.now, self.keys) = (now, keys) }
}

/// The standbys that commits wait for.
///
/// - wanted: The value of the `synchronous_standby_names` setting.
public typealias StandbyCondition = (required: Int, connected: Int, wanted: String)

/// A signing key that cannot be opened.
public struct ShutKey: Sendable, Equatable {
    public let keyID: String
    public let algorithm: String
    /// Name of the sealing key that sealed the signing key.
    public let sealedBy: String

    public init(keyID: String, algorithm: String, sealedBy: String) {
        (self.keyID, self.algorithm, self.sealedBy) = (keyID, algorithm, sealedBy)
    }
}

/// A receiver that has not accepted all events.
///
/// - waiting: Upper bound on the number of waiting events.
/// - since: Time when the oldest waiting event was recorded.
public typealias LateReceiver = (name: String, waiting: Int64, since: Moment)

/// Failing deliveries to one receiver.
///
/// - failing: Number of events whose delivery has failed at least once.
/// - attempts: Highest number of attempts for any event.
public typealias ReceiverCondition = (failing: Int, attempts: Int64, failingSince: Moment)

/// The state of a work queue.
public struct QueueCondition: Sendable, Equatable {
    public enum Name: String, Sendable, CaseIterable {
        case exchange, check, erasure, receipt
        /// Reports to Google.
        case google
        /// Events for the deployment's receivers.
        case deliveries
    }

    public let name: Name
    /// Number of items; `nil` if they are not counted.
    public let count: Int64?
    /// Seconds since the oldest item first became due. A failed attempt does not reset this time. For events,
    /// the time is measured from the recording of the oldest event. For receipts, it is measured from the due
    /// time of the next attempt.
    public let oldest: Int64
    /// The time when the service gives up on the first item; `nil` if it never gives up.
    public var deadline: Moment?

    public init(_ name: Name, count: Int64?, oldest: Int64) {
        (self.name, self.count, self.oldest) = (name, count, oldest)
    }

    public var isOverdue: Bool { oldest > name.traits.limit }
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

    /// Converts seconds to the unit and rounds to the nearest number. Does not overflow.
    private static func whole(_ seconds: Int64, _ unit: Int64) -> Int64 {
        seconds / unit + (seconds % unit >= unit / 2 ? 1 : 0)
    }

    /// Returns the time of day: with 8 characters including seconds, with 5 without them.
    static func time(_ milliseconds: Int64, characters: Int = 8) -> String {
        String(RFC3339.text(milliseconds: milliseconds).dropFirst(11).prefix(characters))
    }

    static func date(_ milliseconds: Int64) -> String {
        let text = RFC3339.text(milliseconds: milliseconds)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }
}

extension QueueCondition.Name {
    /// Texts and limits of the queues.
    ///
    /// - words: A plural noun that starts a sentence.
    /// - isAtApple: False for deliveries to Google and to receivers, because they have their own troubles.
    /// - limit: Number of seconds after which the oldest item is overdue, as in the alert `SiwaWorkOverdue`.
    ///   For checks the limit is 26 hours, because the service repeats a check with a lost response only on the
    ///   next day.
    var traits: (words: String, isAtApple: Bool, limit: Int64) {
        switch self {
        case .exchange: ("Exchanges of codes at Apple", true, 3600)
        case .check: ("Daily checks at Apple", true, 93_600)
        case .erasure: ("Erasures at Apple", true, 3600)
        case .receipt: ("Exchanges of App Attest receipts", true, 3600)
        case .google: ("Reports to Google", false, 3600)
        case .deliveries: ("Events for receivers", false, 3600)
        }
    }
}
