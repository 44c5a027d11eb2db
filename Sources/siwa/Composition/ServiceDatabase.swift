import AppleAccounts
import KeySets
import PostgresStorage
import SQLiteStorage
import ServiceLifecycle

/// A store with all protocols that the service needs.
typealias ServiceStore = AccountStore & GrantStore & TicketStore & TransferStore & NonceKeyStore

/// The database of this process, SQLite or PostgreSQL.
protocol ServiceDatabase: Sendable {
    associatedtype Accounts: ServiceStore
    associatedtype KeySetSnapshots: KeySetSnapshotStore

    var accounts: Accounts { get }
    var keySetSnapshots: KeySetSnapshots { get }

    /// Calls `onSequence` with the latest number of the event feed when another process has appended to it,
    /// until the task is cancelled.
    func announcements(_ onSequence: @escaping @Sendable (Int64) -> Void) async

    /// Calls after this fail.
    func close() async
}

extension PostgresDatabase: ServiceDatabase {}

extension SQLiteDatabase: ServiceDatabase {
    /// The lock on the file keeps out other processes, so there are no announcements.
    func announcements(_ onSequence: @escaping @Sendable (Int64) -> Void) async {
        try? await gracefulShutdown()
    }
}
