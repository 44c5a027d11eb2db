/// Where authorization codes, refresh tokens and the grants of erased accounts wait for their work.
///
/// Commands add and remove them; here workers claim them. A claim is in the database, durable before it is
/// returned, and only one of several claimers gets it, also when these are different processes. A claim that
/// is not ended by its holder ends by itself.
public protocol GrantStore: Sendable {
    /// Claims codes that are due, the longest waiting first. `finishExchange` or `releaseCode` ends a claim;
    /// from `leaseUntil` on it counts as interrupted.
    func claimCodes(limit: Int, at moment: Moment, leaseUntil: Moment) async throws -> [ClaimedCode]

    /// Ends a claim whose exchange surely did not happen. The code can be claimed again from `until` on.
    func releaseCode(_ id: UniqueID, until moment: Moment) async throws

    /// Claims tokens whose check is due, the longest waiting first. Their next check is moved to `nextAfter`
    /// and less than so many milliseconds more before this returns: even after a crash Apple is not asked
    /// again before.
    func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64
    ) async throws -> [ClaimedCheck]

    /// Moves the next check of a token for which Apple was surely not asked. Does nothing when another one
    /// has taken its place.
    func releaseCheck(_ check: ClaimedCheck, until moment: Moment) async throws

    /// When there is something to claim next. For a code or a grant that is claimed: when the claim ends.
    func nextDue() async throws -> GrantsDue

    /// Returns `nil` when there is none of that ID.
    func erasure(_ id: ErasureID) async throws -> ErasureRecord?

    /// Returns `nil` unless the account was erased.
    func erasure(of id: AccountID) async throws -> ErasureRecord?

    /// Claims grants of erased accounts that are due, the longest waiting first; with an ID only those of
    /// that erasure. `save` or `adoptErasureToken` ends a claim; from `leaseUntil` on it counts as
    /// interrupted.
    func claimErasureGrants(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?
    ) async throws -> [ClaimedErasureGrant]

    /// Stores how far a grant has come, ends its claim, and finishes the erasure when it was the last. A
    /// grant that is done does not change any more, and its secret is gone.
    ///
    /// - Throws: `StorageError` `valueRefused` for a cause that is empty or longer than
    ///   `ErasureGrant.longestCause`.
    func save(_ grant: ErasureGrant, of id: ErasureID, at moment: Moment) async throws

    /// Puts the token that an exchange brought, while its account was erased, in the place of the erasure's
    /// code, to be revoked. Returns `false` when the code is in no erasure, or has been dealt with.
    ///
    /// - Parameter tokenID: The new ID of the grant.
    func adoptErasureToken(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) async throws -> Bool

    /// Sealed secrets behind a place in their sequence, of codes, tokens and erasures alike. One that was
    /// there all the time is never skipped.
    func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow]

    /// Puts other sealed secrets in the place of these, in one transaction, and returns how many. One that
    /// has changed since it was read, or is gone, stays as it is and hinders no other.
    func replaceSealed(_ changes: [SealedChange]) async throws -> Int

    func sealedCount() async throws -> Int
}

extension GrantStore {
    /// Puts another sealed secret in the place of this one. Returns `false` when it is not there any more.
    public func replaceSealed(_ row: SealedRow, with sealed: SealedSecret) async throws -> Bool {
        try await replaceSealed([SealedChange(row, to: sealed)]) == 1
    }
}

/// When the next of each kind of work is due; `nil` when there is none.
public struct GrantsDue: Sendable, Hashable {
    public let code: Moment?
    public let check: Moment?
    public let erasure: Moment?

    public init(code: Moment? = nil, check: Moment? = nil, erasure: Moment? = nil) {
        (self.code, self.check, self.erasure) = (code, check, erasure)
    }
}
