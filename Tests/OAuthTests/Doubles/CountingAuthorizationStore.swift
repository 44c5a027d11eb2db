import AppleAccounts
import AuthorizationServer
import StorageConformance
import Synchronization

/// A store that counts how often its signing keys are read.
final class CountingAuthorizationStore: AuthorizationStore {
    private let behind = ReferenceStore()
    private let count = Mutex(0)
    private let beforeOffer: @Sendable () async -> Void

    /// - Parameter beforeOffer: Is waited for before a new key is kept.
    init(beforeOffer: @escaping @Sendable () async -> Void = {}) { self.beforeOffer = beforeOffer }

    var reads: Int { count.withLock { $0 } }

    func signingKeys() async throws -> [SigningKeyRecord] {
        count.withLock { $0 += 1 }
        return try await behind.signingKeys()
    }

    func offerSigningKey(_ key: SigningKeyRecord, unlessMadeAfter moment: Moment) async throws
        -> [SigningKeyRecord]
    {
        await beforeOffer()
        return try await behind.offerSigningKey(key, unlessMadeAfter: moment)
    }

    func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool {
        try await behind.replaceSealed(key, with: sealed)
    }

    func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int {
        try await behind.removeSigningKeys(retiredBefore: moment)
    }

    func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void
    ) { behind.commit(commands, completion: completion) }

    func standing(ofLine id: UniqueID) async throws -> TokenStanding? {
        try await behind.standing(ofLine: id)
    }

    func standing(of account: AccountID, app: ClientID) async throws -> AccountStanding? {
        try await behind.standing(of: account, app: app)
    }

    func grants(of account: AccountID) async throws -> [GrantRecord] {
        try await behind.grants(of: account)
    }

    func grant(of account: AccountID, for client: OAuthClientID) async throws -> GrantRecord? {
        try await behind.grant(of: account, for: client)
    }

    func account(linkedWith googleSubject: String, for client: OAuthClientID) async throws -> AccountID? {
        try await behind.account(linkedWith: googleSubject, for: client)
    }

    func account(withVerifiedEmail email: String, app: ClientID, team: TeamID) async throws -> AccountID? {
        try await behind.account(withVerifiedEmail: email, app: app, team: team)
    }

    func isDisabled(googleSubject: String) async throws -> Bool {
        try await behind.isDisabled(googleSubject: googleSubject)
    }

    func claimDeliveries(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [SecurityEventDelivery] {
        try await behind.claimDeliveries(limit: limit, at: moment, leaseUntil: leaseUntil)
    }

    func postponeDelivery(_ id: UniqueID, until nextAttemptAt: Moment) async throws {
        try await behind.postponeDelivery(id, until: nextAttemptAt)
    }

    func removeDelivery(_ id: UniqueID) async throws { try await behind.removeDelivery(id) }
    func nextDeliveryDue() async throws -> Moment? { try await behind.nextDeliveryDue() }
    func purgeGrants(at moment: Moment) async throws -> Int { try await behind.purgeGrants(at: moment) }
}
