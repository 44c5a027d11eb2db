import AppleAccounts
import AppleIDClient

/// What is done with an authorization code before and after Apple is asked. Pure.
///
/// A code works once. It is not sent again when an earlier exchange may have been carried out and its answer
/// was lost: Apple may take the repetition for theft and withdraw what it granted (RFC 6749 §4.1.2). There
/// are two exceptions, in both of which nothing can be lost by asking: a status of 5xx, which grants nothing,
/// and an attempt that ended with its process, of which nobody has the answer. A refusal then does not say
/// what became of the code.
struct ExchangeAttempt: Sendable, Hashable {
    /// Apple's word for how long a code is good, in milliseconds. Counted from when it was posted, so that it
    /// never ends too early; asking a little too late costs a refusal.
    static let codeLifetime: Int64 = 300_000
    /// Milliseconds before the end at which the last attempt is made.
    static let margin: Int64 = 2000

    /// Counted from 1, this one included.
    let number: Int
    /// An earlier one ended without a word.
    let isInterrupted: Bool
    let expiresAt: Moment

    enum Verdict: Equatable {
        case tryAgain(at: Moment)
        case giveUp(RefreshTokenCause)
    }

    /// Why Apple need not be asked any more; `nil` when it is to be asked.
    func refusal(at now: Moment) -> RefreshTokenCause? {
        guard now >= expiresAt else { return nil }
        return isInterrupted ? .exchangeUncertain : .codeExpired
    }

    /// - Parameter delay: Milliseconds until the next attempt, if there is one.
    func verdict(on error: AppleCallError, at now: Moment, delay: Int64) -> Verdict {
        switch error.code {
        case .unreachable, .circuitOpen, .serverFailed:
            tryAgain(at: now, delay: delay, elseGiveUp: isInterrupted ? .exchangeUncertain : .codeExpired)
        case .throttled:
            tryAgain(
                at: now, delay: max(delay, error.retryAfter?.wholeMilliseconds ?? 0),
                elseGiveUp: isInterrupted ? .exchangeUncertain : .codeExpired)
        case .signingFailed:
            // The key file may be on its way to being replaced.
            tryAgain(at: now, delay: delay, elseGiveUp: .noSigningKey)
        case .noSigningKey:
            .giveUp(.noSigningKey)
        case .timedOut, .connectionLost, .answerUnusable:
            .giveUp(.exchangeUncertain)
        case .rejected:
            .giveUp(cause(of: error.appleError))
        }
    }

    private func cause(of error: AppleErrorCode?) -> RefreshTokenCause {
        switch error {
        case .invalidClient, .unauthorizedClient: .clientRejected
        case .invalidGrant, .invalidRequest, .unsupportedGrantType, .invalidScope, .other, nil:
            number > 1 || isInterrupted ? .exchangeUncertain : .codeRejected
        }
    }

    private func tryAgain(
        at now: Moment, delay: Int64, elseGiveUp cause: RefreshTokenCause
    ) -> Verdict {
        let last = expiresAt.advanced(byMilliseconds: -Self.margin)
        guard now < last else { return .giveUp(cause) }
        return .tryAgain(at: min(now.advanced(byMilliseconds: delay), last))
    }
}
