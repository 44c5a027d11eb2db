/// Stores accounts, credentials, nonces, notifications, account events and the histories of accounts.
public protocol AccountStore: AccountSearchStore {
    /// Applies the commands in their order, in one transaction, and returns when it is durable.
    ///
    /// The results are in the order of the commands. A command that the rules refuse, or whose value the
    /// database refuses, changes nothing and does not affect the other commands. The database refuses, with
    /// `valueRefused`, a notification without payload or with a payload longer than
    /// `NotificationCommand.longestPayload`; the types of all other texts bound their length.
    /// - Throws: `StorageError` when the transaction as a whole failed. Then nothing was applied. Exception:
    ///   if the connection was lost during the commit, either all commands were applied or none.
    func commit(_ commands: [AccountCommand]) async throws -> CommitResult

    /// Commits for a caller that does not wait in a task. `completion` is called once,
    /// later, on any thread, which it must not block.
    func commit(
        _ commands: [AccountCommand],
        completion: @escaping @Sendable (Result<CommitResult, any Error>) -> Void)

    /// Returns an account; `nil` when it does not exist. Absence is a response, not an error.
    func account(_ id: AccountID) async throws -> Account?

    /// Returns the account of a user; `nil` when the user has no account here.
    func account(_ key: SubjectKey) async throws -> Account?

    /// Returns the credentials for one app, named by its primary client ID, for each of the subjects in their
    /// order, all from the same moment. Unknown subjects are `notFound`, erased subjects `revoked`.
    func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential]

    /// Returns the credential of one subject without waiting. `nil` when this is not possible; then call
    /// `credentials`.
    func credentialWithoutWaiting(team: TeamID, clientID: ClientID, subject: AppleSubject) -> Credential?

    /// Returns the events after a sequence number that a caller may see, in the order of commit, without gap.
    ///
    /// An event about a credential is visible to callers who may see its app. An event about an account as a
    /// whole is visible to callers who may see the account at the time of the request: they may access at
    /// least one of the apps that it has, or had at its erasure, a credential for. So a caller can see more
    /// past events when the user signs in to another of the caller's apps, but never fewer.
    ///
    /// Examines a bounded number of events, so that a page can be empty although more events follow.
    func events(after sequence: Int64, limit: Int, visibleTo scope: AppScope) async throws -> EventPage

    /// Returns the sequence number of the last committed event; 0 without events.
    func lastEventSequence() async throws -> Int64

    /// Returns accounts that are stored as disabled until this moment or earlier, the longest waiting first.
    func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount]

    /// Deletes a bounded number of used nonces that no valid token could carry any more at this
    /// moment. Returns the number of deleted nonces.
    func purgeNonces(expiredBefore moment: Moment) async throws -> Int

    /// Checks that the store could accept a command now.
    ///
    /// - Throws: `StorageError` when it could not.
    func checkHealth() async throws
}

extension AccountStore {
    public func commit(
        _ commands: [AccountCommand],
        completion: @escaping @Sendable (Result<CommitResult, any Error>) -> Void
    ) {
        // One caller must not cancel the commands of the others, so this task has no parent.
        Task {
            do {
                completion(.success(try await commit(commands)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// Returns `nil`: a store behind a network has to wait for every response.
    public func credentialWithoutWaiting(team: TeamID, clientID: ClientID, subject: AppleSubject)
        -> Credential?
    { nil }
}

/// Finds accounts, and reads all stored data about an account, for operators.
public protocol AccountSearchStore: Sendable {
    /// Returns matching accounts, the newest first. All examined data is from the same moment.
    ///
    /// - Parameters:
    ///   - position: `next` of the previous page of the same search. Its kind must match the path
    ///     of the search (`SearchPath.countsRows`).
    ///   - limit: The largest number of accounts of the page.
    ///   - moment: Time at which a disabling must be in effect.
    func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage

    /// Returns the events of one account after a sequence number that a caller may see, as `events` does for all
    /// accounts.
    func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage

    /// Returns the last events of one account that a caller may see,
    /// the newest first. Examines `limit` events.
    func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws -> [AccountEvent]

    /// Returns the history of an account, the newest entry first. Empty for an account that does not exist.
    func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry]

    /// Returns events of stored notifications about a user for some apps, the latest moments first.
    func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]

    /// Returns the next checks of the account's refresh tokens, by the primary client ID of the app.
    func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck]

    /// Deletes a bounded number of history entries from before a
    /// moment. Returns the number of deleted entries.
    func purgeHistory(before moment: Moment) async throws -> Int
}

/// The next check of the refresh tokens that Apple gave for an account and an app.
public struct PlannedCheck: Sendable, Hashable {
    public let next: Moment
    /// Time since which a check has been due and none has succeeded. `nil` unless the last check has failed.
    public let uncheckedSince: Moment?

    public init(next: Moment, uncheckedSince: Moment?) {
        (self.next, self.uncheckedSince) = (next, uncheckedSince)
    }

    /// Returns the earlier times of both checks.
    public func merged(with other: PlannedCheck) -> PlannedCheck {
        PlannedCheck(
            next: min(next, other.next),
            uncheckedSince: [uncheckedSince, other.uncheckedSince].compactMap { $0 }.min())
    }
}
