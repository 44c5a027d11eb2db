public import AppleAccounts

/// The bound on the age of the user's sign-in at Apple (OpenID Connect Core §3.1.2.1, `max_age`).
public struct AuthenticationAge: Sendable, Hashable {
    /// Largest age in seconds. `nil` is no bound.
    public let longest: Int64?

    public init(longest: Int64?) {
        self.longest = longest
    }

    /// Returns `true` if an authentication is recent enough. An authentication exactly as old as the bound is
    /// accepted.
    ///
    /// - Parameter moment: The authorization moment. An unknown moment, `nil`, is never recent.
    public func accepts(_ moment: Moment?, at now: Moment) -> Bool {
        guard let earliest = earliest(at: now) else { return true }
        return moment.map { $0 >= earliest } ?? false
    }

    /// Milliseconds by which the clock that states an authentication may be ahead of ours.
    public static let leeway: Int64 = 60_000

    /// Returns `true` if an authentication lies in the future by more than the leeway. It would be recent for
    /// ever, and younger than every revocation.
    public static func isAhead(_ moment: Moment, of now: Moment) -> Bool {
        moment > now.advanced(byMilliseconds: leeway)
    }

    /// The earliest authorization moment that is recent enough, or `nil` without a bound.
    public func earliest(at now: Moment) -> Moment? {
        longest.map { now.advanced(byMilliseconds: -$0 * 1000) }
    }
}
