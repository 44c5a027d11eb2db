package import AppleAccounts
import Cryptography

extension GrantLedger.Removal {
    /// Returns the audit log entry for the end of this grant or token family.
    func entry(by origin: AuditOrigin) -> AuditEntry {
        AuditEntry(
            familyID == nil ? .grantEnded : .tokensEnded, by: origin, at: moment, reason: reason.rawValue,
            oauthClient: grant.oauthClientID, person: AuditPerson(grant.accountID, tokenFamily: familyID))
    }
}

extension GrantCommand {
    /// The command's origin, including its actor: an authenticated client, a user who agreed, or Google. The
    /// origin of a command from the app's backend already names the caller.
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
        // These commands neither create nor end a grant or a token family.
        case .beginDevice, .learnGoogleSubject: .service
        }
    }
}

extension SigningKeyRecord {
    /// The entry for a new key. A key ID is public, so the entry may contain it.
    package var auditEntry: AuditEntry {
        AuditEntry(.signingKeyMade, by: .service, at: createdAt, detail: "\(algorithm) \(keyID)")
    }

    /// Returns the entry for removed keys.
    package static func removalEntry(
        of keyIDs: [String], by origin: AuditOrigin = .service, at moment: Moment
    ) -> AuditEntry {
        AuditEntry(
            .signingKeyRemoved, by: origin, at: moment, detail: keyIDs.sorted().joined(separator: " "))
    }
}

extension AccountEvent {
    /// Creates the event for a new or ended grant, or for one of its tokens.
    ///
    /// - Parameters:
    ///   - reason: The reason for the end. `nil` for a new grant.
    ///   - endedToken: The ended refresh token that is to be reported to Google.
    ///   - isOnlyToken: True if only the token ends, not the grant.
    ///   - googleEvent: The Google event that ended the grant.
    ///   - subject: The user. `nil` if the user was erased.
    ///   - source: The source of the end. `nil` if a client, the app's backend or Google requested it.
    init(
        of grant: GrantRecord, reason: GrantEndReason?, googleEvent: GoogleEventReference? = nil,
        endedToken: SHA512Digest? = nil, isOnlyToken: Bool = false, team: TeamID,
        subject: AppleSubject?, source: CredentialSource? = nil, moment: Moment, recordedAt: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        self.init(
            id: EventID(UniqueID(at: recordedAt, using: &generator)),
            kind: isOnlyToken ? .tokenRevoked : reason == nil ? .grantCreated : .grantRevoked, team: team,
            subject: subject,
            accountID: grant.accountID, clientID: grant.clientID, source: source,
            grant: GrantReference(
                id: grant.id, oauthClientID: grant.oauthClientID, reason: reason, googleEvent: googleEvent,
                endedToken: endedToken),
            moment: moment, recordedAt: recordedAt)
    }
}
