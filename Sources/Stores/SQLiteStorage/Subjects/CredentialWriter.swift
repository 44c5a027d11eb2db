import AppleAccounts
import GRDB
import SQLTables

/// Writes changes to a subject: its wide row, the narrow rows of its credentials, or both.
final class SubjectWriter {
    private let database: Database
    private let names: Names
    private let credentials: CredentialWriter
    private let insertSubject: Insertion<SQLiteSubjectTable>
    private let updateSubject: PreparedStatement
    private let updated: SubjectTable
    private let rowToUpdate: Parameter<Int64>

    init(_ names: Names, in database: Database) throws {
        self.database = database
        self.names = names
        credentials = try CredentialWriter(names, in: database)
        insertSubject = try Insertion(.except { [$0.common.id] }, in: database)
        var parameters = ParameterList()
        let facts = parameters.add(columnsOf: SubjectTable.self, .facts)
        updated = facts.columns
        rowToUpdate = parameters.add(Int64.self)
        updateSubject = try PreparedStatement(
            "UPDATE subject SET \(facts.assignments) WHERE id = \(rowToUpdate)", in: database)
    }

    /// - Parameter place: The subject's location; `nil` while it has no row.
    /// - Returns: The same location, or the location of its new row; `nil` if it had no row and there was
    ///   nothing to save.
    func save(_ record: SubjectRecord, at place: SubjectPlace?) throws -> SubjectPlace? {
        let place = record.rowChange == .insert ? try insert(record) : place
        guard let place else { return nil }
        if record.rowChange == .update, !record.isTombstone {
            updateSubject.begin()
            updated.write(record, to: updateSubject)
            updateSubject.bind(place.rowID, to: rowToUpdate)
            try updateSubject.execute()
            try database.requireOneChange()
        }
        if record.rowChange != .none, let facts = record.factsOfAllApps { try save(facts, at: place) }
        for credential in record.credentials where credential.rowChange != .none {
            try credentials.save(credential, email: record.email?.moment, at: place)
        }
        return place
    }

    /// Saves the facts that apply to all apps, even for a tombstone.
    func save(_ facts: FactsOfAllApps, at place: SubjectPlace) throws {
        try credentials.save(facts, at: place)
    }

    private func insert(_ record: SubjectRecord) throws -> SubjectPlace {
        let team = try names.teams.ensureNumber(of: record.key.team)
        let digest = KeyDigest(team: team, name: record.key.subject.rawValue)
        try insertSubject {
            $0.common.write(record, to: $1)
            $1.set($0.common.teamID, team)
            $1.set($0.keyDigest, digest)
        }
        return SubjectPlace(rowID: database.lastInsertedRowID, digest: digest)
    }
}

extension Database {
    /// Checks that the last change was stored. If its row is missing, the change must not be lost silently.
    ///
    /// - Throws: `StorageError` `corrupted` unless the last statement changed one row.
    func requireOneChange() throws(StorageError) {
        guard changesCount == 1 else {
            throw StorageError(
                .corrupted,
                detail: "expected to change one row, changed \(changesCount); restore a backup")
        }
    }
}

/// Writes subjects' credentials, each at a row number derived from the digest of its subject's key.
final class CredentialWriter {
    /// A statement that writes one row, and the parameters that identify the row.
    private struct Write {
        let statement: PreparedStatement
        let columns: CredentialTable
        let name: Name

        /// - Parameter choice: Columns to write, except the row's key.
        init(
            _ choice: ColumnChoice<CredentialTable>, in database: Database,
            sql: (BoundColumns<CredentialTable>, Write.Name) -> String
        ) throws {
            var parameters = ParameterList()
            let bound = parameters.add(columnsOf: CredentialTable.self, choice)
            columns = bound.columns
            name = Name(
                subject: parameters.add(Int64.self), app: parameters.add(Int64.self),
                check: parameters.add(Int64.self), ids: parameters.addRange())
            statement = try PreparedStatement(sql(bound, name), in: database)
        }

        /// The key of a credential's row.
        struct Name {
            let subject: Parameter<Int64>
            let app: Parameter<Int64>
            let check: Parameter<Int64>
            let ids: RangeParameters

            /// The key columns, for an INSERT.
            var columns: String { "subject_id, app_id, key_check, id" }

            /// The key columns' values. The new row follows the last row of the users who share the first 48
            /// bits.
            var values: String {
                """
                \(subject), \(app), \(check),
                    (SELECT coalesce(max(id) + 1, \(ids.first)) FROM credential WHERE id BETWEEN \(ids))
                """
            }
        }

        func begin(app number: Int64, at place: SubjectPlace) {
            statement.begin()
            statement.bind(number, to: name.app)
            statement.bind(place.digest.check, to: name.check)
            statement.bind(place.digest.credentialIDs, to: name.ids)
        }
    }

    private let database: Database
    private let names: Names
    private let insert: Write
    private let update: Write
    private let putFactsOfAllApps: Write

    init(_ names: Names, in database: Database) throws {
        self.database = database
        self.names = names
        insert = try Write(.facts, in: database) { facts, name in
            "INSERT INTO credential (\(facts.names), \(name.columns)) VALUES (\(facts.values), \(name.values))"
        }
        update = try Write(.facts, in: database) { facts, name in
            """
            UPDATE credential SET \(facts.assignments)
            WHERE id BETWEEN \(name.ids) AND key_check = \(name.check) AND app_id = \(name.app)
            """
        }
        putFactsOfAllApps = try Write(.factsOfAllApps, in: database) { facts, name in
            """
            INSERT INTO credential (\(facts.names), \(name.columns)) VALUES (\(facts.values), \(name.values))
            ON CONFLICT (subject_id, app_id) DO UPDATE SET \(facts.names.assigned(from: "excluded"))
            """
        }
    }

    func save(_ credential: AppCredential, email: Moment?, at place: SubjectPlace) throws {
        let app = try names.apps.ensureNumber(of: credential.clientID)
        let isNew = credential.rowChange == .insert
        let write = isNew ? insert : update
        write.begin(app: app, at: place)
        write.columns.write(credential, email: email, to: write.statement)
        if isNew { write.statement.bind(place.rowID, to: write.name.subject) }
        try write.statement.execute()
        try database.requireOneChange()
    }

    /// Saves the facts that apply to all apps.
    func save(_ facts: FactsOfAllApps, at place: SubjectPlace) throws {
        putFactsOfAllApps.begin(app: AppTable.allApps, at: place)
        putFactsOfAllApps.columns.write(facts, to: putFactsOfAllApps.statement)
        putFactsOfAllApps.statement.bind(place.rowID, to: putFactsOfAllApps.name.subject)
        try putFactsOfAllApps.statement.execute()
    }
}
