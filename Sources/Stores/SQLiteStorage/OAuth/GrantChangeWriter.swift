import AppleAccounts
import AuthorizationServer
import Cryptography
import GRDB
import SQLTables

/// Writes a transaction's changes to grants.
final class GrantChangeWriter {
    private let names: Names
    private let putGrant: Insertion<OAuthGrantTable>
    private let appOfGrant: Column<Int64>
    private let putFamily: Insertion<OAuthTokenFamilyTable>
    private let putCode: Insertion<OAuthCodeTable>
    private let putDevice: Insertion<OAuthDeviceTable>
    private let removeDevice: KeyedChange<SHA256Digest>
    private let putPace: Insertion<OAuthGrantPaceTable>
    private let insertGoogleEvent: Insertion<GoogleEventTable>
    private let putGoogleAccount: Insertion<GoogleAccountTable>
    private let removeGrant: KeyedChange<GrantID>
    private let removeFamilies: KeyedChange<GrantID>
    private let removeCodes: KeyedChange<GrantID>
    private let removeFamily: KeyedChange<UniqueID>
    private let removeCode: KeyedChange<SHA256Digest>
    private let clearGoogleEvents: KeyedChange<String>
    private let removeGoogleAccount: KeyedChange<String>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        func update(_ key: String, _ columns: ColumnNames) -> String {
            "ON CONFLICT (\(key)) DO UPDATE SET \(columns.assigned(from: "excluded"))"
        }
        putGrant = try Insertion(conflict: update("id", OAuthGrantTable.names(.values)), in: database)
        appOfGrant = putGrant.columns["app_id", Int64.self]
        putFamily = try Insertion(
            conflict: update("id", OAuthTokenFamilyTable.names(.progress)), in: database)
        putCode = try Insertion(conflict: update("digest", OAuthCodeTable.names(.redemption)), in: database)
        putDevice = try Insertion(conflict: update("digest", OAuthDeviceTable.names(.progress)), in: database)
        removeDevice = try KeyedChange(in: database) { "DELETE FROM oauth_device WHERE digest = \($0)" }
        putPace = try Insertion(
            conflict: update("account_id, oauth_client", OAuthGrantPaceTable.names(.values)), in: database)
        insertGoogleEvent = try Insertion(in: database)
        putGoogleAccount = try Insertion(
            conflict: update("google_subject", GoogleAccountTable.names(.values)), in: database)
        removeGrant = try KeyedChange(in: database) { "DELETE FROM oauth_grant WHERE id = \($0)" }
        removeFamilies = try KeyedChange(in: database) {
            "DELETE FROM oauth_token_family WHERE grant_id = \($0)"
        }
        removeCodes = try KeyedChange(in: database) { "DELETE FROM oauth_code WHERE grant_id = \($0)" }
        removeFamily = try KeyedChange(in: database) { "DELETE FROM oauth_token_family WHERE id = \($0)" }
        removeCode = try KeyedChange(in: database) { "DELETE FROM oauth_code WHERE digest = \($0)" }
        clearGoogleEvents = try KeyedChange(in: database) {
            "UPDATE google_event SET \(GoogleEventTable.clearing(payload: "x''")) WHERE google_subject = \($0)"
        }
        removeGoogleAccount = try KeyedChange(in: database) {
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
            try putGrant {
                $0.write(grant, to: $1)
                $1.set(appOfGrant, app)
            }
        }
        for family in changes.families { try putFamily { $0.write(family, to: $1) } }
        for code in changes.codes { try putCode { $0.write(code, to: $1) } }
    }

    func save(_ changes: DeviceChanges) throws {
        for digest in changes.removed { try removeDevice(digest) }
        for device in changes.devices { try putDevice { $0.write(device, to: $1) } }
    }

    func save(_ paces: [GrantPace]) throws {
        for pace in paces { try putPace { $0.write(pace, to: $1) } }
    }

    func save(_ events: [GoogleEventCommand], _ accounts: [GoogleAccountRecord]) throws {
        for event in events { try insertGoogleEvent { $0.write(event, to: $1) } }
        for account in accounts { try putGoogleAccount { $0.write(account, to: $1) } }
    }

    /// Deletes all data about the Google accounts of erased users.
    func forget(googleSubjects: Set<String>) throws {
        for subject in googleSubjects {
            try clearGoogleEvents(subject)
            try removeGoogleAccount(subject)
        }
    }
}
