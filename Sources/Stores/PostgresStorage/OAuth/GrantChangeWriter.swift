import AppleAccounts
import AuthorizationServer
import Cryptography
import SQLTables

/// Writes a transaction's changes to grants: one statement for each kind of change, with any number of rows.
enum GrantChangeWriter {
    private static let removeCodesOfGrants = TypedStatement<[GrantID]>("remove_codes_of_grants") {
        "DELETE FROM oauth_code WHERE grant_id = ANY (\($0))"
    }
    private static let removeFamiliesOfGrants = TypedStatement<[GrantID]>("remove_families_of_grants") {
        "DELETE FROM oauth_token_family WHERE grant_id = ANY (\($0))"
    }
    private static let removeGrants = TypedStatement<[GrantID]>("remove_oauth_grants") {
        "DELETE FROM oauth_grant WHERE id = ANY (\($0))"
    }
    private static let removeFamilies = TypedStatement<[UniqueID]>("remove_oauth_token_families") {
        "DELETE FROM oauth_token_family WHERE id = ANY (\($0))"
    }
    private static let removeCodes = TypedStatement<[SHA256Digest]>("remove_oauth_codes") {
        "DELETE FROM oauth_code WHERE digest = ANY (\($0))"
    }
    private static let clearGoogleEvents = TypedStatement<[String]>("clear_google_events") {
        """
        UPDATE google_event SET \(GoogleEventTable.clearing(payload: "''::bytea"))
        WHERE google_subject = ANY (\($0)) AND google_subject IS NOT NULL
        """
    }
    private static let removeGoogleAccounts = TypedStatement<[String]>("remove_google_accounts") {
        "DELETE FROM google_account WHERE google_subject = ANY (\($0))"
    }

    private static let putGrants = RowWrite<NamedRow<OAuthGrantTable>>(
        naming: "put_oauth_grants",
        "ON CONFLICT (id) DO UPDATE SET \(OAuthGrantTable.names(.values).assigned(from: "excluded"))")
    private static let putFamilies = RowWrite<OAuthTokenFamilyTable>(puttingBy: "id", .progress)
    private static let putCodes = RowWrite<OAuthCodeTable>(puttingBy: "digest", .redemption)
    private static let removeDevices = TypedStatement<[SHA256Digest]>("remove_oauth_devices") {
        "DELETE FROM oauth_device WHERE digest = ANY (\($0))"
    }
    private static let putDevices = RowWrite<OAuthDeviceTable>(puttingBy: "digest", .progress)
    private static let putPaces = RowWrite<OAuthGrantPaceTable>(
        puttingBy: "account_id, oauth_client", .values)
    private static let insertGoogleEvents = RowWrite<GoogleEventTable>(
        inserting: "put_\(GoogleEventTable.name)")
    private static let putGoogleAccounts = RowWrite<GoogleAccountTable>(
        puttingBy: "google_subject", .values)

    /// Returns statements for the transaction that has locked the accounts.
    static func calls(for changes: GrantChanges) -> [PostgresCall] {
        var calls: [PostgresCall] = []
        if !changes.removedGrants.isEmpty {
            let ids = changes.removedGrants
            calls += [removeCodesOfGrants(ids), removeFamiliesOfGrants(ids), removeGrants(ids)]
        }
        if !changes.removedFamilies.isEmpty { calls.append(removeFamilies(changes.removedFamilies)) }
        if !changes.removedCodes.isEmpty { calls.append(removeCodes(changes.removedCodes)) }
        calls += putGrants.calls(changes.grants) {
            $0.table.write($1, to: $2)
            $2.set($0.names[0], $1.clientID)
        }
        calls += putFamilies.calls(changes.families) { $0.write($1, to: $2) }
        calls += putCodes.calls(changes.codes) { $0.write($1, to: $2) }
        return calls
    }

    static func calls(_ changes: DeviceChanges) -> [PostgresCall] {
        (changes.removed.isEmpty ? [] : [removeDevices(changes.removed)])
            + putDevices.calls(changes.devices) { $0.write($1, to: $2) }
    }

    static func calls(_ paces: [GrantPace]) -> [PostgresCall] {
        putPaces.calls(paces) { $0.write($1, to: $2) }
    }

    static func calls(_ events: [GoogleEventCommand], _ accounts: [GoogleAccountRecord]) -> [PostgresCall] {
        insertGoogleEvents.calls(events) { $0.write($1, to: $2) }
            + putGoogleAccounts.calls(accounts) { $0.write($1, to: $2) }
    }

    /// Returns statements that delete all data about the Google accounts of erased users.
    static func forgetCalls(googleSubjects: Set<String>) -> [PostgresCall] {
        guard !googleSubjects.isEmpty else { return [] }
        let subjects = googleSubjects.sorted()
        return [clearGoogleEvents(subjects), removeGoogleAccounts(subjects)]
    }
}

extension RowWrite where Columns: Table {
    fileprivate init(puttingBy key: String, _ changed: ColumnChoice<Columns>) {
        self.init(
            inserting: "put_\(Columns.name)",
            "ON CONFLICT (\(key)) DO UPDATE SET \(Columns.names(changed).assigned(from: "excluded"))")
    }
}
