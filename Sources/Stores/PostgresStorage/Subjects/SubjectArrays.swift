import AppleAccounts
import SQLTables
import Synchronization

/// Collects the subjects whose wide rows must be written.
struct SubjectArrays {
    private static let update = RowWrite<SubjectTable>("update_subjects", .row) { rows in
        """
        UPDATE subject AS s SET \(SubjectTable.names(.facts).assigned(from: "n"))
        FROM \(rows.relation("n")) WHERE s.id = n.id
        """
    }
    private static let insert = RowWrite<SubjectTable>(inserting: "insert_subjects")

    private var rows: [(id: Int64, record: SubjectRecord)] = []

    mutating func add(_ record: SubjectRecord, rowID: Int64) {
        rows.append((rowID, record))
    }

    /// Returns the call that updates the subjects; `nil` if there are none.
    func updateCall() -> PostgresCall? {
        guard !rows.isEmpty else { return nil }
        let columns = Self.update.columns
        return Self.update.statement.call(rows) { item, row in
            columns.write(item.record, to: row)
            row.set(columns.id, item.id)
        }
    }

    /// Returns the call that inserts the subjects in the order in which they were added; `nil` if there are
    /// none.
    func insertCall(_ names: PostgresNames) throws -> PostgresCall? {
        guard !rows.isEmpty else { return nil }
        let columns = Self.insert.columns
        return try Self.insert.statement.call(rows) { item, row in
            columns.write(item.record, to: row)
            row.set(columns.id, item.id)
            row.set(columns.teamID, try names.teams.ensuredNumber(of: item.record.key.team))
        }
    }
}

/// Credentials to write, with their row keys.
struct CredentialArrays {
    /// Updates existing rows for single apps.
    private static let update = RowWrite<CredentialTable>("update_credentials", .ofApp) { rows in
        """
        UPDATE credential AS c SET \(CredentialTable.names(.facts).assigned(from: "n"))
        FROM \(rows.relation("n"))
        WHERE c.subject_id = n.subject_id AND c.app_id = n.app_id::integer
        """
    }
    /// Inserts rows, or updates them if they exist.
    private static let put = RowWrite<CredentialTable>("put_credentials") { rows in
        """
        INSERT INTO credential (\(rows.names)) SELECT n.* FROM \(rows.relation("n"))
        ON CONFLICT (subject_id, app_id)
        DO UPDATE SET \(CredentialTable.names(.values).assigned(from: "excluded"))
        """
    }

    private struct Row {
        let subjectID: Int64
        let app: Int64
        let email: Moment?
        let facts: Facts
    }

    private enum Facts {
        case ofApp(AppCredential)
        case ofAllApps(FactsOfAllApps)
    }

    private var rows: [Row] = []

    mutating func add(_ credential: AppCredential, app: Int64, email: Moment?, rowID: Int64) {
        rows.append(Row(subjectID: rowID, app: app, email: email, facts: .ofApp(credential)))
    }

    /// Adds the facts that hold for all apps.
    mutating func add(_ facts: FactsOfAllApps, rowID: Int64) {
        rows.append(Row(subjectID: rowID, app: AppTable.allApps, email: nil, facts: .ofAllApps(facts)))
    }

    /// Returns the call that updates existing credentials; `nil` if there are none.
    func updateCall() -> PostgresCall? { call(Self.update) }

    /// Returns the call that inserts or updates credentials; `nil` if there are none.
    func putCall() -> PostgresCall? { call(Self.put) }

    private func call(_ write: RowWrite<CredentialTable>) -> PostgresCall? {
        guard !rows.isEmpty else { return nil }
        let columns = write.columns
        return write.statement.call(rows) { item, row in
            row.set(columns.subjectID, item.subjectID)
            row.set(columns.appID, item.app)
            switch item.facts {
            case .ofApp(let credential): columns.write(credential, email: item.email, to: row)
            case .ofAllApps(let facts): columns.write(facts, to: row)
            }
        }
    }
}

/// IDs for new subjects, reserved from the database in blocks.
///
/// A process that ends loses its block's unused IDs, but the sequence has enough IDs.
final class SubjectIDs: Sendable {
    /// Block size: the increment in the sequence's declaration.
    private static let blockSize: Int64 = 1024

    private static let nextBlock = PostgresCall(
        PostgresStatement("next_subject_block", "SELECT nextval('subject_block')"))

    private let left = Mutex<Range<Int64>>(0..<0)

    func next(in session: PostgresSession) throws -> Int64 {
        if let id = takeFirst() { return id }
        guard let start = try session.run(Self.nextBlock).onlyValue(as: Int64.self) else {
            return try next(in: session)
        }
        // Another batch may have fetched a block in the meantime. This block replaces that block, whose
        // unused IDs are lost.
        left.withLock { $0 = (start + 1)..<(start + Self.blockSize) }
        return start
    }

    /// Drops the rest of the block, because after a failover to a standby that lacked the last commits, the
    /// server may assign the same block to another replica.
    func forgetBlock() {
        left.withLock { $0 = 0..<0 }
    }

    private func takeFirst() -> Int64? {
        left.withLock { left in
            guard let id = left.first else { return nil }
            left = (id + 1)..<left.upperBound
            return id
        }
    }
}
