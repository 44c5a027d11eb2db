/// Where accounts, credentials, nonces, notifications and account events are kept.
public protocol AccountStore: Sendable {
    /// Applies the commands in their order, in one transaction, and returns when it is durable.
    ///
    /// The results are in the order of the commands. A command that is refused, or that the database refuses
    /// for its own sake, changes nothing and does not touch the others. Refused by the database, with
    /// `valueRefused`, is a notification without payload or with one longer than
    /// `NotificationCommand.longestPayload`; the types of all other texts keep them as short as they have to
    /// be.
    /// - Throws: `StorageError` when the transaction as a whole failed. Then nothing was applied, or, if the
    ///   connection was lost on the way, all of it or nothing.
    func commit(_ commands: [AccountCommand]) async throws -> CommitResult

    /// The same for a caller that does not wait in a task. `completion` is called once, later, on any thread,
    /// which it must not hold up.
    func commit(
        _ commands: [AccountCommand],
        completion: @escaping @Sendable (Result<CommitResult, any Error>) -> Void)

    /// Returns `nil` when there is no such account. Absence is an answer, not an error.
    func account(_ id: AccountID) async throws -> Account?

    /// Returns `nil` when the person has no account here.
    func account(_ key: SubjectKey) async throws -> Account?

    /// The credentials for one app, which is named by its primary client ID, for each of the subjects in
    /// their order. All are of one moment. Unknown subjects are `notFound`, erased ones `revoked`.
    func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential]

    /// The same for one subject without waiting. `nil` when that cannot be said without, and `credentials`
    /// has to be asked.
    func credentialWithoutWaiting(team: TeamID, clientID: ClientID, subject: AppleSubject) -> Credential?

    /// The events after a sequence number that a caller may see, in the order of commit, without gap.
    ///
    /// An event about a credential is for callers who may see its app. An event about an account as a whole
    /// is for those who may see the account as it is when they ask: one of the apps that it has, or had when
    /// it was erased, a credential for. So a caller can see more of what is past when the person uses another
    /// of its apps, but never less.
    ///
    /// Looks at a bounded number of events, so that a page can be empty and have more behind it.
    func events(after sequence: Int64, limit: Int, visibleTo scope: AppScope) async throws -> EventPage

    /// The sequence number of the last event that was committed, 0 without any.
    func lastEventSequence() async throws -> Int64

    /// Forgets used nonces that no valid token carried any more at this moment, and nonces of earlier
    /// versions that had expired `NonceRecord.keptAfterExpiry` before it. A bounded number at once. Returns
    /// how many.
    func purgeNonces(expiredBefore moment: Moment) async throws -> Int

    /// - Throws: `StorageError` when the store could not take a command now.
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

    /// A store behind a network can say nothing without waiting.
    public func credentialWithoutWaiting(team: TeamID, clientID: ClientID, subject: AppleSubject)
        -> Credential?
    { nil }
}
