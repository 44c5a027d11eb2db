/// Stores accounts, credentials, nonces, notifications, account events and the histories of accounts.
public protocol AccountStore: AccountSearchStore {
    /// Applies the commands in their order, in one transaction, and returns when it is durable.
    ///
    /// The results are in the order of the commands. A command that the rules refuse, or that the database
    /// refuses for a value of its own, changes nothing and does not affect the other commands. The database
    /// refuses, with `valueRefused`, a notification without payload or with a payload longer than
    /// `NotificationCommand.longestPayload`; the types of all other texts bound their length.
    /// - Throws: `StorageError` when the transaction as a whole failed. Then nothing was applied. Exception:
    ///   if the connection was lost during the commit, either all commands were applied or none.
    func commit(_ commands: [AccountCommand]) async throws -> CommitResult

    /// Commits for a caller that does not wait in a task. `completion` is called once, later, on any thread,
    /// which it must not block.
    func commit(
        _ commands: [AccountCommand],
        completion: @escaping @Sendable (Result<CommitResult, any Error>) -> Void)

    /// Returns `nil` when there is no such account. Absence is a response, not an error.
    func account(_ id: AccountID) async throws -> Account?

    /// Returns `nil` when the user has no account here.
    func account(_ key: SubjectKey) async throws -> Account?

    /// Returns the credentials for one app, named by its primary client ID, for each of the subjects in their
    /// order. All are of one moment. Unknown subjects are `notFound`, erased ones `revoked`.
    func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential]

    /// Returns the credential of one subject without waiting. `nil` when this is not possible; then call
    /// `credentials`.
    func credentialWithoutWaiting(team: TeamID, clientID: ClientID, subject: AppleSubject) -> Credential?

    /// Returns the events after a sequence number that a caller may see, in the order of commit, without gap.
    ///
    /// An event about a credential is visible to callers who may see its app. An event about an account as a
    /// whole is visible to callers who may see the account at the time of the request: they may ask about at
    /// least one of the apps that it has, or had at its erasure, a credential for. So a caller can see more
    /// past events when the user signs in to another of the caller's apps, but never fewer.
    ///
    /// Looks at a bounded number of events, so that a page can be empty although more events follow.
    func events(after sequence: Int64, limit: Int, visibleTo scope: AppScope) async throws -> EventPage

    /// Returns the sequence number of the last committed event, 0 without any.
    func lastEventSequence() async throws -> Int64

    /// Returns accounts that are stored as disabled until this moment or an earlier one, the longest waiting
    /// first.
    func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount]

    /// Deletes used nonces that no valid token could carry any more at this moment. A bounded number per call.
    /// Returns the number of deleted nonces.
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
