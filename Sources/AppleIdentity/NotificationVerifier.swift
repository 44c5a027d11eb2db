public import JOSE

/// Decides whether a server-to-server notification is Apple's word about users of one of our apps.
///
/// It does no I/O and has no clock: key and moment are arguments. Thread-safe.
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

    /// Returns what Apple announces, or throws the code of the first step (in `VerificationStep`'s order) that failed.
    ///
    /// An unknown event type is not an error: refusing it would make Apple deliver it for ever.
    public func verify(
        _ token: UnverifiedToken, with key: RSAPublicKey, at now: NumericDate
    ) throws(AppleTokenError) -> VerifiedNotification {
        let claims = try NotificationClaims(parsing: token.payload(signedBy: key))
        try notBefore.check(claims, at: now)
        try issuer.check(claims, at: now)
        try audience.check(claims, at: now)
        try expiration.check(claims, at: now)
        try issuedAt.check(claims, at: now)
        let events = try NotificationEvent.parse(claims.events)
        for event in events {
            // A revocation from the far future would win over every later sign-in.
            let latest = (now.secondsSince1970 + leeway) * 1000 + 999
            guard event.eventTimeMilliseconds ?? 0 <= latest else {
                throw AppleTokenError(.issuedInFuture, at: .events, detail: "event_time")
            }
        }
        return try VerifiedNotification(checked: claims, events: events)
    }
}
