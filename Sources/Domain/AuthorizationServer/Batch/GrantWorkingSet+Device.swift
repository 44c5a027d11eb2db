import AppleAccounts

extension GrantWorkingSet {
    /// Stores a device that waits for a user. The ceilings are counted here, because a batch of requests can
    /// reach them.
    mutating func apply(_ command: BeginDeviceCommand) throws(GrantRefusal) -> DeviceAuthorization {
        try devices.insert(command.device, command.limits)
        return command.device
    }

    /// Replaces the device authorization by a code of the same digest, or notes the refusal.
    ///
    /// The credential is checked here, and the device authorization too: it may have expired, or another tab
    /// may have decided, since the page was shown.
    ///
    /// - Returns: The grant; `nil` after a refusal.
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

    /// Answers a poll: redeems the code that a consent has made, or says what the device must do.
    ///
    /// A poll of another client changes nothing, so that no client can slow the device of another client down.
    mutating func apply(
        _ command: PollDeviceCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        let redemption = command.redemption
        guard var device = devices[redemption.codeDigest] else {
            do throws(GrantRefusal) {
                return try apply(redemption, using: &generator)
            } catch {
                // The same faults have other words at the token endpoint (RFC 8628 §3.5).
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
