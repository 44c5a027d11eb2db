public import AppleAccounts

extension SignInUseCases {
    /// How long `erase` waits for Apple before it answers with what is done so far.
    public static let longestErasureWait = Duration.seconds(8)
    /// Milliseconds for which Apple is asked to revoke what an erased account had: seven days.
    static let erasureTime: Int64 = 7 * 86_400_000

    /// Erases an account, and returns when everything that was known of the person is gone here and, if it
    /// takes no longer than `time`, what it had at Apple is revoked. The record says how far that is.
    ///
    /// Asked again it gives the record of the erasure that was. To a caller who may see no app of the
    /// account's team the account does not exist.
    /// - Throws: `CallerForbidden` when the caller may not see all apps that the account has a credential
    ///   for, `AccountRefusal` `account_not_found`, `StorageError`, `OverloadedError`.
    public func erase(
        id: String, allowed: AppScope, waiting time: Duration = longestErasureWait
    ) async throws -> ErasureRecord {
        guard let id = AccountID(id) else { throw AccountRefusal(.accountNotFound) }
        let record = try await startErasure(of: id, allowed: allowed)
        guard record.finishedAt == nil else { return record }
        relation.bells.erasure.ring()
        return try await ErasureWatch(grants: relation.grants, clock: relation.clock).wait(
            for: record, atMost: time)
    }

    /// How far an erasure is. `nil` when there is none of that ID that the caller may see.
    ///
    /// - Throws: `StorageError`.
    public func erasure(id: String, allowed: AppScope) async throws -> ErasureRecord? {
        guard let id = ErasureID(id), let record = try await relation.grants.erasure(id),
            isVisible(record, in: allowed)
        else { return nil }
        return record
    }

    private func startErasure(of id: AccountID, allowed: AppScope) async throws -> ErasureRecord {
        if let account = try await store.account(id) {
            guard deployment.allows(account.team, in: allowed) else {
                throw AccountRefusal(.accountNotFound)
            }
            guard allowed.allowsAll(account.credentials.map(\.clientID)) else { throw CallerForbidden() }
            if let record = try await erase(account) { return record }
        }
        guard let record = try await relation.grants.erasure(of: id), isVisible(record, in: allowed) else {
            throw AccountRefusal(.accountNotFound)
        }
        return record
    }

    /// `nil` when somebody else was faster.
    private func erase(_ account: Account) async throws -> ErasureRecord? {
        let moment = now()
        var generator = SystemRandomNumberGenerator()
        let command = EraseCommand(
            key: SubjectKey(team: account.team, subject: account.subject), accountID: account.id,
            erasureID: ErasureID(UniqueID(at: moment, using: &generator)), requestedAt: moment,
            deadline: moment.advanced(byMilliseconds: Self.erasureTime))
        do {
            guard case .erased(let record) = try await commits.submit(.erase(command)) else {
                preconditionFailure("an erasure has the outcome of an erasure")
            }
            return record
        } catch let refusal as AccountRefusal where refusal.code == .accountNotFound {
            return nil
        }
    }

    private func isVisible(_ record: ErasureRecord, in scope: AppScope) -> Bool {
        deployment.allows(record.team, in: scope) && scope.allowsAll(record.apps.map(\.clientID))
    }
}
