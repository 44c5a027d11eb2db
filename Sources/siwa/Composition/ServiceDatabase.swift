import AppleAccounts
import KeySets
import PostgresStorage
import SQLiteStorage
import ServiceLifecycle

/// Every role of a store.
typealias ServiceStore = AccountStore & GrantStore & TicketStore & TransferStore & NonceKeyStore

/// The database of this process, whichever it is.
protocol ServiceDatabase: Sendable {
    associatedtype Accounts: ServiceStore
    associatedtype KeySetSnapshots: KeySetSnapshotStore

    var accounts: Accounts { get }
    var keySetSnapshots: KeySetSnapshots { get }

    /// Hands over the latest number of the event feed whenever another process has appended to it, until the task is
    /// cancelled.
    func announcements(_ onSequence: @escaping @Sendable (Int64) -> Void) async

    /// Calls that come later fail.
    func close() async
}

extension PostgresDatabase: ServiceDatabase {}

extension SQLiteDatabase: ServiceDatabase {
    /// Its lock keeps other processes out, so there is nobody to hear.
    func announcements(_ onSequence: @escaping @Sendable (Int64) -> Void) async {
        try? await gracefulShutdown()
    }
}
