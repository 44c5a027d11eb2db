import AppleAccounts
import AppleIDClient

/// The next step in the revocation of a grant of an erased account. Does no I/O.
///
/// Apple responds to every revocation with 200, so only a refused refresh proves it. A token that can still
/// be refreshed is revoked again.
enum ErasureMove: Equatable {
    case goOn(ErasureGrant.Step)
    /// Repeat from this step on, later.
    case tryAgain(ErasureGrant.Step, cause: String)
    case end(ErasureOutcome, cause: String?)

    /// Whether the next step follows at once.
    var goesOn: Bool {
        if case .goOn = self { true } else { false }
    }

    /// - Parameter error: `nil` when Apple answered 200.
    init(afterRevocation error: AppleCallError?) {
        guard let error else {
            self = .goOn(.prove)
            return
        }
        switch error.code {
        case .noSigningKey:
            self = .end(.notRevoked, cause: RefreshTokenCause.noSigningKey.rawValue)
        case .rejected where !error.isOfConfiguration:
            // The token may be revoked already. The proof shows it.
            self = .goOn(.prove)
        case .rejected, .unreachable, .circuitOpen, .timedOut, .connectionLost, .answerUnusable,
            .serverFailed, .throttled, .signingFailed:
            self = .tryAgain(.revoke, cause: Self.word(for: error))
        }
    }

    /// - Parameter error: `nil` when the token can still be refreshed.
    init(afterProof error: AppleCallError?) {
        guard let error else {
            self = .tryAgain(.revoke, cause: "still_valid")
            return
        }
        switch error.code {
        case .noSigningKey:
            self = .end(.notRevoked, cause: RefreshTokenCause.noSigningKey.rawValue)
        case .rejected where error.appleError == .invalidGrant:
            self = .end(.provenRevoked, cause: nil)
        case .rejected, .unreachable, .circuitOpen, .timedOut, .connectionLost, .answerUnusable,
            .serverFailed, .throttled, .signingFailed:
            self = .tryAgain(.prove, cause: Self.word(for: error))
        }
    }

    /// The cause in the report: Apple's error code, or ours.
    static func word(for error: AppleCallError) -> String {
        error.appleError?.rawValue ?? error.code.rawValue
    }
}

extension ErasureGrant {
    /// Applies a move to the grant. Does no I/O.
    ///
    /// - Parameters:
    ///   - lease: Until when no other replica may claim the grant, when it goes on at once.
    ///   - delay: Milliseconds until the next attempt, when it has to wait.
    ///   - deadline: When Apple is not called any more, so that every erasure ends.
    mutating func apply(_ move: ErasureMove, at now: Moment, lease: Moment, delay: Int64, deadline: Moment) {
        switch move {
        case .goOn(let next):
            step = next
            nextAttemptAt = lease
        case .tryAgain(let next, let word):
            cause = word
            guard now < deadline else { return end(.notRevoked) }
            step = next
            // The last attempt is made at the deadline and not after it.
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
