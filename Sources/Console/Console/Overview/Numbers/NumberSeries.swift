import AppleAccounts

/// Computes counts per minute and per hour from totals that only grow. Keeps the minutes for an hour, and
/// each hour until it is stored. Does no I/O and reads no clock.
///
/// The number of names and the limits of 61 minutes and 48 hours bound the memory use.
struct NumberSeries {
    typealias Counts = [CountName: Int64]

    /// The counts for one minute or hour.
    struct Point: Sendable {
        let begin: Moment
        let counts: Counts
    }

    static let minute: Int64 = 60_000
    /// Number of complete minutes kept, in addition to the current minute.
    static let mostMinutes = 60
    /// Maximum number of hours kept while the database is unavailable. Beyond it, the oldest hour is dropped.
    static let mostHours = 48

    private var last: Counts = [:]
    private var minutes: [Int64: Counts] = [:]
    private var hours: [Moment: Counts] = [:]
    private var changedHours: Set<Moment> = []
    /// Stored counts, and counts that are being stored, for the hours in memory.
    private var storedHours: [Moment: Counts] = [:]
    private var writtenHours: [Moment: Counts] = [:]
    /// Time when a notification from Apple was last counted; `nil` before the first.
    private(set) var lastNotification: Moment?
    /// Time of the last counted check that found a rejected token; `nil` before the first.
    private(set) var lastRejection: Moment?
    /// The most frequent cause of failed transactions in the last reading with failures.
    private(set) var lastFailure: String?

    /// Adds each total's growth since the last call. Totals count from the start of the process. Ignores
    /// totals that are lower than known totals, because several readers call this method in any order.
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

    /// Returns the counts for the last 60 minutes and the current minute, oldest first.
    func lastHour(at now: Moment) -> [Point] {
        let newest = now.milliseconds / Self.minute
        return (newest - Int64(Self.mostMinutes)...newest).map {
            Point(begin: Moment(milliseconds: $0 * Self.minute), counts: minutes[$0] ?? [:])
        }
    }

    /// Returns the sum over the current minute and the minutes before it.
    func sum(ofLastMinutes number: Int, at now: Moment) -> Counts {
        lastHour(at: now).suffix(number + 1).reduce(into: [:]) { sum, minute in
            sum.merge(minute.counts, uniquingKeysWith: +)
        }
    }

    /// This process's counts that are neither stored nor being stored.
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

    /// Returns the hours whose counts have changed since the last call, each with its counts so far. The
    /// caller then reports the result of the write to `forgetStoredHours` or `putBack`.
    mutating func takeChangedHours() -> [Moment: Counts] {
        writtenHours = hours.filter { changedHours.contains($0.key) }
        changedHours = []
        return writtenHours
    }

    /// Records that the hours could not be stored, so that the next write includes them.
    mutating func putBack(_ hours: [Moment: Counts]) {
        writtenHours = [:]
        changedHours.formUnion(hours.keys.filter { self.hours[$0] != nil })
    }

    /// Records that the last write stored its hours, and removes hours that have ended from memory.
    mutating func forgetStoredHours(at now: Moment) {
        storedHours.merge(writtenHours) { $1 }
        writtenHours = [:]
        let current = ServiceHourCount.beginning(of: now)
        hours = hours.filter { $0.key >= current || changedHours.contains($0.key) }
        storedHours = storedHours.filter { hours[$0.key] != nil }
    }
}

/// The name of a count on the overview. The number of names is bounded, because they consist of this
/// service's own words, error codes, histogram bounds and configured callers.
struct CountName: Hashable, Sendable {
    let text: String

    private init(_ text: String) { self.text = text }

    /// Stored sign-ins.
    static let signIn = CountName("sign_in")
    /// Revocations that Apple's notifications reported: users who stopped using an app or deleted their
    /// account, and who were authorized until then.
    static let revoked = CountName("revoked")
    /// Verified notifications from Apple.
    static let notification = CountName("notification")
    /// Revocations that daily checks found: Apple rejected a stored refresh token.
    static let checkRejected = CountName("check_rejected")
    /// Calls whose client secret Apple refused.
    static let secretRefused = CountName("secret_refused")
    /// Verified identity tokens, followed by refused tokens.
    static let verified = CountName("verified")
    static let unverified = CountName("unverified")
    /// Identity tokens that were neither verified nor refused, because Apple's keys were not available.
    static let undecided = CountName("undecided")
    /// Requests rejected because of overload.
    static let turnedAway = CountName("turned_away")

    /// Returns the name of the count of requests refused with this error code.
    static func refused(_ code: String) -> CountName { CountName(refusedPrefix + code) }
    /// Requests whose duration is in the histogram bucket with this upper bound in nanoseconds.
    static func latency(_ bound: String) -> CountName { CountName(latencyPrefix + bound) }
    /// Returns the name of the count of transactions that failed with this cause.
    static func storageFailure(_ cause: String) -> CountName { CountName("failure." + cause) }
    static func answered(caller: String) -> CountName { CountName("answered." + caller) }
    static func refused(caller: String) -> CountName { CountName("unanswered." + caller) }

    private static let refusedPrefix = "refused."
    private static let latencyPrefix = "latency."
    private static let memoryPrefixes = ["answered.", "unanswered.", "failure."]

    /// The error code; `nil` for other names.
    var code: String? { suffix(after: Self.refusedPrefix) }
    var latencyBound: String? { suffix(after: Self.latencyPrefix) }
    /// Cause of the failed transactions; `nil` for other names.
    var failureCause: String? { suffix(after: "failure.") }
    var answeredCaller: String? { suffix(after: "answered.") }
    var refusedCaller: String? { suffix(after: "unanswered.") }

    private func suffix(after prefix: String) -> String? {
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
    }

    /// True for a count that the database stores by hour. Counts by caller stay in memory, so that the number
    /// of configured callers does not affect the table size.
    var isStored: Bool {
        !Self.memoryPrefixes.contains { text.hasPrefix($0) } && self != .turnedAway && self != .undecided
    }

    /// - Parameter stored: A name from the database.
    init(stored: String) { text = stored }
}
