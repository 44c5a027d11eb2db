// SQLiteStorage owns the SQLite file: its schema, its connections, and the mapping between domain values and
// rows. It owns no account rules. The rules and the store contracts are in AppleAccounts.

public import AppleAccounts
import Foundation
import GRDB
public import Logging
public import SQLTables

/// The opened and migrated database file, with its stores.
///
/// One connection writes and makes the checkpoints. All other connections only read, because SQLite 3.40.1
/// can corrupt a write-ahead log that two connections write or checkpoint concurrently. For the same reason,
/// a lock keeps out other service processes.
public final class SQLiteDatabase: Sendable {
    public let accounts: SQLiteAccountStore
    public let keySetSnapshots: SQLKeySetSnapshotStore

    /// Number of free bytes on the file's disk, for this process; `nil` if it cannot be read. Blocks while
    /// the file system hangs.
    public var freeBytes: Int64? { DiskSpace.free(at: path) }

    private let path: String
    private let reader: ReadConnection
    private let direct: [DirectReadConnection]
    private let writer: WriteConnection

    /// Opens or creates the database, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: Path of the file. Its directory must exist. Three more files are created beside it, with
    ///     "-wal", "-shm" and ".lock" appended to its name.
    ///   - sealing: Seals authorization codes.
    ///   - patience: Maximum wait for another service process to release the file, as at a restart.
    ///   - onFailure: Called with the error of each failed read and write transaction. It must not block.
    /// - Throws: `StorageError` if a database operation fails.
    public static func open(
        path: String, sealing: any AppleTokenSealing = NoAppleTokenSealing(),
        patience: Duration = .seconds(5),
        logger: Logger, onFailure: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) async throws -> SQLiteDatabase {
        do {
            let lock = try await DatabaseFileLock.acquire(beside: path, patience: patience)
            try makePrivateFile(at: path)
            let writer = try WriteConnection(
                path: path, lock: lock, sealing: sealing, logger: logger, onFailure: onFailure)
            do {
                try await prepare(writer, logger: logger)
                return SQLiteDatabase(
                    path: path, writer: writer,
                    reader: try ReadConnection(path: path, onFailure: onFailure),
                    direct: try (0..<2).map { _ in try DirectReadConnection(path: path) })
            } catch {
                // The connection's queue may still run a checkpoint. Without this call, it would keep the
                // file's lock until then.
                await writer.close()
                throw error
            }
        } catch {
            let error = StorageError(error)
            // For some of its files, SQLite reports a full disk only as a failure to open or write the file.
            guard error.code == .unavailable, DiskSpace.isExhausted(at: path) else { throw error }
            throw StorageError(.full, detail: error.detail)
        }
    }

    private static func prepare(_ writer: WriteConnection, logger: Logger) async throws {
        let version = try await writer.run { try Schema.currentVersion(of: $0) }
        if (1..<Schema.migrations.count).contains(version) {
            logger.notice(
                "migrating the database: a million accounts may take half a minute",
                metadata: ["from": "\(version)", "to": "\(Schema.migrations.count)"])
        }
        let migrated = try await writer.run { try Schema.migrate($0) }
        if migrated.from < migrated.to {
            logger.info(
                "database migrated", metadata: ["from": "\(migrated.from)", "to": "\(migrated.to)"])
        }
        try await writer.run(endClaims)
    }

    private init(
        path: String, writer: WriteConnection, reader: ReadConnection, direct: [DirectReadConnection]
    ) {
        self.path = path
        (self.writer, self.reader, self.direct) = (writer, reader, direct)
        accounts = SQLiteAccountStore(writer: writer, reader: reader, direct: direct)
        keySetSnapshots = SQLKeySetSnapshotStore(accounts)
    }

    /// Closes the connections. The connection that makes the last checkpoint closes last. Later calls fail.
    public func close() async {
        for connection in direct { connection.close() }
        await reader.close()
        await writer.close()
    }

    /// Ends all claims of earlier processes. The file lock keeps out other processes, so the owners of these
    /// claims have ended. The claims must not simply expire: a code is valid only for minutes, and a restart
    /// may have removed the reason why an erasure waits.
    ///
    /// A receiver's time stays if it is in the past, because for a polling receiver it is the time of the
    /// last poll.
    @Sendable private static func endClaims(_ database: Database) throws {
        try database.execute(sql: "UPDATE authorization_code SET next_attempt_at = 0 WHERE is_claimed = 1")
        try database.execute(sql: "UPDATE erasure_token SET next_attempt_at = 0 WHERE step < 4")
        try database.execute(
            sql: "UPDATE event_receiver SET not_before = :now WHERE not_before > :now",
            arguments: ["now": Moment(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)).milliseconds])
    }

    /// Creates the file with access for the service's own user only, because it contains e-mail addresses.
    /// SQLite gives the files beside it the same permissions.
    private static func makePrivateFile(at path: String) throws {
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            // An existing file is not opened, because closing a descriptor of it would drop SQLite's locks.
            if errno == EEXIST { return }
            throw StorageError(.unavailable, detail: "cannot make \(path): errno \(errno)")
        }
        Foundation.close(descriptor)
    }
}
