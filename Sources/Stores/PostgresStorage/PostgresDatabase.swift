// PostgresStorage owns the PostgreSQL database: its schema, its libpq connection pool, and the mapping
// between domain values and rows. It owns no account rules. The rules and the store contracts are in
// AppleAccounts.

public import AppleAccounts
public import Logging
public import SQLTables

/// The connected and migrated database, with its stores. Any number of processes can work on one database.
///
/// A pooler between this process and the server must assign each client a connection for its whole session
/// (PgBouncer's `pool_mode = session`). A pooler that changes connections between transactions cannot work,
/// because prepared statements and the settings that make writes durable belong to the session.
public final class PostgresDatabase: Sendable {
    public let accounts: PostgresAccountStore
    public let keySetSnapshots: SQLKeySetSnapshotStore

    /// The current connection usage.
    public var usage: PoolUsage { pool.usage }

    /// Returns the server's standbys. Waits for a connection while all connections are in use.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    public func standbys() async throws -> PostgresStandbys {
        try await pool.run { try PostgresStandbys($0) }
    }

    private let pool: PostgresPool
    private let url: PostgresURL

    private static let settings = PostgresCall(
        PostgresStatement("read_fsync", "SELECT current_setting('fsync')"))

    /// Connects, and brings the schema up to date.
    ///
    /// - Parameters:
    ///   - url: A libpq URL, with any of its options.
    ///   - sealing: Seals authorization codes.
    ///   - connections: Maximum number of connections, in addition to one for announcements.
    ///   - patience: Maximum wait for a server that is not up yet (`ServerWait`).
    ///   - onWait: Called once, before the first pause, if the server is not up yet or refuses the
    ///     connection.
    ///   - onFailure: Called with the error of each failed read, write, claim, health check, or wait for a
    ///     connection. It must not block.
    /// - Throws: `StorageError`, and `PostgresAddress.Refusal` for the URL.
    public static func open(
        url: String, sealing: any AppleTokenSealing = NoAppleTokenSealing(), connections: Int = 8,
        patience: Duration = .seconds(30), logger: Logger,
        onWait: @Sendable () -> Void = {},
        onFailure: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) async throws -> PostgresDatabase {
        let url = try PostgresURL(url)
        let pool = PostgresPool(url, connections: connections, onFailure: onFailure)
        do {
            try await awaitServer(pool, url, patience: patience, logger: logger, onWait: onWait)
            try await pool.run { session in
                try PoolerMode.requireSessions(session, url)
                try ServerKind.requireLocks(session, url)
            }
            let migrated = try await Schema.migrate(pool)
            if migrated.from < migrated.to {
                logger.info(
                    "database migrated",
                    metadata: ["from": "\(migrated.from)", "to": "\(migrated.to)"])
            }
            if migrated.to > Schema.migrations.count {
                logger.warning(
                    "the database is newer than this program", metadata: ["schema": "\(migrated.to)"])
            }
            pool.reportFailures()
            return PostgresDatabase(pool, url, sealing, StoreHealth(onFailure: onFailure))
        } catch {
            await pool.close()
            throw error
        }
    }

    private init(
        _ pool: PostgresPool, _ url: PostgresURL, _ sealing: any AppleTokenSealing, _ health: StoreHealth
    ) {
        (self.pool, self.url) = (pool, url)
        accounts = PostgresAccountStore(pool: pool, sealing: sealing, health: health)
        keySetSnapshots = SQLKeySetSnapshotStore(accounts)
    }

    /// Reports the number of the last account event from any replica each time it rises, until the task is
    /// cancelled. It can skip numbers.
    ///
    /// Reconnects by itself, and also reads the number every few seconds, in case announcements do not
    /// arrive.
    public func announcements(_ onSequence: @escaping @Sendable (Int64) -> Void) async {
        await EventAnnouncements(url).run(onSequence)
    }

    /// Closes each connection after its current block. Later calls fail.
    public func close() async {
        await pool.close()
    }

    /// Waits for a server that is not up yet, for example because all services start at the same time.
    private static func awaitServer(
        _ pool: PostgresPool, _ url: PostgresURL, patience: Duration, logger: Logger,
        onWait: @Sendable () -> Void
    ) async throws {
        var wait = ServerWait(patience: patience, from: .now)
        var said: String?
        while true {
            do {
                let fsync = try await pool.run { try $0.run(settings).onlyValue(as: String.self) }
                if fsync == "off" {
                    logger.warning("the server runs with fsync off: commits are not durable")
                }
                return
            } catch let error as StorageError where error.code == .unavailable {
                let isThere = await PostgresConnection(url, number: -1).isServerThere()
                guard wait.goesOn(isServerThere: isThere, at: .now) else { throw error }
                let isFirst = said == nil
                // Each cause is reported only once, because there are two attempts a second.
                if said != error.detail {
                    logger.warning(
                        "waiting for the database", metadata: ["error": "\(error.debugDescription)"])
                }
                said = error.detail
                if isFirst { onWait() }
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }
}

/// Decides after each failed attempt whether startup keeps waiting for a server. Does no I/O and reads no
/// clock.
struct ServerWait {
    /// Maximum wait for a server that accepts connections but refuses the session, counted from the first
    /// such refusal. The server may have no free connection, or may still be creating the role, but a wrong
    /// password does not correct itself.
    static let patienceWhenThere = Duration.seconds(3)

    private let patience: Duration
    private let start: ContinuousClock.Instant
    private var seenAt: ContinuousClock.Instant?

    /// - Parameter patience: Maximum wait for a server that does not accept connections.
    init(patience: Duration, from start: ContinuousClock.Instant) {
        (self.patience, self.start) = (patience, start)
    }

    /// Returns `false` if the wait is over and the last failure must be reported.
    ///
    /// A server that responds for the first time always gets another attempt, because it may have come up
    /// just after the failure.
    ///
    /// - Parameter isServerThere: True if the server accepted connections after the attempt failed.
    mutating func goesOn(isServerThere: Bool, at now: ContinuousClock.Instant) -> Bool {
        guard isServerThere else {
            seenAt = nil
            return now < start + patience
        }
        let seen = seenAt ?? now
        seenAt = seen
        return now < seen + min(patience, Self.patienceWhenThere)
    }
}
