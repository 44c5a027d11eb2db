package import AppAttestation
package import AppleAccounts
package import AuthorizationServer
import Commits
import CoreMetrics
package import KeySets
package import Logging
import PostgresStorage
import SQLiteStorage
import ServiceLifecycle
import SignIn
import Synchronization

/// A store that implements all protocols that the service needs.
package typealias ServiceStore = AccountStore & AppleTokenStore & TicketStore & TransferStore & NonceKeyStore
    & AuthorizationStore & AppAttestStore & AppCheckHourStore & AppReceiptStore
    & DeliveryStore & AuditStore & GrantInspectionStore & InboxStore & ServiceHourStore

/// This process's database, SQLite or PostgreSQL.
package protocol ServiceDatabase: Sendable {
    associatedtype Accounts: ServiceStore
    associatedtype KeySetSnapshots: KeySetSnapshotStore

    var accounts: Accounts { get }
    var keySetSnapshots: KeySetSnapshots { get }

    /// Calls `onSequence` with the event feed's last sequence number whenever another process has appended
    /// events. Runs until the task is cancelled.
    func announcements(_ onSequence: @escaping @Sendable (Int64) -> Void) async

    /// Database readings for the metrics. Getting them blocks while the file system hangs.
    var readings: [DatabaseReading] { get }

    /// Closes the database. Later calls fail.
    func close() async
}

/// A measurement of the database, shown by a metrics gauge.
package struct DatabaseReading: Sendable, Equatable {
    let name: String
    var labels: [(String, String)] = []
    let value: Int64
    let help: String

    package static func == (one: DatabaseReading, other: DatabaseReading) -> Bool {
        one.name == other.name && one.value == other.value && one.help == other.help
            && one.labels.elementsEqual(other.labels, by: ==)
    }
}

extension PostgresDatabase: ServiceDatabase {
    var readings: [DatabaseReading] {
        let usage = usage
        let connections = "Connections to PostgreSQL that are open, and those of them that work for a call."
        return [
            DatabaseReading(
                name: "siwa_database_connections", labels: [("state", "open")], value: Int64(usage.open),
                help: connections),
            DatabaseReading(
                name: "siwa_database_connections", labels: [("state", "in_use")], value: Int64(usage.inUse),
                help: connections),
            DatabaseReading(
                name: "siwa_database_connection_waiters", value: Int64(usage.waiting),
                help: "Calls that wait for a connection to PostgreSQL."),
            DatabaseReading(
                name: "siwa_database_sessions_opened", value: usage.connects,
                help: "Sessions with PostgreSQL that were opened since the start. Grows with each reconnect."),
        ]
    }
}

extension SQLiteDatabase: ServiceDatabase {
    var readings: [DatabaseReading] {
        freeBytes.map {
            [
                DatabaseReading(
                    name: "siwa_database_disk_free_bytes", value: $0,
                    help: "Free bytes on the disk of the SQLite file, for this process.")
            ]
        } ?? []
    }

    /// Announces nothing, because the file lock excludes other processes.
    func announcements(_ onSequence: @escaping @Sendable (Int64) -> Void) async {
        try? await gracefulShutdown()
    }
}

extension ServiceSettings {
    /// Opens or creates the database and migrates its schema. Throws `StorageError` if that fails.
    ///
    /// - Parameter onWait: Called once if the function waits for PostgreSQL.
    package func openDatabase(
        logger: Logger, onWait: @Sendable () -> Void = {}
    ) async throws -> any ServiceDatabase {
        try await database.open(
            sealing: sealingKeys.map { AppleTokenSealer(keys: $0) } ?? NoAppleTokenSealing(),
            connections: numbers[.databaseConnections], logger: logger, onWait: onWait)
    }
}

extension DatabaseLocation {
    /// Opens or creates the database and migrates its schema. Throws `StorageError` if that fails.
    package func open(
        sealing: any AppleTokenSealing, connections: Int, logger: Logger,
        onWait: @Sendable () -> Void = {}
    ) async throws -> any ServiceDatabase {
        let failures = StorageFailures(
            logger: logger, now: { Moment(milliseconds: ProcessObservation.millisecondsSince1970()) })
        switch self {
        case .sqlite(let path):
            return try await SQLiteDatabase.open(
                path: path, sealing: sealing, logger: logger, onFailure: failures.record)
        case .postgres(let address):
            return try await PostgresDatabase.open(
                url: address.text, sealing: sealing, connections: connections, logger: logger,
                onWait: onWait, onFailure: failures.record)
        }
    }
}

/// Closes the database once the services that use it have stopped.
struct DatabaseService: Service {
    let database: any ServiceDatabase

    func run() async throws {
        try? await gracefulShutdown()
        await database.close()
    }
}

/// Notifies the event feed of other replicas' commits, so that clients that wait at this replica receive all
/// events.
struct EventAnnouncements: Service {
    let database: any ServiceDatabase
    let feed: EventFeed

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await database.announcements { [feed] in feed.advance(to: $0) }
        }
        // Waits, because if `run` returned early, the whole service would stop.
        try? await gracefulShutdown()
    }
}

/// Counts and logs failed database transactions, including reads and claims. Logs the first failure for each
/// cause immediately, and then at most one per minute.
///
/// The response to a request says only that the database failed, so the log line contains the database's
/// message, with PostgreSQL's SQLSTATE or SQLite's result code.
struct StorageFailures: Sendable {
    private let log: ThrottledLog
    private let counters: [StorageError.Code: Counter]
    private let databaseCodes: DatabaseCodeCounters
    private let now: @Sendable () -> Moment

    init(
        logger: Logger, factory: any MetricsFactory = MetricsSystem.factory,
        now: @escaping @Sendable () -> Moment
    ) {
        log = ThrottledLog(logger)
        self.now = now
        databaseCodes = DatabaseCodeCounters(factory: factory)
        counters = Dictionary(
            uniqueKeysWithValues: Self.causes.map { code in
                let counter = Counter(
                    label: "siwa_storage_failures", dimensions: [("cause", code.rawValue)], factory: factory)
                return (code, counter)
            })
    }

    /// The error codes of failed transactions. All other codes are caused by a value, or occur only at the
    /// start.
    static let causes: [StorageError.Code] = [.unavailable, .busy, .full, .readOnly, .corrupted]

    /// The database codes that the runbook describes, for PostgreSQL and SQLite: a full disk, a lock, a
    /// standby server, a lost server and a restarting server.
    static let usualCodes = ["53100", "13", "55P03", "5", "25006", "08006", "57P01"]

    func record(_ error: StorageError) {
        counters[error.code]?.increment()
        if counters[error.code] != nil { databaseCodes.count(error.databaseCode) }
        // Only the first words identify the cause, because the rest contains file names and statements, so
        // it can have any number of values.
        let words = error.detail.prefix { $0 != ":" }.prefix(64)
        log.tell(
            "the database failed a transaction", about: nil, of: "\(error.code.rawValue) \(words)",
            level: .error, at: now(),
            metadata: ["cause": "\(error.code.rawValue)", "detail": "\(error.detail)"])
    }
}

/// Counts failed transactions by the database's own error code.
private final class DatabaseCodeCounters: Sendable {
    /// Maximum number of series. Additional codes are counted as `other`.
    private static let most = 32

    private let factory: any MetricsFactory
    private let counters = Mutex<[String: Counter]>([:])

    init(factory: any MetricsFactory) {
        self.factory = factory
        // Creates each series before its first failure, so that a rate includes this failure.
        for code in ["none"] + StorageFailures.usualCodes { _ = counter(code) }
    }

    func count(_ code: String?) {
        counter(code ?? "none").increment()
    }

    private func counter(_ code: String) -> Counter {
        counters.withLock { counters in
            let code = counters[code] != nil || counters.count < Self.most ? code : "other"
            if let counter = counters[code] { return counter }
            let counter = Counter(
                label: "siwa_storage_errors", dimensions: [("code", code)], factory: factory)
            counters[code] = counter
            return counter
        }
    }
}
