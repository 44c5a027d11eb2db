public import AppleAccounts
public import Cryptography

/// A device asks for a user (RFC 8628 §3.1). The client is authenticated already.
public struct BeginDeviceCommand: Sendable, Hashable {
    public let device: DeviceAuthorization
    public let limits: DeviceLimits

    public init(device: DeviceAuthorization, limits: DeviceLimits = .standard) {
        (self.device, self.limits) = (device, limits)
    }
}

/// A user who has signed in decides about a device.
public struct DecideDeviceCommand: Sendable, Hashable {
    public let deviceDigest: SHA256Digest
    public let oauthClientID: OAuthClientID
    /// `nil` for a refusal.
    public let approval: Approval?
    public let moment: Moment

    /// The consent, with the sign-in that it rests on.
    public struct Approval: Sendable, Hashable {
        public let accountID: AccountID
        /// The ID of the grant if the grant is new.
        public let newGrantID: GrantID
        public let clientID: ClientID
        /// Space-separated.
        public let scope: String
        public let authenticatedAt: Moment
        /// Earliest permitted authentication; `nil` without `max_authentication_age`.
        public let authenticatedAfter: Moment?

        public init(
            accountID: AccountID, newGrantID: GrantID, clientID: ClientID, scope: String,
            authenticatedAt: Moment, authenticatedAfter: Moment?
        ) {
            self.accountID = accountID
            self.newGrantID = newGrantID
            self.clientID = clientID
            self.scope = scope
            self.authenticatedAt = authenticatedAt
            self.authenticatedAfter = authenticatedAfter
        }
    }

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        deviceDigest: SHA256Digest, oauthClientID: OAuthClientID, approval: Approval?, moment: Moment,
        origin: AuditOrigin = .current
    ) {
        self.deviceDigest = deviceDigest
        self.oauthClientID = oauthClientID
        self.approval = approval
        self.moment = moment
        self.origin = origin
    }
}

/// A device polls (RFC 8628 §3.4). The client is authenticated already.
public struct PollDeviceCommand: Sendable, Hashable {
    /// The redemption of the code that the consent has made. Its digest is the device code's, and it has no
    /// verifier.
    public let redemption: RedeemCommand

    public init(_ redemption: RedeemCommand) { self.redemption = redemption }

    /// The redirect URI of the codes that a consent to a device makes. No client can register it: it has
    /// neither a host nor a scheme of an app.
    public static let redirectURI = "urn:ietf:params:oauth:grant-type:device_code"
}
