public import AppleAccounts

/// How long ago a person may have signed in at Apple (OpenID Connect Core §3.1.2.1, `max_age`).
public struct AuthenticationAge: Sendable, Hashable {
    /// In seconds. `nil` is no bound.
    public let longest: Int64?

    public init(longest: Int64?) {
        self.longest = longest
    }

    /// Whether an authentication is recent enough. One that is as old as the bound is.
    ///
    /// - Parameter moment: The authorization moment. `nil`, where it is not known, is never recent.
    public func accepts(_ moment: Moment?, at now: Moment) -> Bool {
        guard let earliest = earliest(at: now) else { return true }
        return moment.map { $0 >= earliest } ?? false
    }

    /// How far the clock that states an authentication may be ahead of ours, in milliseconds.
    public static let leeway: Int64 = 60_000

    /// Whether an authentication lies in the future by more than the leeway. It would be recent for ever, and
    /// younger than every revocation.
    public static func isAhead(_ moment: Moment, of now: Moment) -> Bool {
        moment > now.advanced(byMilliseconds: leeway)
    }

    /// The earliest authorization moment that is recent enough, or `nil` without a bound.
    public func earliest(at now: Moment) -> Moment? {
        longest.map { now.advanced(byMilliseconds: -$0 * 1000) }
    }
}
