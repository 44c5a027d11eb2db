import AppleAccounts
import AppleIDClient

/// An attempt to exchange an authorization code at Apple. Decides whether to call Apple, and evaluates the
/// result. Does no I/O and reads no clock.
///
/// A code is valid once. It is not sent again if an earlier exchange may have succeeded and its response was
/// lost, because Apple may treat the repetition as theft and revoke the issued tokens (RFC 6749 §4.1.2). A
/// repetition is harmless in two cases: after a 5xx status, which issues no token, and after a crash during
/// an attempt, because its response is lost in any case. A refusal then proves nothing about the code.
struct ExchangeAttempt: Sendable, Hashable {
    /// Time in milliseconds during which Apple accepts a code. It starts when the code is posted to this
    /// service, so that it never ends too early. A call that is slightly late costs only a refusal.
    static let codeLifetime: Int64 = 300_000
    /// Time in milliseconds between the last attempt and the end of the code's lifetime.
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

    /// Returns the reason not to call Apple; `nil` if the call should be made.
    func refusal(at now: Moment) -> RefreshTokenCause? {
        guard now >= expiresAt else { return nil }
        return isInterrupted ? .exchangeUncertain : .codeExpired
    }

    /// Returns the time of the next attempt if the client ID is paused until `end`; `nil` to try the code
    /// now. The last attempt is always made, because other codes may have caused the pause.
    func later(_ end: Moment, at now: Moment) -> Moment? {
        now < last ? min(end, last) : nil
    }

    /// - Parameter delay: Milliseconds until the next attempt, if another attempt is possible.
    func verdict(on error: AppleCallError, at now: Moment, delay: Int64) -> Verdict {
        switch error.code {
        case .unreachable, .circuitOpen, .serverFailed:
            tryAgain(at: now, delay: delay, elseGiveUp: isInterrupted ? .exchangeUncertain : .codeExpired)
        case .throttled:
            tryAgain(
                at: now, delay: max(delay, error.retryAfter?.wholeMilliseconds ?? 0),
                elseGiveUp: isInterrupted ? .exchangeUncertain : .codeExpired)
        case .signingFailed:
            // A later attempt can succeed, because the operator may be replacing the key file right now.
            tryAgain(at: now, delay: delay, elseGiveUp: .noSigningKey)
        case .noSigningKey:
            .giveUp(.noSigningKey)
        case .timedOut, .connectionLost, .responseUnusable:
            .giveUp(.exchangeUncertain)
        case .rejected:
            .giveUp(cause(of: error.appleError))
        }
    }

    /// Time of the last attempt.
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

/// Decides whether the store keeps a sealed code until its exchange.
struct AuthorizationCodePolicy: Sendable {
    /// True if a sealing key is configured.
    let canSeal: Bool
    let canSign: @Sendable (TeamID) -> Bool

    enum Decision {
        case keep(AuthorizationCodeOffer)
        case leave(RefreshTokenCause)
    }

    /// - Parameters:
    ///   - clientID: The `aud` of the identity token whose `c_hash` binds the code.
    ///   - now: Time at which the code was posted.
    func decide(
        on code: String, clientID: ClientID, redirectURI: String?, team: TeamID, at now: Moment
    ) -> Decision {
        guard canSeal else { return .leave(.noSealingKey) }
        // Without a signing key, the code would expire before it could be exchanged.
        guard canSign(team) else { return .leave(.noSigningKey) }
        guard let secret = AppleTokenSecret(code) else { return .leave(.codeRejected) }
        var generator = SystemRandomNumberGenerator()
        return .keep(
            AuthorizationCodeOffer(
                id: UniqueID(at: now, using: &generator), clientID: clientID, redirectURI: redirectURI,
                expiresAt: now.advanced(byMilliseconds: ExchangeAttempt.codeLifetime), secret: secret))
    }
}
