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
    /// Identity tokens that were verified, and those that were refused.
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
