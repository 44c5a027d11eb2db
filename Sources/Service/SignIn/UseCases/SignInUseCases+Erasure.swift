public import AppleAccounts
import Commits

extension SignInUseCases {
    /// Longest time for which `erase` waits for Apple before it returns the progress.
    public static let longestErasureWait = Duration.seconds(8)
    /// Milliseconds within which revocations of an erased account's tokens are tried at Apple: seven days.
    static let erasureTime: Int64 = 7 * 86_400_000

    /// Erases an account. Returns when all personal data is erased here and, if this takes no longer than
    /// `time`, its tokens at Apple are revoked. The record shows the progress.
    ///
    /// A repetition returns the record of the erasure. To a caller who may see no credential of the account,
    /// the account does not exist. The record lists only the apps that the caller may see.
    /// - Throws: `CallerForbidden` when the caller may see some but not all apps that the account has a
    ///   credential for, `AccountRefusal` `account_not_found`, `StorageError`, `OverloadedError`.
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

    /// Returns the progress of an erasure. `nil` if no erasure has this ID, or the caller may not see it.
    ///
    /// - Throws: `StorageError`.
    public func erasure(id: String, allowed: AppScope) async throws -> ErasureRecord? {
        guard let id = ErasureID(id), let record = try await tokenContext.tokens.erasure(id) else {
            return nil
        }
        return record.isVisible(in: allowed) ? record.narrowed(to: allowed) : nil
    }

    /// Returns the erasure of an account. `nil` if the account has no erasure, or the caller may not see it.
    ///
    /// - Throws: `StorageError`.
    public func erasure(of account: AccountID, allowed: AppScope) async throws -> ErasureRecord? {
        guard let record = try await tokenContext.tokens.erasure(of: account) else { return nil }
        return record.isVisible(in: allowed) ? record.narrowed(to: allowed) : nil
    }

    private func startErasure(of id: AccountID, allowed: AppScope) async throws -> ErasureRecord {
        var refused: SubjectKey?
        // An account that is not found under its key has been erased, or
        // transferred to another key. The account is then read again.
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

    /// Returns `nil` if the caller can see no such account under this key.
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

/// Waits for the end of an erasure, even when another process carries it out.
struct ErasureWatch: Sendable {
    let tokens: any AppleTokenStore
    let clock: any Clock<Duration>
    /// The longest pause between two reads.
    private static let longestPause = Duration.milliseconds(200)

    /// Returns the record at the end of the erasure, or after `time`.
    func wait(for record: ErasureRecord, atMost time: Duration) async throws -> ErasureRecord {
        var record = record
        var waited = Duration.zero
        var pause = Duration.milliseconds(5)
        while record.finishedAt == nil, waited < time {
            let step = min(pause, time - waited)
            do {
                try await clock.sleep(for: step)
            } catch {
                // The caller has disconnected. The last record read is the result.
                return record
            }
            waited += step
            pause = min(pause * 2, Self.longestPause)
            if let present = try await tokens.erasure(record.id) { record = present }
        }
        return record
    }
}
