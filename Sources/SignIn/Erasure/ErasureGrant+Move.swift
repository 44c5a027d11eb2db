import AppleAccounts

extension ErasureGrant {
    /// Carries a move out on the grant. Pure.
    ///
    /// - Parameters:
    ///   - lease: Until when nobody else may take it up when it goes on at once.
    ///   - delay: Milliseconds until the next attempt when it has to wait.
    ///   - deadline: When Apple is no longer asked, so that every erasure ends.
    mutating func take(_ move: ErasureMove, at now: Moment, lease: Moment, delay: Int64, deadline: Moment) {
        switch move {
        case .goOn(let next):
            step = next
            nextAttemptAt = lease
        case .tryAgain(let next, let word):
            cause = word
            guard now < deadline else { return end(.notRevoked) }
            step = next
            // The last attempt is made at the deadline, and not after it.
            nextAttemptAt = min(now.advanced(byMilliseconds: delay), deadline)
        case .end(let outcome, let word):
            cause = word
            end(outcome)
        }
    }

    private mutating func end(_ outcome: ErasureOutcome) {
        step = .done(outcome)
        sealed = nil
    }
}
