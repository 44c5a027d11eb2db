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
    /// The consent. `nil` if the user denied access.
    public let approval: Approval?
    public let moment: Moment

    /// The consent, and the sign-in that it is based on.
    public struct Approval: Sendable, Hashable {
        public let accountID: AccountID
        /// The ID for the grant, if the command has to create it.
        public let newGrantID: GrantID
        public let clientID: ClientID
        /// Scope, space-separated.
        public let scope: String
        public let authenticatedAt: Moment
        /// Earliest authentication time the client accepts; `nil` if it has no `max_authentication_age`.
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

    /// The command's origin, for the audit log.
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

/// A device's poll (RFC 8628 §3.4). The client is already authenticated.
public struct PollDeviceCommand: Sendable, Hashable {
    /// A command that redeems the code created by the consent. The code has the same digest as the device
    /// code, and its redemption needs no verifier.
    public let redemption: RedeemCommand

    public init(_ redemption: RedeemCommand) { self.redemption = redemption }

    /// The redirect URI of codes created by device consent. No client can register it, because it has neither
    /// a host nor an app's scheme.
    public static let redirectURI = "urn:ietf:params:oauth:grant-type:device_code"
}

extension GrantWorkingSet {
    /// Stores a device that is waiting for a user. The limits are checked in the transaction, because a
    /// single batch of requests can reach them.
    mutating func apply(_ command: BeginDeviceCommand) throws(GrantRefusal) -> DeviceAuthorization {
        try devices.insert(command.device, command.limits)
        return command.device
    }

    /// Replaces the device authorization with a code that has the same digest, or records the denial.
    ///
    /// The credential and the device authorization are both checked, because the authorization may have
    /// expired since the page was shown, or the user may have decided in another browser tab.
    ///
    /// - Returns: The grant. `nil` after a denial.
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

    /// Handles a poll: redeems the code created by the consent, or throws a refusal that tells the device its
    /// next step.
    ///
    /// A poll by another client changes nothing, so that no client can slow down another client's device.
    mutating func apply(
        _ command: PollDeviceCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        let redemption = command.redemption
        guard var device = devices[redemption.codeDigest] else {
            do throws(GrantRefusal) {
                return try apply(redemption, using: &generator)
            } catch {
                // The token endpoint has different error codes for device codes (RFC 8628 §3.5).
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
