/// The verified content of a notification about users of one app. Only `NotificationVerifier` creates it.
public struct VerifiedNotification: Sendable {
    /// `jti`.
    public let identifier: String?
    /// `aud`: the bundle ID of the primary app.
    public let clientID: String
    public let issuedAt: NumericDate
    public let expiresAt: NumericDate
    /// At least one. Apple sends exactly one.
    public let events: [NotificationEvent]

    /// The claims must have passed every check.
    init(checked claims: NotificationClaims, events: [NotificationEvent]) throws(AppleTokenError) {
        guard case .one(let clientID) = claims.audience else { throw AppleTokenError(.audienceMismatch) }
        identifier = claims.identifier
        self.clientID = clientID
        issuedAt = claims.issuedAt
        expiresAt = claims.expiresAt
        self.events = events
    }
}
