// SignIn owns the account use cases: it verifies tokens, writes through the group commit, reads, and
// announces changes. It depends neither on HTTP nor on a database. The rules about tokens and states are in
// lower modules.

import AppAttestation
public import AppleAccounts
public import AppleIdentity
public import Commits
public import KeySets
import Synchronization

/// The use cases for callers. Thread-safe. Keeps no state between calls, except the number of audit log rows
/// about refused changes.
public final class SignInUseCases: Sendable {
    public let deployment: Deployment
    public let identityVerifier: IdentityTokenVerifier
    let notificationVerifier: NotificationVerifier
    let keys: any VerificationKeys
    let store: any AccountStore
    public let commits: GroupCommit<AccountCommand>
    public let feed: EventFeed
    let tokenContext: AppleTokenContext
    let codes: AuthorizationCodePolicy
    let nonces: NonceMint
    let nonceLifetime: Duration
    /// App Attest; `nil` if App Check judges no app.
    public let appChecks: AppChecks?
    /// Tolerance for token expiry in seconds.
    let leeway: Int64
    /// Counts the dropped values of tokens and posted profiles.
    private let onDropped: @Sendable ([String]) -> Void
    let now: @Sendable () -> Moment
    let refusedChanges = RefusedChangePace()

    /// - Parameters:
    ///   - policy: Issuers and leeway. The deployment's client IDs replace the policy's client IDs.
    ///   - feed: The event feed that `commits` advances.
    ///   - tokenContext: The context that use cases share with the workers.
    ///   - nonceKey: The key for nonces. All replicas need the same key, because any replica must accept all
    ///     nonces.
    ///   - onDropped: Called with the names of dropped values, once per token and profile.
    ///   - now: Returns the wall-clock time.
    public init(
        deployment: Deployment, policy: VerificationPolicy, keys: any VerificationKeys,
        store: any AccountStore,
        commits: GroupCommit<AccountCommand>, feed: EventFeed, tokenContext: AppleTokenContext,
        nonceKey: NonceKey,
        nonceLifetime: Duration = .seconds(600), appChecks: AppChecks? = nil,
        onDropped: @escaping @Sendable ([String]) -> Void = { _ in },
        now: @escaping @Sendable () -> Moment
    ) {
        let policy = VerificationPolicy(
            issuers: policy.issuers, clientIDs: deployment.clientIDs.map(\.rawValue), leeway: policy.leeway,
            nonceEncodings: policy.nonceEncodings)
        self.deployment = deployment
        identityVerifier = IdentityTokenVerifier(policy: policy)
        notificationVerifier = NotificationVerifier(policy: policy)
        self.keys = keys
        self.store = store
        self.commits = commits
        self.feed = feed
        self.tokenContext = tokenContext
        codes = AuthorizationCodePolicy(
            canSeal: tokenContext.sealingKeys != nil, canSign: tokenContext.canSign)
        nonces = NonceMint(key: nonceKey)
        self.nonceLifetime = nonceLifetime
        self.appChecks = appChecks
        leeway = policy.leeway
        self.onDropped = onDropped
        self.now = now
    }

    func note(dropped: [String]) {
        if !dropped.isEmpty { onDropped(dropped) }
    }
}

/// The caller has no access to this app.
public struct CallerForbidden: Error, Sendable, Equatable {}

/// The app requires a nonce made by this service, and the sign-in has none.
public struct NonceNotMinted: Error, Sendable, Equatable {}

/// The caller named a client ID that belongs to no app in this deployment.
public struct UnknownClientID: Error, Sendable, Equatable {}

/// The reader's cursor is after the end of the event feed, because the database was restored from a backup,
/// or replaced by a lagging standby or another database. It lacks events that the reader has received, and
/// will reuse their sequence numbers.
public struct EventCursorAhead: Error, Sendable, Equatable {}

/// The end of the disabling is not in the future, so the disabling would have no effect.
public struct DisablingOver: Error, Sendable, Equatable {}

extension SignInOutcome {
    mutating func narrow(to scope: AppScope) {
        // The account has the sign-in's credential, and the caller has access to its app.
        guard case .only = scope, let account = account.narrowed(to: scope) else { return }
        self = SignInOutcome(
            account: account, credential: credential, isNewAccount: isNewAccount, proofRefusal: proofRefusal)
    }
}

extension ErasureRecord {
    /// Returns the record with only the apps that the caller has access to, and their tokens.
    func narrowed(to scope: AppScope) -> ErasureRecord {
        ErasureRecord(
            id: id, accountID: accountID, team: team, requestedAt: requestedAt, deadline: deadline,
            finishedAt: finishedAt, apps: apps.filter { scope.allows($0.clientID) },
            tokens: tokens.filter { scope.allows($0.primaryClientID) })
    }
}

extension Deployment {
    /// Returns the app whose client ID a caller named.
    ///
    /// - Throws: `UnknownClientID`, `CallerForbidden`.
    func app(named clientID: String, in scope: AppScope) throws -> App {
        guard let clientID = ClientID(clientID), let app = app(for: clientID) else { throw UnknownClientID() }
        guard scope.allows(app) else { throw CallerForbidden() }
        return app
    }
}

/// Bounds the number of audit log rows about changes that an API key is not allowed to make, because the key
/// can repeat a refused change endlessly. Counts in memory, for each configured API key.
final class RefusedChangePace: Sendable {
    /// Maximum number of rows per API key and hour, at each replica.
    static let most = 20
    /// Window length in milliseconds: one hour.
    static let window: Int64 = 3_600_000

    private struct Hour {
        var begunAt: Moment
        var count = 0
    }

    private let hours = Mutex<[String: Hour]>([:])

    /// Makes a change. Above the bound, a refusal adds no row.
    ///
    /// Reserves a row before the change, and releases it unless the change is refused, so that concurrent
    /// requests cannot exceed the bound.
    func limiting<Value>(
        _ scope: AppScope, at moment: Moment, _ change: () async throws -> Value
    ) async throws -> Value {
        // A key with access to all apps is never refused.
        guard scope != .all else { return try await change() }
        let origin = AuditOrigin.current
        let key = origin.actor.name ?? ""
        guard takePlace(of: key, at: moment) else {
            return try await AuditOrigin.$current.withValue(origin.withoutRefusals, operation: change)
        }
        do {
            let value = try await change()
            giveBack(to: key)
            return value
        } catch let refusal as AccountRefusal where refusal.code == .callerForbidden {
            throw refusal
        } catch {
            giveBack(to: key)
            throw error
        }
    }

    private func takePlace(of key: String, at moment: Moment) -> Bool {
        hours.withLock { hours in
            var hour = hours[key] ?? Hour(begunAt: moment)
            if moment >= hour.begunAt.advanced(byMilliseconds: Self.window) { hour = Hour(begunAt: moment) }
            defer { hours[key] = hour }
            guard hour.count < Self.most else { return false }
            hour.count += 1
            return true
        }
    }

    private func giveBack(to key: String) {
        hours.withLock { hours in
            guard let count = hours[key]?.count, count > 0 else { return }
            hours[key]?.count = count - 1
        }
    }
}
