import AppleAccounts
import GRDB
import SQLTables

/// Writes the credentials of subjects, each at the row numbers derived from the digest of its subject's key.
final class CredentialWriter {
    /// A statement that writes one row, and the parameters that identify the row.
    private struct Write {
        let statement: PreparedStatement
        let columns: CredentialTable
        let subject: Parameter<Int64>
        let app: Parameter<Int64>
        let check: Parameter<Int64>
        let ids: RangeParameters

        /// - Parameter choice: The columns that are written, except the key of the row.
        init(
            _ choice: ColumnChoice<CredentialTable>, in database: Database,
            sql: (BoundColumns<CredentialTable>, Write.Name) -> String
        ) throws {
            var parameters = ParameterList()
            let bound = parameters.add(columnsOf: CredentialTable.self, choice)
            columns = bound.columns
            subject = parameters.add(Int64.self)
            app = parameters.add(Int64.self)
            check = parameters.add(Int64.self)
            ids = parameters.addRange()
            let name = Name(subject: subject, app: app, check: check, ids: ids)
            statement = try PreparedStatement(sql(bound, name), in: database)
        }

        /// Key of a credential's row.
        struct Name {
            let subject: Parameter<Int64>
            let app: Parameter<Int64>
            let check: Parameter<Int64>
            let ids: RangeParameters

            /// The columns, for an INSERT.
            let columns = "subject_id, app_id, key_check, id"

            /// Their values. The row follows the last row of the users who share the first 48 bits.
            var values: String {
                """
                \(subject), \(app), \(check),
                    (SELECT coalesce(max(id) + 1, \(ids.first)) FROM credential WHERE id BETWEEN \(ids))
                """
            }
        }

        func begin(app number: Int64, at place: SubjectPlace) {
            statement.begin()
            statement.bind(number, to: app)
            statement.bind(place.digest.check, to: check)
            statement.bind(place.digest.credentialIDs, to: ids)
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
        if isNew { write.statement.bind(place.rowID, to: write.subject) }
        try write.statement.execute()
        try database.requireOneChange()
    }

    /// Saves the facts that hold for all apps.
    func save(_ facts: FactsOfAllApps, at place: SubjectPlace) throws {
        putFactsOfAllApps.begin(app: AppTable.allApps, at: place)
        putFactsOfAllApps.columns.write(facts, to: putFactsOfAllApps.statement)
        putFactsOfAllApps.statement.bind(place.rowID, to: putFactsOfAllApps.subject)
        try putFactsOfAllApps.statement.execute()
    }
}
