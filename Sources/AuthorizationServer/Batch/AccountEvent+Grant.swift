import AppleAccounts

extension AccountEvent {
    /// What is told of a grant that was created or has ended.
    ///
    /// - Parameters:
    ///   - reason: Why it has ended; `nil` for one that was created.
    ///   - subject: `nil` for a person who is erased.
    ///   - source: Where the end came from; `nil` when a client, the app's backend or Google asked for it.
    init(
        of grant: GrantRecord, reason: GrantEndReason?, team: TeamID, subject: AppleSubject?,
        source: CredentialSource? = nil, moment: Moment, recordedAt: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        self.init(
            id: EventID(UniqueID(at: recordedAt, using: &generator)),
            kind: reason == nil ? .grantCreated : .grantRevoked, team: team, subject: subject,
            accountID: grant.accountID, clientID: grant.clientID, source: source,
            grant: GrantReference(id: grant.id, oauthClientID: grant.oauthClientID, reason: reason),
            moment: moment, recordedAt: recordedAt)
    }
}
