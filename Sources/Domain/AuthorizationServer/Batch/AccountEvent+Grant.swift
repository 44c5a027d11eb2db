import AppleAccounts
import Cryptography

extension AccountEvent {
    /// The event about a grant that was created or has ended, or about one of its tokens.
    ///
    /// - Parameters:
    ///   - reason: Reason of the end; `nil` for a grant that was created.
    ///   - endedToken: The refresh token of whose end Google must be told.
    ///   - isOnlyToken: True if the grant does not end with the event.
    ///   - googleEvent: The event of Google that ended the grant.
    ///   - subject: `nil` for an erased user.
    ///   - source: Origin of the end; `nil` when a client, the app's backend or Google requested it.
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
