import AppleAccounts
import AuthorizationServer
import Cryptography
import SQLTables

/// Writes a transaction's changes of grants: one statement for each kind of change, with any number of rows.
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

    // A name without number violates NOT NULL, so that no row is lost silently.
    private struct PutGrants {
        let columns: OAuthGrantTable
        let app: Column<ClientID>
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            columns = rows.add(OAuthGrantTable.self, .except { [$0.appID] })
            let names = rows.names
            app = rows.add("app", ClientID.self)
            statement = RowStatement(
                "put_oauth_grants", rows,
                """
                INSERT INTO oauth_grant (\(names), app_id)
                SELECT \(names.of("new")), (SELECT id FROM app WHERE name = new.app)
                FROM \(rows.relation("new"))
                ON CONFLICT (id) DO UPDATE SET \(OAuthGrantTable.names(.values).assigned(from: "excluded"))
                """)
        }
    }

    /// Inserts rows, or updates existing rows.
    private struct Put<T: Table> {
        let columns: T
        let statement: RowStatement

        init(_ key: String, _ changed: ColumnChoice<T>) {
            self.init("ON CONFLICT (\(key)) DO UPDATE SET \(T.names(changed).assigned(from: "excluded"))")
        }

        init(_ conflict: String = "") {
            var rows = RowParameters()
            columns = rows.add(T.self)
            statement = RowStatement(
                "put_\(T.name)", rows,
                "INSERT INTO \(T.name) (\(rows.names)) SELECT * FROM \(rows.unnest) \(conflict)")
        }

        /// Returns the calls; empty for no records.
        func calls<Record>(
            _ records: [Record], _ write: (T, Record, RowValues) -> Void
        ) -> [PostgresCall] {
            records.isEmpty ? [] : [statement.call(records) { write(columns, $0, $1) }]
        }
    }

    private static let putGrants = PutGrants()
    private static let putFamilies = Put<OAuthTokenFamilyTable>("id", .progress)
    private static let putCodes = Put<OAuthCodeTable>("digest", .redemption)
    private static let removeDevices = TypedStatement<[SHA256Digest]>("remove_oauth_devices") {
        "DELETE FROM oauth_device WHERE digest = ANY (\($0))"
    }
    private static let putDevices = Put<OAuthDeviceTable>("digest", .progress)
    private static let putPaces = Put<OAuthGrantPaceTable>("account_id, oauth_client", .values)
    private static let insertGoogleEvents = Put<GoogleEventTable>()
    private static let putGoogleAccounts = Put<GoogleAccountTable>("google_subject", .values)

    /// Returns statements for the transaction that has locked the accounts.
    static func calls(for changes: GrantChanges) -> [PostgresCall] {
        var calls: [PostgresCall] = []
        if !changes.removedGrants.isEmpty {
            let ids = changes.removedGrants
            calls += [removeCodesOfGrants(ids), removeFamiliesOfGrants(ids), removeGrants(ids)]
        }
        if !changes.removedFamilies.isEmpty { calls.append(removeFamilies(changes.removedFamilies)) }
        if !changes.removedCodes.isEmpty { calls.append(removeCodes(changes.removedCodes)) }
        if !changes.grants.isEmpty {
            calls.append(
                putGrants.statement.call(changes.grants) { grant, row in
                    putGrants.columns.write(grant, to: row)
                    row.set(putGrants.app, grant.clientID)
                })
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

    /// Returns statements that delete all data of Google accounts whose users are erased.
    static func forgetCalls(googleSubjects: Set<String>) -> [PostgresCall] {
        guard !googleSubjects.isEmpty else { return [] }
        let subjects = googleSubjects.sorted()
        return [clearGoogleEvents(subjects), removeGoogleAccounts(subjects)]
    }
}
