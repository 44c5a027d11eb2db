import AppleAccounts
import AppleIDClient

/// One attempt to exchange an Apple code: the decisions before and after the call of Apple. Does no I/O and
/// reads no clock.
///
/// A code works once. It is not sent again when an earlier exchange may have succeeded and its
/// response was lost: Apple may take the repetition for theft and revoke the tokens that it
/// issued (RFC 6749 §4.1.2). Two exceptions, in which a repeated call cannot do harm: after a
/// status of 5xx, which issues nothing, and after an attempt that ended with its process,
/// whose response was lost in any case. A refusal then does not show the state of the code.
struct ExchangeAttempt: Sendable, Hashable {
    /// Milliseconds for which Apple accepts a code. Counted from the moment at which the code was posted, so
    /// that the time never ends too early; a call that is a little late costs a refusal.
    static let codeLifetime: Int64 = 300_000
    /// Milliseconds before the end at which the last attempt is made.
    static let margin: Int64 = 2000

    /// Number of this attempt, counted from 1.
    let number: Int
    /// True if an earlier attempt ended without a result.
    let isInterrupted: Bool
    let expiresAt: Moment

    enum Verdict: Equatable {
        case tryAgain(at: Moment)
        case giveUp(RefreshTokenCause)
    }

    /// Returns the reason why Apple need not be called; `nil` if the call should be made.
    func refusal(at now: Moment) -> RefreshTokenCause? {
        guard now >= expiresAt else { return nil }
        return isInterrupted ? .exchangeUncertain : .codeExpired
    }

    /// Returns the time of the next attempt while the client ID pauses until `end`; `nil` if the code is
    /// tried now. The last attempt is made in any case: other codes may have caused the pause.
    func later(_ end: Moment, at now: Moment) -> Moment? {
        now < last ? min(end, last) : nil
    }

    /// - Parameter delay: Milliseconds until the next attempt, if an attempt remains.
    func verdict(on error: AppleCallError, at now: Moment, delay: Int64) -> Verdict {
        switch error.code {
        case .unreachable, .circuitOpen, .serverFailed:
            tryAgain(at: now, delay: delay, elseGiveUp: isInterrupted ? .exchangeUncertain : .codeExpired)
        case .throttled:
            tryAgain(
                at: now, delay: max(delay, error.retryAfter?.wholeMilliseconds ?? 0),
                elseGiveUp: isInterrupted ? .exchangeUncertain : .codeExpired)
        case .signingFailed:
            // The key file may be replaced at this moment.
            tryAgain(at: now, delay: delay, elseGiveUp: .noSigningKey)
        case .noSigningKey:
            .giveUp(.noSigningKey)
        case .timedOut, .connectionLost, .responseUnusable:
            .giveUp(.exchangeUncertain)
        case .rejected:
            .giveUp(cause(of: error.appleError))
        }
    }

    /// The moment of the last attempt.
    private var last: Moment { expiresAt.advanced(byMilliseconds: -Self.margin) }

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
        guard now < last else { return .giveUp(cause) }
        return .tryAgain(at: min(now.advanced(byMilliseconds: delay), last))
    }
}

/// Decides whether the store keeps an Apple code, sealed, until its exchange.
struct AuthorizationCodePolicy: Sendable {
    /// True if there is a key to seal with.
    let canSeal: Bool
    let canSign: @Sendable (TeamID) -> Bool

    enum Decision {
        case keep(AuthorizationCodeOffer)
        case leave(RefreshTokenCause)
    }

    /// - Parameters:
    ///   - clientID: The `aud` of the identity token to which `c_hash` binds the code.
    ///   - now: Time at which the code was posted.
    func decide(
        on code: String, clientID: ClientID, redirectURI: String?, team: TeamID, at now: Moment
    ) -> Decision {
        guard canSeal else { return .leave(.noSealingKey) }
        // Without a signing key the code could not be exchanged before it expires.
        guard canSign(team) else { return .leave(.noSigningKey) }
        guard let secret = AppleTokenSecret(code) else { return .leave(.codeRejected) }
        var generator = SystemRandomNumberGenerator()
        return .keep(
            AuthorizationCodeOffer(
                id: UniqueID(at: now, using: &generator), clientID: clientID, redirectURI: redirectURI,
                expiresAt: now.advanced(byMilliseconds: ExchangeAttempt.codeLifetime), secret: secret))
    }
}
