import AppleAccounts
import AuthorizationServer
import Cryptography
import GRDB
import SQLTables

/// Writes a transaction's changes of grants.
final class GrantChangeWriter {
    /// A statement that writes one row of a table.
    private struct Put<T: Table> {
        let statement: PreparedStatement
        let columns: T

        init(_ conflict: String = "", in database: Database) throws {
            let insertion = Insertion<T>(conflict: conflict)
            columns = insertion.columns
            statement = try PreparedStatement(insertion.sql, in: database)
        }

        func run(_ write: (T, PreparedStatement) throws -> Void) throws {
            statement.begin()
            try write(columns, statement)
            try statement.execute()
        }
    }

    /// A statement that removes rows by one value.
    private struct Remove<Key: ColumnValue> {
        let statement: PreparedStatement
        let key: Parameter<Key>

        init(in database: Database, _ sql: (Parameter<Key>) -> String) throws {
            var parameters = ParameterList()
            key = parameters.add(Key.self)
            statement = try PreparedStatement(sql(key), in: database)
        }

        func callAsFunction(_ value: Key) throws {
            statement.begin()
            statement.bind(value, to: key)
            try statement.execute()
        }
    }

    private let names: Names
    private let putGrant: Put<OAuthGrantTable>
    private let appOfGrant: Column<Int64>
    private let putFamily: Put<OAuthTokenFamilyTable>
    private let putCode: Put<OAuthCodeTable>
    private let putDevice: Put<OAuthDeviceTable>
    private let removeDevice: Remove<SHA256Digest>
    private let putPace: Put<OAuthGrantPaceTable>
    private let insertGoogleEvent: Put<GoogleEventTable>
    private let putGoogleAccount: Put<GoogleAccountTable>
    private let removeGrant: Remove<GrantID>
    private let removeFamilies: Remove<GrantID>
    private let removeCodes: Remove<GrantID>
    private let removeFamily: Remove<UniqueID>
    private let removeCode: Remove<SHA256Digest>
    private let clearGoogleEvents: Remove<String>
    private let removeGoogleAccount: Remove<String>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        func update(_ key: String, _ columns: ColumnNames) -> String {
            "ON CONFLICT (\(key)) DO UPDATE SET \(columns.assigned(from: "excluded"))"
        }
        putGrant = try Put(update("id", OAuthGrantTable.names(.values)), in: database)
        appOfGrant = putGrant.columns["app_id", Int64.self]
        putFamily = try Put(update("id", OAuthTokenFamilyTable.names(.progress)), in: database)
        putCode = try Put(update("digest", OAuthCodeTable.names(.redemption)), in: database)
        putDevice = try Put(update("digest", OAuthDeviceTable.names(.progress)), in: database)
        removeDevice = try Remove(in: database) { "DELETE FROM oauth_device WHERE digest = \($0)" }
        putPace = try Put(
            update("account_id, oauth_client", OAuthGrantPaceTable.names(.values)), in: database)
        insertGoogleEvent = try Put(in: database)
        putGoogleAccount = try Put(
            update("google_subject", GoogleAccountTable.names(.values)), in: database)
        removeGrant = try Remove(in: database) { "DELETE FROM oauth_grant WHERE id = \($0)" }
        removeFamilies = try Remove(in: database) { "DELETE FROM oauth_token_family WHERE grant_id = \($0)" }
        removeCodes = try Remove(in: database) { "DELETE FROM oauth_code WHERE grant_id = \($0)" }
        removeFamily = try Remove(in: database) { "DELETE FROM oauth_token_family WHERE id = \($0)" }
        removeCode = try Remove(in: database) { "DELETE FROM oauth_code WHERE digest = \($0)" }
        clearGoogleEvents = try Remove(in: database) {
            "UPDATE google_event SET \(GoogleEventTable.clearing(payload: "x''")) WHERE google_subject = \($0)"
        }
        removeGoogleAccount = try Remove(in: database) {
            "DELETE FROM google_account WHERE google_subject = \($0)"
        }
    }

    func save(_ changes: GrantChanges) throws {
        for id in changes.removedGrants {
            try removeCodes(id)
            try removeFamilies(id)
            try removeGrant(id)
        }
        for id in changes.removedFamilies { try removeFamily(id) }
        for digest in changes.removedCodes { try removeCode(digest) }
        for grant in changes.grants {
            let app = try names.apps.ensureNumber(of: grant.clientID)
            try putGrant.run {
                $0.write(grant, to: $1)
                $1.set(appOfGrant, app)
            }
        }
        for family in changes.families { try putFamily.run { $0.write(family, to: $1) } }
        for code in changes.codes { try putCode.run { $0.write(code, to: $1) } }
    }

    func save(_ changes: DeviceChanges) throws {
        for digest in changes.removed { try removeDevice(digest) }
        for device in changes.devices { try putDevice.run { $0.write(device, to: $1) } }
    }

    func save(_ paces: [GrantPace]) throws {
        for pace in paces { try putPace.run { $0.write(pace, to: $1) } }
    }

    func save(_ events: [GoogleEventCommand], _ accounts: [GoogleAccountRecord]) throws {
        for event in events { try insertGoogleEvent.run { $0.write(event, to: $1) } }
        for account in accounts { try putGoogleAccount.run { $0.write(account, to: $1) } }
    }

    /// Deletes all data of Google accounts whose users are erased.
    func forget(googleSubjects: Set<String>) throws {
        for subject in googleSubjects {
            try clearGoogleEvents(subject)
            try removeGoogleAccount(subject)
        }
    }
}
