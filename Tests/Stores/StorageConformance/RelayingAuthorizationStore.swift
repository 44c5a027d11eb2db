public import AppleAccounts
public import AuthorizationServer
public import Cryptography

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
