/// Stores the authorization codes, refresh tokens and erasure entries that workers process.
///
/// Commands add and remove them; workers claim them here. A claim is durable in the
/// database before it is returned. Only one worker gets a claim, even across processes.
/// A claim that its holder does not end expires.
public protocol AppleTokenStore: Sendable {
    /// Claims due codes, the longest waiting first. `finishExchange` or `releaseCode` ends a claim; from
    /// `leaseUntil` on it counts as interrupted.
    func claimCodes(limit: Int, at moment: Moment, leaseUntil: Moment) async throws -> [ClaimedCode]

    /// Ends a claim whose exchange certainly did not happen. The code can be claimed again from `until` on.
    func releaseCode(_ id: UniqueID, until moment: Moment) async throws

    /// Claims tokens whose check is due, the longest waiting first. Before this returns, their next check
    /// is moved to `nextAfter` plus a random delay of fewer milliseconds than the given number: even
    /// after a crash no earlier request goes to Apple.
    ///
    /// - Parameter resting: Client IDs whose tokens are not claimed, however many are due.
    func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        except resting: Set<ClientID>
    ) async throws -> [ClaimedCheck]

    /// Returns the time of the next check of a token of any other client ID.
    func nextCheckDue(except resting: Set<ClientID>) async throws -> Moment?

    /// Records that a check has not succeeded: it stays due since the time at which it became due. Does
    /// nothing when another token has replaced the token.
    ///
    /// - Parameter moment: The time of the next check, if certainly no request reached Apple.
    ///   `nil` keeps the time that the claim has set.
    func releaseCheck(_ check: ClaimedCheck, until moment: Moment?) async throws

    /// Returns the times of the next claims. For a claimed code or erasure entry: the end of the claim.
    func nextDue() async throws -> AppleTokensDue

    /// Counts the work that is due and has not succeeded, of each kind up to `AppleTokensBacklog.most`. Work
    /// that waits for a retry counts too, as does a code or erasure entry that a worker has claimed.
    func backlog(at moment: Moment) async throws -> AppleTokensBacklog

    /// Returns an erasure; `nil` when no erasure has this ID.
    func erasure(_ id: ErasureID) async throws -> ErasureRecord?

    /// Returns the erasure of an account; `nil` unless the account was erased.
    func erasure(of id: AccountID) async throws -> ErasureRecord?

    /// Returns the earliest deadline of the erasures that are not finished.
    func earliestErasureDeadline() async throws -> Moment?

    /// Claims due codes and tokens of erased accounts, the longest waiting first; with an ID, only of one
    /// erasure. `save` or `adoptErasureToken` ends a claim; from `leaseUntil` on it counts as interrupted.
    func claimErasureTokens(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?
    ) async throws -> [ClaimedErasureToken]

    /// Stores the progress of an erasure's code or token, ends its claim, and finishes the erasure when it
    /// was the last. A finished entry does not change any more, and its secret is deleted.
    ///
    /// - Throws: `StorageError` `valueRefused` for a cause that is empty or longer than
    ///   `ErasureToken.longestCause`.
    func save(_ token: ErasureToken, of id: ErasureID, at moment: Moment) async throws

    /// Replaces an erasure's code by the token from its exchange, which ran while the
    /// account was erased, so that the token is revoked. Returns false when no erasure
    /// has the code, or the code is already finished.
    ///
    /// - Parameter tokenID: New ID of the entry.
    func adoptErasureToken(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) async throws -> Bool

    /// Returns sealed secrets after a position in their sequence, of codes, tokens and erasures alike. A walk
    /// never skips a secret that exists during the whole walk.
    func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow]

    /// Replaces sealed secrets, in one transaction, and returns the number of replaced secrets. A secret that
    /// has changed since it was read, or was deleted, is not replaced and does not stop the others.
    func replaceSealed(_ changes: [SealedChange]) async throws -> Int

    func sealedCount() async throws -> Int
}

extension AppleTokenStore {
    /// Claims tokens of every client ID whose check is due.
    public func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64
    ) async throws -> [ClaimedCheck] {
        try await claimChecks(
            limit: limit, at: moment, nextAfter: nextAfter, jitterMilliseconds: jitterMilliseconds, except: []
        )
    }

    /// Replaces one sealed secret. Returns false when the row has changed or was deleted.
    public func replaceSealed(_ row: SealedRow, with sealed: SealedSecret) async throws -> Bool {
        try await replaceSealed([SealedChange(row, to: sealed)]) == 1
    }
}

/// Times at which the next work of each kind is due; `nil` when there is none.
public struct AppleTokensDue: Sendable, Hashable {
    public let code: Moment?
    public let check: Moment?
    public let erasure: Moment?

    public init(code: Moment? = nil, check: Moment? = nil, erasure: Moment? = nil) {
        (self.code, self.check, self.erasure) = (code, check, erasure)
    }
}

/// The work that is due and has not succeeded.
///
/// It is independent of the time of the next attempt: a claim and each
/// failed attempt move that time into the future.
public struct AppleTokensBacklog: Sendable, Hashable {
    /// Work of one kind.
    public struct Queue: Sendable, Hashable {
        /// Number of entries, at most `most`.
        public let count: Int64
        /// Time since which the oldest entry has been due; `nil` without entries.
        public let since: Moment?

        public init(count: Int64 = 0, since: Moment? = nil) {
            (self.count, self.since) = (count, since)
        }
    }

    /// Bound of each number: counting reads an index entry for each.
    public static let most: Int64 = 10_000

    /// Codes, due since their sign-in.
    public let codes: Queue
    /// Tokens whose check is due, or has failed since it was due.
    public let checks: Queue
    /// Codes and tokens of erased accounts, due since the request of the erasure.
    public let erasures: Queue

    public init(codes: Queue = Queue(), checks: Queue = Queue(), erasures: Queue = Queue()) {
        (self.codes, self.checks, self.erasures) = (codes, checks, erasures)
    }
}
