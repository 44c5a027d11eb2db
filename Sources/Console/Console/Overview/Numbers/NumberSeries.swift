import AppleAccounts

/// Counts by minute for an hour and by hour until they are stored, from totals that only grow. It does no I/O
/// and reads no clock.
///
/// Memory is bounded by the names, 61 minutes and 48 hours.
struct NumberSeries {
    typealias Counts = [CountName: Int64]

    /// The counts of one minute or hour.
    struct Point: Sendable {
        let begin: Moment
        let counts: Counts
    }

    static let minute: Int64 = 60_000
    /// Complete minutes, besides the one under way.
    static let mostMinutes = 60
    /// Hours that wait while the database is away. Then the oldest is dropped.
    static let mostHours = 48

    private var last: Counts = [:]
    private var minutes: [Int64: Counts] = [:]
    private var hours: [Moment: Counts] = [:]
    private var changedHours: Set<Moment> = []
    /// The stored counts of the hours in memory, and the counts that are being stored.
    private var storedHours: [Moment: Counts] = [:]
    private var writtenHours: [Moment: Counts] = [:]
    /// The moment at which a notification of Apple was counted last; `nil` before the first.
    private(set) var lastNotification: Moment?
    /// The moment at which a check was counted last that found a rejected token; `nil` before the first.
    private(set) var lastRejection: Moment?
    /// The cause of the failed transactions that were counted last; of several at once the most frequent.
    private(set) var lastFailure: String?

    /// Adds the growth of the totals since the start of the process. Totals that are older than the last ones
    /// add nothing, because several readers call this in any order.
    ///
    /// - Returns: True if a number has changed.
    @discardableResult
    mutating func take(_ totals: Counts, at now: Moment) -> Bool {
        var growth: Counts = [:]
        for (name, total) in totals where total > last[name, default: 0] {
            growth[name] = total - last[name, default: 0]
            last[name] = total
        }
        let minute = now.milliseconds / Self.minute
        minutes = minutes.filter { $0.key >= minute - Int64(Self.mostMinutes) }
        guard !growth.isEmpty else { return false }
        if growth[.notification] != nil { lastNotification = now }
        if growth[.checkRejected] != nil { lastRejection = now }
        let failures = growth.filter { $0.key.failureCause != nil }
        if let newest = failures.max(by: { ($0.value, $0.key.text) < ($1.value, $1.key.text) }) {
            lastFailure = newest.key.failureCause
        }
        minutes[minute, default: [:]].merge(growth, uniquingKeysWith: +)
        let hour = ServiceHourCount.beginning(of: now)
        hours[hour, default: [:]].merge(growth.filter { $0.key.isStored }, uniquingKeysWith: +)
        changedHours.insert(hour)
        while hours.count > Self.mostHours, let oldest = hours.keys.min() {
            (hours[oldest], storedHours[oldest]) = (nil, nil)
            changedHours.remove(oldest)
        }
        return true
    }

    /// Counts of the last 60 minutes and of the minute under way, the oldest first.
    func lastHour(at now: Moment) -> [Point] {
        let newest = now.milliseconds / Self.minute
        return (newest - Int64(Self.mostMinutes)...newest).map {
            Point(begin: Moment(milliseconds: $0 * Self.minute), counts: minutes[$0] ?? [:])
        }
    }

    /// The sum of the minute under way and of the minutes before it.
    func sum(ofLastMinutes number: Int, at now: Moment) -> Counts {
        lastHour(at: now).suffix(number + 1).reduce(into: [:]) { sum, minute in
            sum.merge(minute.counts, uniquingKeysWith: +)
        }
    }

    /// The counts of this process that are neither stored nor being stored.
    var unstoredHours: [Moment: Counts] {
        var unstored: [Moment: Counts] = [:]
        for (hour, counts) in hours where changedHours.contains(hour) {
            let known = writtenHours[hour] ?? storedHours[hour] ?? [:]
            for (name, count) in counts where count > known[name, default: 0] {
                unstored[hour, default: [:]][name] = count - known[name, default: 0]
            }
        }
        return unstored
    }

    /// Returns the hours whose counts have changed since they were taken, each with the counts of the whole
    /// hour so far. Hours that are over are forgotten when they are stored.
    mutating func takeChangedHours() -> [Moment: Counts] {
        writtenHours = hours.filter { changedHours.contains($0.key) }
        changedHours = []
        return writtenHours
    }

    /// Notes that the hours could not be stored.
    mutating func putBack(_ hours: [Moment: Counts]) {
        writtenHours = [:]
        changedHours.formUnion(hours.keys.filter { self.hours[$0] != nil })
    }

    /// Notes that the hours of the last write are stored. Forgets hours that have ended.
    mutating func forgetStoredHours(at now: Moment) {
        storedHours.merge(writtenHours) { $1 }
        writtenHours = [:]
        let current = ServiceHourCount.beginning(of: now)
        hours = hours.filter { $0.key >= current || changedHours.contains($0.key) }
        storedHours = storedHours.filter { hours[$0.key] != nil }
    }
}

/// The name of a number that the overview counts. The names are a closed list: words of this service, error
/// codes, bounds of a histogram, and configured callers.
struct CountName: Hashable, Sendable {
    let text: String

    private init(_ text: String) { self.text = text }

    /// Sign-ins that were stored.
    static let signIn = CountName("sign_in")
    /// Revocations by Apple's notifications: users who stopped using an app or deleted their account, and were
    /// authorized until then.
    static let revoked = CountName("revoked")
    /// Notifications of Apple that were verified.
    static let notification = CountName("notification")
    /// Revocations by daily checks: Apple rejected a refresh token that was held.
    static let checkRejected = CountName("check_rejected")
    /// Calls in which Apple refused the client secret.
    static let secretRefused = CountName("secret_refused")
    /// Verified identity tokens, and refused identity tokens.
    static let verified = CountName("verified")
    static let unverified = CountName("unverified")
    /// Identity tokens that could be neither, because Apple's keys could not be had.
    static let undecided = CountName("undecided")
    /// Requests that were turned away because of overload.
    static let turnedAway = CountName("turned_away")

    /// Refused requests by error code.
    static func refused(_ code: String) -> CountName { CountName(refusedPrefix + code) }
    /// Requests by duration: those within the bucket with this upper bound in nanoseconds.
    static func latency(_ bound: String) -> CountName { CountName(latencyPrefix + bound) }
    /// Failed transactions by cause.
    static func storageFailure(_ cause: String) -> CountName { CountName("failure." + cause) }
    static func answered(caller: String) -> CountName { CountName("answered." + caller) }
    static func refused(caller: String) -> CountName { CountName("unanswered." + caller) }

    private static let refusedPrefix = "refused."
    private static let latencyPrefix = "latency."
    private static let memoryPrefixes = ["answered.", "unanswered.", "failure."]

    /// `nil` for other names.
    var code: String? { suffix(after: Self.refusedPrefix) }
    var latencyBound: String? { suffix(after: Self.latencyPrefix) }
    /// The cause of failed transactions.
    var failureCause: String? { suffix(after: "failure.") }
    var answeredCaller: String? { suffix(after: "answered.") }
    var refusedCaller: String? { suffix(after: "unanswered.") }

    private func suffix(after prefix: String) -> String? {
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
    }

    /// True for a number whose hours are stored. Numbers by caller stay in memory, so that the table is bounded
    /// by the program and not by the configuration.
    var isStored: Bool {
        !Self.memoryPrefixes.contains { text.hasPrefix($0) } && self != .turnedAway && self != .undecided
    }

    /// - Parameter stored: A name from the database.
    init(stored: String) { text = stored }
}
