import AppleAccounts

extension AccountEvent {
    /// The event about a grant that was created or has ended.
    ///
    /// - Parameters:
    ///   - reason: Reason of the end; `nil` for a grant that was created.
    ///   - googleEvent: The event of Google that ended the grant.
    ///   - subject: `nil` for an erased user.
    ///   - source: Origin of the end; `nil` when a client, the app's backend or Google requested it.
    init(
        of grant: GrantRecord, reason: GrantEndReason?, googleEvent: GoogleEventReference? = nil,
        team: TeamID, subject: AppleSubject?, source: CredentialSource? = nil, moment: Moment,
        recordedAt: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        self.init(
            id: EventID(UniqueID(at: recordedAt, using: &generator)),
            kind: reason == nil ? .grantCreated : .grantRevoked, team: team, subject: subject,
            accountID: grant.accountID, clientID: grant.clientID, source: source,
            grant: GrantReference(
                id: grant.id, oauthClientID: grant.oauthClientID, reason: reason, googleEvent: googleEvent),
            moment: moment, recordedAt: recordedAt)
    }
}
