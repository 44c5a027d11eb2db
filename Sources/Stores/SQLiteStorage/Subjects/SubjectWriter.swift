import AppleAccounts
import GRDB
import SQLTables

/// Writes the changes of a subject: its wide row, the narrow rows of its credentials, or both.
final class SubjectWriter {
    private let database: Database
    private let names: Names
    private let credentials: CredentialWriter
    private let insertSubject: PreparedStatement
    private let inserted: SQLiteSubjectTable
    private let updateSubject: PreparedStatement
    private let updated: SubjectTable
    private let rowToUpdate: Parameter<Int64>

    init(_ names: Names, in database: Database) throws {
        self.database = database
        self.names = names
        credentials = try CredentialWriter(names, in: database)
        let insertion = Insertion<SQLiteSubjectTable>(.except { [$0.common.id] })
        inserted = insertion.columns
        insertSubject = try PreparedStatement(insertion.sql, in: database)
        var parameters = ParameterList()
        let facts = parameters.add(columnsOf: SubjectTable.self, .facts)
        updated = facts.columns
        rowToUpdate = parameters.add(Int64.self)
        updateSubject = try PreparedStatement(
            "UPDATE subject SET \(facts.assignments) WHERE id = \(rowToUpdate)", in: database)
    }

    /// - Parameter place: Location of the subject; `nil` while it has no row.
    /// - Returns: The same location, or the location of its new row. `nil` when it had no row and nothing to
    ///   save.
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

    /// Saves the facts that hold for all apps, also for a tombstone.
    func save(_ facts: FactsOfAllApps, at place: SubjectPlace) throws {
        try credentials.save(facts, at: place)
    }

    private func insert(_ record: SubjectRecord) throws -> SubjectPlace {
        let team = try names.teams.ensureNumber(of: record.key.team)
        let digest = KeyDigest(team: team, name: record.key.subject.rawValue)
        insertSubject.begin()
        inserted.common.write(record, to: insertSubject)
        insertSubject.set(inserted.common.teamID, team)
        insertSubject.set(inserted.keyDigest, digest)
        try insertSubject.execute()
        return SubjectPlace(rowID: database.lastInsertedRowID, digest: digest)
    }
}

extension Database {
    /// Ensures that a reported change is stored, also when a row is missing.
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
