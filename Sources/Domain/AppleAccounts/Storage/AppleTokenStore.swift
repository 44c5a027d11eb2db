/// Stores the authorization codes, refresh tokens and erasure entries that workers process.
///
/// Commands add and remove them; workers claim them here. A claim is durable
/// in the database before it is returned. Only one worker gets a claim, even
/// across processes. A claim that its holder does not end expires.
public protocol AppleTokenStore: Sendable {
    /// Claims due codes, the longest waiting first. `finishExchange` or `releaseCode` ends a claim; from
    /// `leaseUntil` on, it counts as interrupted.
    func claimCodes(limit: Int, at moment: Moment, leaseUntil: Moment) async throws -> [ClaimedCode]

    /// Ends the claim of a code that was certainly not used. The code can be claimed again from `until` on.
    func releaseCode(_ id: UniqueID, until moment: Moment) async throws

    /// Claims tokens whose checks are due, the longest waiting first. Before this returns, their next check
    /// is moved to `nextAfter` plus a random delay below the given number of milliseconds, so that even after
    /// a crash, no request is sent to Apple earlier.
    ///
    /// - Parameter resting: Client IDs whose tokens are not claimed, even if their checks are due.
    func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        except resting: Set<ClientID>
    ) async throws -> [ClaimedCheck]

    /// Returns the time of the next token check for any client ID not in `resting`; `nil` if there is none.
    func nextCheckDue(except resting: Set<ClientID>) async throws -> Moment?

    /// Records that a check has not succeeded. The check still counts as due since the time when it first
    /// became due. Does nothing if another token has replaced this one.
    ///
    /// - Parameter moment: Time of the next check, if it is certain that no request reached Apple; `nil` to
    ///   keep the time that the claim has set.
    func releaseCheck(_ check: ClaimedCheck, until moment: Moment?) async throws

    /// Returns the times of the next claims; for a claimed code or erasure entry, the end of its claim.
    func nextDue() async throws -> AppleTokensDue

    /// Counts the work of each kind that is due and has not succeeded, up to `AppleTokensBacklog.most`. Work
    /// that is waiting for a retry counts too, as does a code or erasure entry that a worker has claimed.
    func backlog(at moment: Moment) async throws -> AppleTokensBacklog

    /// Returns an erasure; `nil` if there is no erasure with this ID.
    func erasure(_ id: ErasureID) async throws -> ErasureRecord?

    /// Returns an account's erasure; `nil` unless the account was erased.
    func erasure(of id: AccountID) async throws -> ErasureRecord?

    /// Returns the earliest deadline among unfinished erasures; `nil` if there are none.
    func earliestErasureDeadline() async throws -> Moment?

    /// Claims due codes and tokens of erased accounts, the longest waiting first. If `id` is set, claims only
    /// that erasure's codes and tokens. `save` or `adoptErasureToken` ends a claim; from `leaseUntil` on, it
    /// counts as interrupted.
    func claimErasureTokens(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?
    ) async throws -> [ClaimedErasureToken]

    /// Stores the progress of an erasure's code or token, and ends its claim. Finishes the erasure if this
    /// was its last unfinished code or token. A finished entry no longer changes, and its secret is deleted.
    ///
    /// - Throws: `StorageError` `valueRefused` if the cause is empty or longer than
    ///   `ErasureToken.longestCause`.
    func save(_ token: ErasureToken, of id: ErasureID, at moment: Moment) async throws

    /// Replaces an erasure's authorization code with the token from the code's exchange, which was still
    /// running when the account was erased, so that the token is revoked. Returns false if no erasure has
    /// this code, or if the code has already been handled.
    ///
    /// - Parameter tokenID: New ID for the entry.
    func adoptErasureToken(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) async throws -> Bool

    /// Returns sealed secrets (codes, tokens and erasure entries) after a position in their sequence. A walk
    /// never skips a secret that exists throughout the walk.
    func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow]

    /// Replaces sealed secrets in one transaction, and returns how many were replaced. A secret that was
    /// changed or deleted since it was read is skipped; the others are still replaced.
    func replaceSealed(_ changes: [SealedChange]) async throws -> Int

    func sealedCount() async throws -> Int
}

extension AppleTokenStore {
    /// Claims tokens whose checks are due, for all client IDs.
    public func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64
    ) async throws -> [ClaimedCheck] {
        try await claimChecks(
            limit: limit, at: moment, nextAfter: nextAfter, jitterMilliseconds: jitterMilliseconds, except: []
        )
    }

    /// Replaces one sealed secret. Returns false if the row was changed or deleted.
    public func replaceSealed(_ row: SealedRow, with sealed: SealedSecret) async throws -> Bool {
        try await replaceSealed([SealedChange(row, to: sealed)]) == 1
    }
}

/// Times at which the next work of each kind is due; `nil` where there is none.
public struct AppleTokensDue: Sendable, Hashable {
    public let code: Moment?
    public let check: Moment?
    public let erasure: Moment?

    public init(code: Moment? = nil, check: Moment? = nil, erasure: Moment? = nil) {
        (self.code, self.check, self.erasure) = (code, check, erasure)
    }
}

/// Work that is due and has not succeeded.
///
/// The backlog does not depend on the time of the next attempt, because each claim and each failed attempt
/// moves that time into the future.
public struct AppleTokensBacklog: Sendable, Hashable {
    /// The backlog of one kind of work.
    public struct Queue: Sendable, Hashable {
        /// Number of entries, at most `most`.
        public let count: Int64
        /// Time since which the oldest entry has been due; `nil` if there are no entries.
        public let since: Moment?

        public init(count: Int64 = 0, since: Moment? = nil) {
            (self.count, self.since) = (count, since)
        }
    }

    /// Upper limit of each count, because counting reads one index entry per item.
    public static let most: Int64 = 10_000

    /// Codes, due since their sign-in.
    public let codes: Queue
    /// Tokens whose check is due, or has failed since it became due.
    public let checks: Queue
    /// Codes and tokens of erased accounts, due since the erasure was requested.
    public let erasures: Queue

    public init(codes: Queue = Queue(), checks: Queue = Queue(), erasures: Queue = Queue()) {
        (self.codes, self.checks, self.erasures) = (codes, checks, erasures)
    }
}
