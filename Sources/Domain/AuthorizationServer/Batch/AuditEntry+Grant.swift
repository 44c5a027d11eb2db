package import AppleAccounts
import Cryptography

extension GrantLedger.Removal {
    /// Returns the entry of the audit log about this end.
    func entry(by origin: AuditOrigin) -> AuditEntry {
        AuditEntry(
            familyID == nil ? .grantEnded : .tokensEnded, by: origin, at: moment, reason: reason.rawValue,
            oauthClient: grant.oauthClientID, person: AuditPerson(grant.accountID, tokenFamily: familyID))
    }
}

extension GrantCommand {
    /// The request of the command, and its actor. The command names a client that authenticated itself, a
    /// user who agreed, and Google; it does not name the app's backend.
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
        // These commands begin and end nothing.
        case .beginDevice, .learnGoogleSubject: .service
        }
    }
}

extension SigningKeyRecord {
    /// The entry about a new key. The ID of a key is public.
    package var auditEntry: AuditEntry {
        AuditEntry(.signingKeyMade, by: .service, at: createdAt, detail: "\(algorithm) \(keyID)")
    }

    /// Returns the entry about removed keys.
    package static func removalEntry(
        of keyIDs: [String], by origin: AuditOrigin = .service, at moment: Moment
    ) -> AuditEntry {
        AuditEntry(
            .signingKeyRemoved, by: origin, at: moment, detail: keyIDs.sorted().joined(separator: " "))
    }
}

extension AccountEvent {
    /// Creates the event about a grant that was created or has ended, or about one of its tokens.
    ///
    /// - Parameters:
    ///   - reason: Reason of the end; `nil` for a new grant.
    ///   - endedToken: Ended refresh token to report to Google.
    ///   - isOnlyToken: True if the grant does not end with the event.
    ///   - googleEvent: The event of Google that ended the grant.
    ///   - subject: The user; `nil` for an erased user.
    ///   - source: Source of the end; `nil` when a client, the app's backend or Google requested it.
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
