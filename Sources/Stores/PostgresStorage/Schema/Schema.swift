import AppleAccounts
import SQLTables

/// The schema's migrations, and the code that applies them while other replicas may be running.
enum Schema {
    static let migrations = [Migration.first, .second, .claimOrders]

    /// The contents of the `siwa_schema` table.
    struct Version: Equatable, Sendable {
        /// The last completed migration's number; 0 for a database without the service's tables.
        var number = 0
        /// The lowest schema version that a program must support to use this schema.
        var minimumReader = 0

        /// Returns true if a program with the migrations up to `known` can use the schema unchanged.
        func isUsable(knowing known: Int) -> Bool { minimumReader <= known }
    }

    private enum Step: Sendable {
        case isUpToDate
        case migrated(to: Int)
        /// Another replica holds the lock and is changing the schema.
        case mustWait
    }

    /// The lock's number is "siwa" in ASCII. The replica that changes the schema holds the lock until its
    /// transaction ends: by commit, by rollback, or with its connection.
    private static let lock = PostgresCall(
        PostgresStatement("lock_schema", "SELECT pg_try_advisory_xact_lock(\(0x7369_7761)::bigint)"))

    private static let exists = PostgresCall(
        PostgresStatement(
            "find_schema", "SELECT to_regclass(format('%I.siwa_schema', current_schema())) IS NOT NULL"))

    private static let read = TypedQuery<(version: Column<Int64>, minimumReader: Column<Int64>)>(
        "read_schema"
    ) {
        (
            $0.add("coalesce(max(version), 0)", Int64.self, as: "version"),
            $0.add("coalesce(max(minimum_reader), 0)", Int64.self, as: "minimum_reader")
        )
    } sql: {
        "SELECT \($0) FROM siwa_schema"
    }

    private static let record = TypedStatement<Int64, Int64>("record_schema") { version, minimumReader in
        "INSERT INTO siwa_schema (version, minimum_reader) VALUES (\(version), \(minimumReader))"
    }

    private static let table = """
        SET LOCAL statement_timeout = 0;
        CREATE TABLE IF NOT EXISTS siwa_schema (
            version integer PRIMARY KEY CHECK (version > 0),
            minimum_reader integer NOT NULL CHECK (minimum_reader BETWEEN 1 AND version),
            applied_at timestamptz NOT NULL DEFAULT now()
        );

        """

    /// Maximum duration of a migration.
    private static let longest = Duration.seconds(3600)

    /// Runs the pending migrations, each in its own transaction. One replica migrates while the others wait.
    ///
    /// Leaves a database with a newer schema unchanged, as long as its last migration allows this program to
    /// work on it.
    /// - Parameter patience: Maximum wait for another replica.
    /// - Throws: `StorageError` `schemaTooNew` for a database that this program must not use,
    ///   `migrationFailed` if a migration fails, `busy` if another replica's migration takes too long.
    static func migrate(
        _ pool: PostgresPool, _ migrations: [Migration] = migrations, patience: Duration = .seconds(120)
    ) async throws -> (from: Int, to: Int) {
        let deadline = ContinuousClock.now + patience
        let first = try await pool.run { try version(in: $0) }
        while true {
            let step = try await pool.run { session in try Self.step(session, migrations) }
            switch step {
            case .isUpToDate:
                return (first.number, try await pool.run { try version(in: $0) }.number)
            case .migrated: break
            case .mustWait:
                guard ContinuousClock.now < deadline else {
                    throw StorageError(
                        .busy, detail: "another replica changes the schema; start again when it is ready")
                }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    static func version(in session: PostgresSession) throws -> Version {
        guard try session.run(exists).onlyValue(as: Bool.self) == true else { return Version() }
        guard let row = try session.run(read.statement()).first else { return Version() }
        let columns = read.columns
        return Version(
            number: Int(row[columns.version] ?? 0), minimumReader: Int(row[columns.minimumReader] ?? 0))
    }

    private static func step(_ session: PostgresSession, _ migrations: [Migration]) throws -> Step {
        if let settled = try settled(session, migrations) { return settled }
        let deadlines = session.deadlines
        session.deadlines.response = longest
        defer { session.deadlines = deadlines }
        let isLocked = try session.pipeline([.begin, lock])[1].onlyValue(as: Bool.self)
        guard isLocked == true else {
            _ = try session.run(.rollback)
            return .mustWait
        }
        // Another replica may have migrated while this replica waited for the lock.
        if let settled = try settled(session, migrations) {
            _ = try session.run(.rollback)
            return settled
        }
        let migration = migrations[try version(in: session).number]
        do {
            try session.execute(script: table + migration.sql, name: "migration \(migration.number)")
            let recording = record(Int64(migration.number), Int64(migration.minimumReader))
            _ = try session.pipeline([recording, .commit])
        } catch let error as PostgresError where error.isFaultOfTheScript {
            throw StorageError(
                .migrationFailed, detail: "\(migration.number): \(error.sqlState) \(error.message)")
        }
        return .migrated(to: migration.number)
    }

    private static func settled(_ session: PostgresSession, _ migrations: [Migration]) throws -> Step? {
        let version = try version(in: session)
        guard version.isUsable(knowing: migrations.count) else {
            throw StorageError(
                .schemaTooNew,
                detail: "its schema is \(version.number) and wants programs that know "
                    + "\(version.minimumReader), this one knows \(migrations.count)")
        }
        return version.number >= migrations.count ? .isUpToDate : nil
    }
}

extension PostgresError {
    /// True if the cause is the script itself, not the connection, the server or another transaction.
    fileprivate var isFaultOfTheScript: Bool {
        switch sqlState.prefix(2) {
        case "0A", "22", "23", "25", "42", "P0", "2B", "3F": !isReadOnly
        default: false
        }
    }
}
