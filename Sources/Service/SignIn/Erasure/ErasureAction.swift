import AppleAccounts
import AppleIDClient

/// The next step in the revocation of an erased account's Apple token. Does no I/O.
///
/// Apple responds to every revocation with 200, so only a refused refresh proves it. A token that can still
/// be refreshed is revoked again.
enum ErasureAction: Equatable {
    case proceed(ErasureToken.Step)
    /// Repeat later, from this step on.
    case retry(ErasureToken.Step, cause: String)
    case finish(ErasureOutcome, cause: String?)

    /// True if the next step follows at once.
    var proceeds: Bool {
        if case .proceed = self { true } else { false }
    }

    /// - Parameter error: `nil` when Apple responded with 200.
    init(afterRevocation error: AppleCallError?) {
        guard let error else {
            self = .proceed(.prove)
            return
        }
        switch error.code {
        case .noSigningKey:
            self = .finish(.notRevoked, cause: RefreshTokenCause.noSigningKey.rawValue)
        case .rejected where !error.isOfConfiguration:
            // The token may be revoked already. The proof shows it.
            self = .proceed(.prove)
        case .rejected, .unreachable, .circuitOpen, .timedOut, .connectionLost, .responseUnusable,
            .serverFailed, .throttled, .signingFailed:
            self = .retry(.revoke, cause: Self.word(for: error))
        }
    }

    /// - Parameter error: `nil` when the token can still be refreshed.
    init(afterProof error: AppleCallError?) {
        guard let error else {
            self = .retry(.revoke, cause: "still_valid")
            return
        }
        switch error.code {
        case .noSigningKey:
            self = .finish(.notRevoked, cause: RefreshTokenCause.noSigningKey.rawValue)
        case .rejected where error.appleError == .invalidGrant:
            self = .finish(.provenRevoked, cause: nil)
        case .rejected, .unreachable, .circuitOpen, .timedOut, .connectionLost, .responseUnusable,
            .serverFailed, .throttled, .signingFailed:
            self = .retry(.prove, cause: Self.word(for: error))
        }
    }

    /// Returns the cause in the report: Apple's error code, or ours.
    static func word(for error: AppleCallError) -> String {
        error.appleError?.rawValue ?? error.code.rawValue
    }
}

extension ErasureToken {
    /// Applies an action to the record of the Apple token. Does no I/O.
    ///
    /// - Parameters:
    ///   - lease: End of the claim when the next step follows at once: no other replica may claim the record
    ///     before.
    ///   - delay: Milliseconds until the next attempt, when the action is a retry.
    ///   - deadline: Moment after which Apple is not called any more, so that every erasure ends.
    mutating func apply(
        _ action: ErasureAction, at now: Moment, lease: Moment, delay: Int64, deadline: Moment
    ) {
        switch action {
        case .proceed(let next):
            step = next
            nextAttemptAt = lease
        case .retry(let next, let word):
            cause = word
            guard now < deadline else { return end(.notRevoked) }
            step = next
            // The last attempt is made at the deadline and not after it.
            nextAttemptAt = min(now.advanced(byMilliseconds: delay), deadline)
        case .finish(let outcome, let word):
            cause = word
            end(outcome)
        }
    }

    private mutating func end(_ outcome: ErasureOutcome) {
        step = .done(outcome)
        sealed = nil
    }
}
