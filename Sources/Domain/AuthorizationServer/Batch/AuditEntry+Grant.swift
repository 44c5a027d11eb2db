package import AppleAccounts

extension GrantLedger.Removal {
    /// The entry of the audit log about this end.
    func entry(by origin: AuditOrigin) -> AuditEntry {
        AuditEntry(
            familyID == nil ? .grantEnded : .tokensEnded, by: origin, at: moment, reason: reason.rawValue,
            oauthClient: grant.oauthClientID, person: AuditPerson(grant.accountID, tokenFamily: familyID))
    }
}

extension GrantCommand {
    /// The request of the command, and the party behind it. A client that authenticated itself, a user who
    /// agreed, and Google are known from the command; the app's backend is not.
    var auditOrigin: AuditOrigin {
        switch self {
        case .authorize(let command): command.origin.acting(as: .user)
        case .redeem(let command): command.origin.acting(as: .oauthClient(command.oauthClientID))
        case .refresh(let command): command.origin.acting(as: .oauthClient(command.oauthClientID))
        case .revoke(let command): command.origin.acting(as: .oauthClient(command.oauthClientID))
        case .end(let command):
            command.authentication == nil ? command.origin : command.origin.acting(as: .user)
        case .endAll(let command): command.origin
        case .assertion(let command): command.origin.acting(as: .oauthClient(command.oauthClientID))
        case .exchange(let command): command.origin.acting(as: .oauthClient(command.oauthClientID))
        case .decideDevice(let command): command.origin.acting(as: .user)
        case .pollDevice(let command):
            command.redemption.origin.acting(as: .oauthClient(command.redemption.oauthClientID))
        case .googleEvent(let command): command.origin.acting(as: .google)
        // They begin and end nothing.
        case .beginDevice, .learnGoogleSubject: .service
        }
    }
}

extension SigningKeyRecord {
    /// The entry about a new key. The ID of a key is public.
    package var auditEntry: AuditEntry {
        AuditEntry(.signingKeyMade, by: .service, at: createdAt, detail: "\(algorithm) \(keyID)")
    }

    /// The entry about removed keys.
    package static func removalEntry(
        of keyIDs: [String], by origin: AuditOrigin = .service, at moment: Moment
    ) -> AuditEntry {
        AuditEntry(
            .signingKeyRemoved, by: origin, at: moment, detail: keyIDs.sorted().joined(separator: " "))
    }
}
