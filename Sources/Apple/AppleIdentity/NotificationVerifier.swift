public import JOSE
import StrictJSON

/// Verifies server-to-server notifications.
///
/// Does no I/O and reads no clock, because the key and the time are arguments. Thread-safe.
public struct NotificationVerifier: Sendable {
    private let notBefore: NotBeforeCheck<NotificationClaims>
    private let issuer: IssuerCheck<NotificationClaims>
    private let audience: AudienceCheck<NotificationClaims>
    private let expiration: ExpirationCheck<NotificationClaims>
    private let issuedAt: IssuedAtCheck<NotificationClaims>
    private let leeway: Int64

    public init(policy: VerificationPolicy) {
        notBefore = NotBeforeCheck(leeway: policy.leeway)
        issuer = IssuerCheck(issuers: policy.issuers)
        audience = AudienceCheck(clientIDs: policy.clientIDs)
        expiration = ExpirationCheck(leeway: policy.leeway)
        issuedAt = IssuedAtCheck(leeway: policy.leeway)
        leeway = policy.leeway
    }

    /// Returns the verified notification, or throws the code of the first `VerificationStep` that failed.
    ///
    /// An unknown event type is not an error, because Apple would keep redelivering a refused notification.
    public func verify(
        _ token: UnverifiedToken, with key: RSAPublicKey, at now: NumericDate
    ) throws(AppleTokenError) -> VerifiedNotification {
        let claims = try NotificationClaims(parsing: token.payload(signedBy: key))
        let events = try check(claims, at: now) { error throws(AppleTokenError) in throw error }
        return try VerifiedNotification(checked: claims, events: events)
    }

    /// Returns every error in a notification's claims, regardless of its signature. A debugger uses this
    /// function to show more than the first error. An empty list proves nothing.
    public func mistakes(of token: UnverifiedToken, at now: NumericDate) -> [AppleTokenError] {
        var mistakes: [AppleTokenError] = []
        do throws(AppleTokenError) {
            let claims = try NotificationClaims(parsing: token.jws.payload)
            _ = try check(claims, at: now) { mistakes.append($0) }
        } catch {
            mistakes.append(error)
        }
        return mistakes
    }

    /// Runs the checks in `VerificationStep` order.
    private func check(
        _ claims: NotificationClaims, at now: NumericDate, refusing refuse: Refusing
    ) throws(AppleTokenError) -> [NotificationEvent] {
        try notBefore.check(claims, at: now, refusing: refuse)
        try issuer.check(claims, at: now, refusing: refuse)
        try audience.check(claims, at: now, refusing: refuse)
        try expiration.check(claims, at: now, refusing: refuse)
        try issuedAt.check(claims, at: now, refusing: refuse)
        let events = try NotificationEvent.parse(claims.events)
        for event in events {
            // The event time has an upper bound, because a revocation far in the future would take precedence
            // over every later sign-in.
            let latest = (now.secondsSince1970 + leeway) * 1000 + 999
            guard event.eventTimeMilliseconds ?? 0 <= latest else {
                try refuse(AppleTokenError(.issuedInFuture, at: .events, detail: "event_time"))
                continue
            }
        }
        return events
    }
}

/// A notification's verified content, about an app's users. Only `NotificationVerifier` creates this value.
public struct VerifiedNotification: Sendable {
    /// `jti`: Apple's notification ID.
    public let identifier: String?
    /// `aud`: the primary app's bundle ID.
    public let clientID: String
    public let issuedAt: NumericDate
    public let expiresAt: NumericDate
    /// At least one event. Apple sends exactly one.
    public let events: [NotificationEvent]

    /// Creates the notification. The claims must have passed every check.
    init(checked claims: NotificationClaims, events: [NotificationEvent]) throws(AppleTokenError) {
        guard case .one(let clientID) = claims.audience else { throw AppleTokenError(.audienceMismatch) }
        identifier = claims.identifier
        self.clientID = clientID
        issuedAt = claims.issuedAt
        expiresAt = claims.expiresAt
        self.events = events
    }
}

/// A server-to-server notification's claims as Apple signed them, typed but not yet checked.
struct NotificationClaims: AppleClaims {
    var issuer: String
    var audience: Audience
    var expiresAt: NumericDate
    var issuedAt: NumericDate
    var notBefore: NumericDate?
    var identifier: String?
    var events: JSONValue

    /// Parses the claims. Throws `.tokenMalformed`, `.notANotification`, `.claimMalformed` or
    /// `.claimMissing`.
    init(parsing payload: [UInt8]) throws(AppleTokenError) {
        var issuer, identifier: String?
        var audience: Audience?
        var expiresAt, issuedAt, notBefore: NumericDate?
        var events: JSONValue?
        var claims = ClaimReader(payload)
        do throws(JSONError) {
            try claims.begin()
            while let name = try claims.next() {
                switch name {
                case "iss": issuer = try claims.string("iss")
                case "aud": audience = try claims.audience()
                case "exp": expiresAt = try claims.date("exp")
                case "iat": issuedAt = try claims.date("iat")
                case "nbf": notBefore = try claims.date("nbf")
                case "jti": identifier = try claims.string("jti")
                case "events": events = try claims.value()
                default: try claims.skip()
                }
            }
            try claims.finish()
        } catch {
            throw AppleTokenError(.tokenMalformed, at: .payload, detail: error.detail)
        }
        guard let events else { throw AppleTokenError(.notANotification) }
        if let claim = claims.malformed { throw AppleTokenError(.claimMalformed, detail: claim) }
        guard let issuer, let audience, let expiresAt, let issuedAt else {
            throw AppleTokenError(.claimMissing)
        }
        (self.issuer, self.audience) = (issuer, audience)
        (self.expiresAt, self.issuedAt, self.notBefore) = (expiresAt, issuedAt, notBefore)
        (self.identifier, self.events) = (identifier, events)
    }
}
