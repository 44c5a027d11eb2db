import AppleAccounts
import StorageConformance

/// A store, as reached from a process with a fuse: nothing is done after the power fails.
struct FusedStore: RelayingStore, AppleTokenStore {
    let store: any AccountStore & AppleTokenStore
    let fuse: Fuse

    var behind: any AccountStore { store }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        try await fuse.step("commit") { try await store.commit(commands) }
    }

    func claimCodes(limit: Int, at moment: Moment, leaseUntil: Moment) async throws -> [ClaimedCode] {
        try await fuse.step("claim codes") {
            try await store.claimCodes(limit: limit, at: moment, leaseUntil: leaseUntil)
        }
    }

    func releaseCode(_ id: UniqueID, until moment: Moment) async throws {
        try await fuse.step("release code") { try await store.releaseCode(id, until: moment) }
    }

    func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        except resting: Set<ClientID>
    ) async throws -> [ClaimedCheck] {
        try await fuse.step("claim checks") {
            try await store.claimChecks(
                limit: limit, at: moment, nextAfter: nextAfter, jitterMilliseconds: jitterMilliseconds,
                except: resting)
        }
    }

    func nextCheckDue(except resting: Set<ClientID>) async throws -> Moment? {
        try await store.nextCheckDue(except: resting)
    }

    func releaseCheck(_ check: ClaimedCheck, until moment: Moment?) async throws {
        try await fuse.step("release check") { try await store.releaseCheck(check, until: moment) }
    }

    func claimErasureTokens(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?
    ) async throws -> [ClaimedErasureToken] {
        try await fuse.step("claim tokens") {
            try await store.claimErasureTokens(limit: limit, at: moment, leaseUntil: leaseUntil, of: id)
        }
    }

    func save(_ token: ErasureToken, of id: ErasureID, at moment: Moment) async throws {
        try await fuse.step("save token") { try await store.save(token, of: id, at: moment) }
    }

    func adoptErasureToken(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) async throws -> Bool {
        try await fuse.step("adopt token") {
            try await store.adoptErasureToken(codeID: codeID, tokenID: tokenID, sealed: sealed, at: moment)
        }
    }

    // Reading leaves nothing behind that a cut could tear.

    func earliestErasureDeadline() async throws -> Moment? { try await store.earliestErasureDeadline() }

    func nextDue() async throws -> AppleTokensDue { try await store.nextDue() }

    func backlog(at moment: Moment) async throws -> AppleTokensBacklog { try await store.backlog(at: moment) }

    func erasure(_ id: ErasureID) async throws -> ErasureRecord? { try await store.erasure(id) }

    func erasure(of id: AccountID) async throws -> ErasureRecord? { try await store.erasure(of: id) }

    func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow] {
        try await store.sealedSecrets(after: cursor, limit: limit)
    }

    func replaceSealed(_ changes: [SealedChange]) async throws -> Int {
        try await store.replaceSealed(changes)
    }

    func sealedCount() async throws -> Int { try await store.sealedCount() }
}
