/// Stores accounts, credentials, nonces, notifications, account events and account histories.
public protocol AccountStore: AccountSearchStore {
    /// Applies the commands in order, in one transaction, and returns once the transaction is durable.
    ///
    /// Results are in command order. A command that the rules refuse, or whose value the database refuses,
    /// changes nothing and does not affect the others. The database refuses a notification that has no
    /// payload or a payload longer than `NotificationCommand.longestPayload`, with `valueRefused`. All other
    /// texts have types that limit their length.
    /// - Throws: `StorageError` if the transaction failed as a whole, so that nothing was applied. Exception:
    ///   if the connection was lost during the commit, either all commands were applied or none.
    func commit(_ commands: [AccountCommand]) async throws -> CommitResult

    /// Commits for a caller that cannot `await`. `completion` is called once, later, on any thread, and must
    /// not block it.
    func commit(
        _ commands: [AccountCommand],
        completion: @escaping @Sendable (Result<CommitResult, any Error>) -> Void)

    /// Returns an account; `nil` if it does not exist. That is a normal response, not an error.
    func account(_ id: AccountID) async throws -> Account?

    /// Returns a user's account; `nil` if the user has no account.
    func account(_ key: SubjectKey) async throws -> Account?

    /// Returns each subject's credential for an app, in subject order and all as of the same moment. The app
    /// is named by its primary client ID. Unknown subjects are `notFound`, and erased subjects are `revoked`.
    func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential]

    /// Returns a subject's credential without waiting; `nil` if the store would have to wait. Then call
    /// `credentials`.
    func credentialWithoutWaiting(team: TeamID, clientID: ClientID, subject: AppleSubject) -> Credential?

    /// Returns the events after a sequence number that the caller may see, in commit order, without gaps.
    ///
    /// An event about a credential is visible to callers who may see its app. An event about an account as a
    /// whole is visible to callers who may see the account at the time of the request, that is, who may
    /// access at least one app for which it has a credential, or had one at its erasure. So when the user
    /// signs in to another of the caller's apps, the caller can see more past events, but never fewer.
    ///
    /// Only a limited number of events is examined, so a page can be empty even if more events follow.
    func events(after sequence: Int64, limit: Int, visibleTo scope: AppScope) async throws -> EventPage

    /// Returns the sequence number of the last committed event; 0 if there are no events.
    func lastEventSequence() async throws -> Int64

    /// Returns accounts whose disabled period ends at this moment or earlier, the longest waiting first.
    func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount]

    /// Deletes a limited number of used nonces that no valid token can contain at this moment. Returns the
    /// number of deleted nonces.
    func purgeNonces(expiredBefore moment: Moment) async throws -> Int

    /// Checks that the store could accept a command right now.
    ///
    /// - Throws: `StorageError` if it could not.
    func checkHealth() async throws
}

extension AccountStore {
    public func commit(
        _ commands: [AccountCommand],
        completion: @escaping @Sendable (Result<CommitResult, any Error>) -> Void
    ) {
        // One caller's cancellation must not cancel the commands of others, so this task has no parent.
        Task {
            do {
                completion(.success(try await commit(commands)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// Returns `nil`, because a store behind a network has to wait for every response.
    public func credentialWithoutWaiting(team: TeamID, clientID: ClientID, subject: AppleSubject)
        -> Credential?
    { nil }
}

/// Finds accounts, and reads all stored data about an account, for operators.
public protocol AccountSearchStore: Sendable {
    /// Returns matching accounts, newest first. All data examined is as of the same moment.
    ///
    /// - Parameters:
    ///   - position: `next` from the previous page of the same search. Its kind must match the search path
    ///     (`SearchPath.countsRows`).
    ///   - limit: Maximum number of accounts on the page.
    ///   - moment: The current time, which decides whether a disabled period is in effect.
    func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage

    /// Returns an account's events that the caller may see, after a sequence number. `events` without an
    /// account does the same for all accounts.
    func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage

    /// Returns an account's last events that the caller may see, newest first. Examines `limit` events.
    func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws -> [AccountEvent]

    /// Returns an account's history, newest entry first. Empty if the account does not exist.
    func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry]

    /// Returns events from stored notifications about a user for some apps, latest first.
    func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]

    /// Returns the next refresh token checks of an account, by the app's primary client ID.
    func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck]

    /// Deletes a limited number of history entries from before
    /// a moment. Returns the number of deleted entries.
    func purgeHistory(before moment: Moment) async throws -> Int
}

/// The next check of the refresh tokens that Apple issued for an account and app.
public struct PlannedCheck: Sendable, Hashable {
    public let next: Moment
    /// Time since which a check has been due without success; `nil` unless the last check failed.
    public let uncheckedSince: Moment?

    public init(next: Moment, uncheckedSince: Moment?) {
        (self.next, self.uncheckedSince) = (next, uncheckedSince)
    }

    /// Combines two checks. Each time is the earlier of the two values.
    public func merged(with other: PlannedCheck) -> PlannedCheck {
        PlannedCheck(
            next: min(next, other.next),
            uncheckedSince: [uncheckedSince, other.uncheckedSince].compactMap { $0 }.min())
    }
}
