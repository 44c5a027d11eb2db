public import AppleAccounts
import GRDB
import SQLTables

/// Stores accounts in SQLite, with one file for one process.
///
/// A commit is on the disk before its call returns. Reads see every commit whose call has returned.
public struct SQLiteAccountStore: AccountStore {
    let writer: WriteConnection
    let reader: ReadConnection
    private let direct: [DirectReadConnection]

    init(writer: WriteConnection, reader: ReadConnection, direct: [DirectReadConnection]) {
        (self.writer, self.reader, self.direct) = (writer, reader, direct)
    }

    public func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        try await withCheckedThrowingContinuation { continuation in
            commit(commands) { continuation.resume(with: $0) }
        }
    }

    public func commit(
        _ commands: [AccountCommand],
        completion: @escaping @Sendable (Result<CommitResult, any Error>) -> Void
    ) {
        writer.enqueue(
            commands, transaction: { try $0.commitAccounts($1) },
            completion: { [writer] result in
                if (try? result.get())?.hasErased == true { writer.scrubLog() }
                completion(result)
            })
    }

    public func account(_ id: AccountID) async throws -> Account? {
        try await read { try $0.subjects.find(id)?.record.account }
    }

    public func account(_ key: SubjectKey) async throws -> Account? {
        try await read { try $0.subjects.find(key)?.record.account }
    }

    public func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential] {
        let find: @Sendable (RowReader) throws -> [Credential] = {
            try $0.credentials.find(team: team, clientID: clientID, subjects: subjects)
        }
        return try await subjects.count == 1 ? read(find) : reader.read(find)
    }

    public func credentialWithoutWaiting(team: TeamID, clientID: ClientID, subject: AppleSubject)
        -> Credential?
    {
        readWithoutWaiting { try $0.credentials.find(team: team, clientID: clientID, subject: subject) }
    }

    /// Reads with one statement, on this thread. Returns `nil` if that is not possible.
    func readWithoutWaiting<Value: Sendable>(_ body: (RowReader) throws -> Value) -> Value? {
        for connection in direct {
            if let value = connection.read(body) { return value }
        }
        return nil
    }

    /// Reads with one statement, on this thread if possible.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (RowReader) throws -> Value
    ) async throws -> Value {
        if let value = readWithoutWaiting(body) { return value }
        return try await reader.read(body)
    }

    public func events(
        after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        try await reader.read {
            try $0.events.page(after: sequence, limit: limit, visibleTo: scope)
        }
    }

    /// Reads from the database. After a failed write it also writes, because only a write can show that the
    /// cause is gone.
    public func checkHealth() async throws {
        writer.reportTrouble()
        try writer.checkProgress()
        let writer = writer
        let places: Result<Void, any Error> = try await reader.read { rows in
            _ = try SQLKeySetSnapshotStore.load(in: rows.shared)
            // The check runs on this queue, because a hanging file system must not block the caller's thread.
            return Result {
                try writer.checkFiles()
                try writer.checkRoom()
            }
        }
        try places.get()
        if let failure = reader.recentFailure { throw failure }
        guard writer.lastFailure != nil else { return }
        try await writer.run { database in
            try database.execute(
                sql: """
                    INSERT INTO health_probe (id, count) VALUES (1, 1)
                    ON CONFLICT (id) DO UPDATE SET count = count + 1
                    """)
        }
    }
}

extension CommitResult {
    fileprivate var hasErased: Bool {
        results.contains { result in
            if case .done(.erased) = result { true } else { false }
        }
    }
}
