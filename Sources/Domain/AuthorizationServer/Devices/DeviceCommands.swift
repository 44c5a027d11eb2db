public import AppleAccounts
public import Cryptography

/// A device's request for a user's consent (RFC 8628 §3.1). The client is already authenticated.
public struct BeginDeviceCommand: Sendable, Hashable {
    public let device: DeviceAuthorization
    public let limits: DeviceLimits

    public init(device: DeviceAuthorization, limits: DeviceLimits = .standard) {
        (self.device, self.limits) = (device, limits)
    }
}

/// A signed-in user's decision about a device.
public struct DecideDeviceCommand: Sendable, Hashable {
    public let deviceDigest: SHA256Digest
    public let oauthClientID: OAuthClientID
    /// The consent; `nil` for a denial.
    public let approval: Approval?
    public let moment: Moment

    /// The consent, with the sign-in that it is based on.
    public struct Approval: Sendable, Hashable {
        public let accountID: AccountID
        /// The ID of the grant if the grant is new.
        public let newGrantID: GrantID
        public let clientID: ClientID
        /// Scope, space-separated.
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

    /// Origin for the audit log.
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

/// A poll of a device (RFC 8628 §3.4). The client is already authenticated.
public struct PollDeviceCommand: Sendable, Hashable {
    /// The redemption of the code that the consent has created. Its digest is the
    /// device code's digest, and it has no verifier.
    public let redemption: RedeemCommand

    public init(_ redemption: RedeemCommand) { self.redemption = redemption }

    /// The redirect URI of codes from a consent to a device. No client can register it:
    /// it has neither a host nor a scheme of an app.
    public static let redirectURI = "urn:ietf:params:oauth:grant-type:device_code"
}

extension GrantWorkingSet {
    /// Stores a device that waits for a user. It counts the limits in the
    /// transaction, because a batch of requests can reach them.
    mutating func apply(_ command: BeginDeviceCommand) throws(GrantRefusal) -> DeviceAuthorization {
        try devices.insert(command.device, command.limits)
        return command.device
    }

    /// Replaces the device authorization by a code of the same digest, or records the denial.
    ///
    /// It checks the credential, and also the device authorization, which may have expired, or about which
    /// another tab may have decided, since the page was shown.
    ///
    /// - Returns: The grant; `nil` after a denial.
    mutating func apply(
        _ command: DecideDeviceCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> GrantRecord? {
        guard var device = devices[command.deviceDigest], device.oauthClientID == command.oauthClientID
        else { throw GrantRefusal(.deviceCodeNotFound) }
        guard command.moment < device.expiresAt else { throw GrantRefusal(.deviceCodeExpired) }
        guard device.deniedAt == nil else { throw GrantRefusal(.deviceDenied) }
        guard let approval = command.approval else {
            device.deny(at: command.moment)
            devices.put(device)
            return nil
        }
        let grant = try apply(
            AuthorizeCommand(
                accountID: approval.accountID, newGrantID: approval.newGrantID,
                oauthClientID: device.oauthClientID, clientID: approval.clientID, codeDigest: device.digest,
                redirectURI: PollDeviceCommand.redirectURI, challenge: nil, scope: approval.scope, nonce: nil,
                authenticatedAt: approval.authenticatedAt, authenticatedAfter: approval.authenticatedAfter,
                moment: command.moment, expiresAt: device.expiresAt), using: &generator)
        devices.remove(device.digest)
        return grant
    }

    /// Responds to a poll: redeems the code that a consent has created,
    /// or refuses with the next step of the device.
    ///
    /// A poll of another client changes nothing, so that no client
    /// can slow down the device of another client.
    mutating func apply(
        _ command: PollDeviceCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        let redemption = command.redemption
        guard var device = devices[redemption.codeDigest] else {
            do throws(GrantRefusal) {
                return try apply(redemption, using: &generator)
            } catch {
                // The same faults have other error codes at the token endpoint (RFC 8628 §3.5).
                if error.code == .codeNotFound { throw GrantRefusal(.deviceCodeNotFound) }
                if error.code == .codeExpired { throw GrantRefusal(.deviceCodeExpired) }
                throw error
            }
        }
        guard device.oauthClientID == redemption.oauthClientID else {
            throw GrantRefusal(.codeOfAnotherClient)
        }
        guard redemption.moment < device.expiresAt else { throw GrantRefusal(.deviceCodeExpired) }
        guard device.deniedAt == nil else { throw GrantRefusal(.deviceDenied) }
        let isInTime = device.notePoll(at: redemption.moment)
        devices.put(device)
        throw GrantRefusal(isInTime ? .devicePending : .devicePolledEarly)
    }
}
