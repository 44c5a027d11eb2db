public import AppleAccounts
public import AuthorizationServer
public import Cryptography

/// A double in front of a real store: calls that it does not change go to the real store.
public protocol RelayingStore: AccountStore {
    var behind: any AccountStore { get }
}

extension RelayingStore {
    public func account(_ id: AccountID) async throws -> Account? { try await behind.account(id) }

    public func account(_ key: SubjectKey) async throws -> Account? { try await behind.account(key) }

    public func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential] {
        try await behind.credentials(team: team, clientID: clientID, subjects: subjects)
    }

    public func events(
        after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        try await behind.events(after: sequence, limit: limit, visibleTo: scope)
    }

    public func lastEventSequence() async throws -> Int64 { try await behind.lastEventSequence() }

    public func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount] {
        try await behind.accountsDisabled(until: moment, limit: limit)
    }

    public func purgeNonces(expiredBefore moment: Moment) async throws -> Int {
        try await behind.purgeNonces(expiredBefore: moment)
    }

    public func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage {
        try await behind.accounts(search, after: position, limit: limit, at: moment)
    }

    public func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        try await behind.events(of: id, after: sequence, limit: limit, visibleTo: scope)
    }

    public func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws
        -> [AccountEvent]
    {
        try await behind.lastEvents(of: id, limit: limit, visibleTo: scope)
    }

    public func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry] {
        try await behind.history(of: id, limit: limit)
    }

    public func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck] {
        try await behind.nextChecks(of: id)
    }

    public func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]
    {
        try await behind.payloads(about: key, for: clientIDs, limit: limit)
    }

    public func purgeHistory(before moment: Moment) async throws -> Int {
        try await behind.purgeHistory(before: moment)
    }

    public func checkHealth() async throws { try await behind.checkHealth() }
}

/// A double in front of a real store: calls that it does not change go to the real store.
public protocol RelayingAuthorizationStore: AuthorizationStore {
    var grantsBehind: any AuthorizationStore { get }
}

extension RelayingAuthorizationStore {
    public func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void
    ) { grantsBehind.commit(commands, completion: completion) }

    public func status(ofFamily id: UniqueID) async throws -> TokenStatus? {
        try await grantsBehind.status(ofFamily: id)
    }

    public func status(of account: AccountID, app: ClientID) async throws -> AccountStatus? {
        try await grantsBehind.status(of: account, app: app)
    }

    public func grants(of account: AccountID) async throws -> [GrantRecord] {
        try await grantsBehind.grants(of: account)
    }

    public func grant(of account: AccountID, for client: OAuthClientID) async throws -> GrantRecord? {
        try await grantsBehind.grant(of: account, for: client)
    }

    public func device(withUserCode digest: SHA256Digest) async throws -> DeviceAuthorization? {
        try await grantsBehind.device(withUserCode: digest)
    }

    public func account(linkedWith googleSubject: String, for client: OAuthClientID) async throws
        -> AccountID?
    {
        try await grantsBehind.account(linkedWith: googleSubject, for: client)
    }

    public func account(withVerifiedEmail email: String, app: ClientID, team: TeamID) async throws
        -> AccountID?
    {
        try await grantsBehind.account(withVerifiedEmail: email, app: app, team: team)
    }

    public func lastGoogleEvent() async throws -> Moment? { try await grantsBehind.lastGoogleEvent() }

    public func googleVerification(_ state: String) async throws -> Moment? {
        try await grantsBehind.googleVerification(state)
    }

    public func pace(of account: AccountID, for client: OAuthClientID) async throws -> GrantPace? {
        try await grantsBehind.pace(of: account, for: client)
    }

    public func isDisabled(googleSubject: String) async throws -> Bool {
        try await grantsBehind.isDisabled(googleSubject: googleSubject)
    }

    public func purgeGrants(at moment: Moment) async throws -> Int {
        try await grantsBehind.purgeGrants(at: moment)
    }

    public func signingKeys() async throws -> [SigningKeyRecord] { try await grantsBehind.signingKeys() }

    public func offerSigningKey(_ key: SigningKeyRecord, unlessMadeAfter moment: Moment) async throws
        -> [SigningKeyRecord]
    {
        try await grantsBehind.offerSigningKey(key, unlessMadeAfter: moment)
    }

    public func removeSigningKey(
        _ key: SigningKeyRecord, by origin: AuditOrigin, at moment: Moment
    ) async throws -> Bool {
        try await grantsBehind.removeSigningKey(key, by: origin, at: moment)
    }

    public func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int {
        try await grantsBehind.removeSigningKeys(retiredBefore: moment)
    }

    public func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool {
        try await grantsBehind.replaceSealed(key, with: sealed)
    }
}
