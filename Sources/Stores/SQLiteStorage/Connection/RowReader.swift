import AppAttestation
import AppleAccounts
import Foundation
import GRDB

/// The reading connection's statements, prepared once. Must stay on the connection's queue, and must not be
/// used again after an error.
final class RowReader {
    let subjects: SubjectRows
    let credentials: CredentialRows
    let events: EventRows
    let database: Database
    let shared: SharedStatements
    private let names: Names
    private var oauthReader: OAuthReader?
    private var attestedKeyRows: AttestedKeyRows?
    private let beginStatement: PreparedStatement
    private let endStatement: PreparedStatement

    init(_ database: Database) throws {
        self.database = database
        shared = SharedStatements(in: database)
        names = try Names(writes: false, in: database)
        subjects = try SubjectRows(names, in: database)
        credentials = try CredentialRows(names, in: database)
        events = try EventRows(names, in: database)
        beginStatement = try PreparedStatement("BEGIN", in: database)
        endStatement = try PreparedStatement("COMMIT", in: database)
    }

    func oauth() throws -> OAuthReader {
        let reader = try oauthReader ?? OAuthReader(names, in: database)
        oauthReader = reader
        return reader
    }

    func attestedKeys() throws -> AttestedKeyRows {
        let rows = try attestedKeyRows ?? AttestedKeyRows(in: database)
        attestedKeyRows = rows
        return rows
    }

    func begin() throws {
        beginStatement.begin()
        try beginStatement.execute()
    }

    func end() throws {
        endStatement.begin()
        try endStatement.execute()
    }
}
