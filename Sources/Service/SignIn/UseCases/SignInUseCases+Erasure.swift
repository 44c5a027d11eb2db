public import AppleAccounts
import Commits

extension SignInUseCases {
    /// Maximum time that `erase` waits for Apple before it returns the progress.
    public static let longestErasureWait = Duration.seconds(8)
    /// Time in milliseconds during which the service tries to revoke an erased account's tokens at Apple:
    /// seven days.
    static let erasureTime: Int64 = 7 * 86_400_000

    /// Erases an account. Returns when this service has erased all personal data and Apple has revoked the
    /// account's tokens, or after `time` if the revocation takes longer. The record shows the progress.
    ///
    /// A repeated call returns the record of the erasure. If the caller may see none of the account's
    /// credentials, the account counts as not found. The record contains only apps that the caller has access
    /// to.
    /// - Throws: `CallerForbidden` if the caller has access to some but not all apps that the account has
    ///   credentials for; `AccountRefusal` with the code `account_not_found`; `StorageError`,
    ///   `OverloadedError`.
    public func erase(
        id: String, allowed: AppScope, waiting time: Duration = longestErasureWait
    ) async throws -> ErasureRecord {
        guard let id = AccountID(id) else { throw AccountRefusal(.accountNotFound) }
        let record = try await startErasure(of: id, allowed: allowed)
        guard record.finishedAt == nil else { return record.narrowed(to: allowed) }
        tokenContext.signals[ErasureWorker.self].wake()
        return try await ErasureWatch(tokens: tokenContext.tokens, clock: tokenContext.clock)
            .wait(for: record, atMost: time).narrowed(to: allowed)
    }

    /// Returns the progress of an erasure; `nil` if the erasure does not exist or the caller may not see it.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    public func erasure(id: String, allowed: AppScope) async throws -> ErasureRecord? {
        guard let id = ErasureID(id), let record = try await tokenContext.tokens.erasure(id) else {
            return nil
        }
        return record.isVisible(in: allowed) ? record.narrowed(to: allowed) : nil
    }

    /// Returns an account's erasure; `nil` if it has none or the caller may not see it.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    public func erasure(of account: AccountID, allowed: AppScope) async throws -> ErasureRecord? {
        guard let record = try await tokenContext.tokens.erasure(of: account) else { return nil }
        return record.isVisible(in: allowed) ? record.narrowed(to: allowed) : nil
    }

    private func startErasure(of id: AccountID, allowed: AppScope) async throws -> ErasureRecord {
        var refused: SubjectKey?
        // An account that is not found under its key was erased or was transferred to another key, so the
        // loop reads the account again.
        while let account = try await store.account(id) {
            let key = SubjectKey(team: account.team, subject: account.subject)
            guard key != refused else { throw AccountRefusal(.accountNotFound) }
            if let record = try await erase(id, key, allowed: allowed) { return record }
            refused = key
        }
        guard let record = try await tokenContext.tokens.erasure(of: id), record.isVisible(in: allowed) else {
            throw AccountRefusal(.accountNotFound)
        }
        return record
    }

    /// Erases the account under this key. Returns `nil` if there is no such account for the caller.
    private func erase(_ id: AccountID, _ key: SubjectKey, allowed: AppScope) async throws -> ErasureRecord? {
        let moment = now()
        var generator = SystemRandomNumberGenerator()
        let erasureID = ErasureID(UniqueID(at: moment, using: &generator))
        do {
            return try await refusedChanges.limiting(allowed, at: moment) {
                try await commits.submit(
                    EraseCommand(
                        key: key, accountID: id, erasureID: erasureID, requestedAt: moment,
                        deadline: moment.advanced(byMilliseconds: Self.erasureTime), scope: allowed))
            }
        } catch let refusal as AccountRefusal where refusal.code == .callerForbidden {
            throw CallerForbidden()
        } catch let refusal as AccountRefusal where refusal.code == .accountNotFound {
            return nil
        }
    }
}

extension ErasureRecord {
    fileprivate func isVisible(in scope: AppScope) -> Bool {
        scope.allowsAny(of: apps.lazy.map(\.clientID))
    }
}

/// Waits for the end of an erasure, even if another process performs it.
struct ErasureWatch: Sendable {
    let tokens: any AppleTokenStore
    let clock: any Clock<Duration>
    /// Maximum pause between two reads.
    private static let longestPause = Duration.milliseconds(200)

    /// Returns the record when the erasure ends, or after `time`.
    func wait(for record: ErasureRecord, atMost time: Duration) async throws -> ErasureRecord {
        var record = record
        var waited = Duration.zero
        var pause = Duration.milliseconds(5)
        while record.finishedAt == nil, waited < time {
            let step = min(pause, time - waited)
            do {
                try await clock.sleep(for: step)
            } catch {
                // The caller has disconnected, so the record as last read is returned.
                return record
            }
            waited += step
            pause = min(pause * 2, Self.longestPause)
            if let present = try await tokens.erasure(record.id) { record = present }
        }
        return record
    }
}
