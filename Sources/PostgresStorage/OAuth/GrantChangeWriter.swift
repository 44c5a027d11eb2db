import AppleAccounts
import AuthorizationServer
import Cryptography
import SQLTables

/// Writes what a transaction has changed of grants: one statement for each kind of change, with any
/// number of rows.
enum GrantChangeWriter {
    private static let removeCodesOfGrants = TypedStatement<[GrantID]>("remove_codes_of_grants") {
        "DELETE FROM oauth_code WHERE grant_id = ANY (\($0))"
    }
    private static let removeLinesOfGrants = TypedStatement<[GrantID]>("remove_lines_of_grants") {
        "DELETE FROM oauth_line WHERE grant_id = ANY (\($0))"
    }
    private static let removeGrants = TypedStatement<[GrantID]>("remove_oauth_grants") {
        "DELETE FROM oauth_grant WHERE id = ANY (\($0))"
    }
    private static let removeLines = TypedStatement<[UniqueID]>("remove_oauth_lines") {
        "DELETE FROM oauth_line WHERE id = ANY (\($0))"
    }
    private static let removeCodes = TypedStatement<[SHA256Digest]>("remove_oauth_codes") {
        "DELETE FROM oauth_code WHERE digest = ANY (\($0))"
    }
    private static let clearGoogleEvents = TypedStatement<[String]>("clear_google_events") {
        """
        UPDATE google_event SET \(GoogleEventTable.clearing)
        WHERE google_subject = ANY (\($0)) AND google_subject IS NOT NULL
        """
    }
    private static let removeGoogleAccounts = TypedStatement<[String]>("remove_google_accounts") {
        "DELETE FROM google_account WHERE google_subject = ANY (\($0))"
    }

    // A name without number violates NOT NULL, so that no row is lost in silence.
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

    /// Inserts rows, or changes them where there are such.
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
    }

    private static let putGrants = PutGrants()
    private static let putLines = Put<OAuthLineTable>("id", .progress)
    private static let putCodes = Put<OAuthCodeTable>("digest", .redemption)
    private static let putPaces = Put<OAuthGrantPaceTable>("account_id, oauth_client", .values)
    private static let insertDeliveries = Put<SecurityEventDeliveryTable>()
    private static let insertGoogleEvents = Put<GoogleEventTable>()
    private static let putGoogleAccounts = Put<GoogleAccountTable>("google_subject", .values)

    /// To be run in the transaction that has locked the accounts.
    static func calls(for changes: GrantChanges) -> [PostgresCall] {
        var calls: [PostgresCall] = []
        if !changes.removedGrants.isEmpty {
            let ids = changes.removedGrants
            calls += [removeCodesOfGrants(ids), removeLinesOfGrants(ids), removeGrants(ids)]
        }
        if !changes.removedLines.isEmpty { calls.append(removeLines(changes.removedLines)) }
        if !changes.removedCodes.isEmpty { calls.append(removeCodes(changes.removedCodes)) }
        if !changes.grants.isEmpty { calls.append(call(changes.grants)) }
        if !changes.lines.isEmpty { calls.append(call(changes.lines)) }
        if !changes.codes.isEmpty { calls.append(call(changes.codes)) }
        if !changes.deliveries.isEmpty { calls.append(call(changes.deliveries)) }
        return calls
    }

    static func calls(_ paces: [GrantPace]) -> [PostgresCall] {
        guard !paces.isEmpty else { return [] }
        let columns = putPaces.columns
        return [
            putPaces.statement.call { values in
                values.set(columns.accountID, paces.map(\.accountID))
                values.set(columns.oauthClientID, paces.map(\.oauthClientID))
                values.set(columns.begunAt, paces.map(\.begunAt))
                values.set(columns.count, paces.map(\.count))
            }
        ]
    }

    static func calls(_ events: [GoogleEventCommand], _ accounts: [GoogleAccountRecord]) -> [PostgresCall] {
        var calls: [PostgresCall] = []
        if !events.isEmpty {
            let columns = insertGoogleEvents.columns
            calls.append(
                insertGoogleEvents.statement.call { values in
                    values.set(columns.jti, events.map(\.jti))
                    values.set(columns.googleSubject, events.map(\.googleSubject))
                    values.set(columns.payload, events.map { ByteString($0.payload) })
                    values.set(columns.receivedAt, events.map(\.receivedAt))
                })
        }
        if !accounts.isEmpty {
            let columns = putGoogleAccounts.columns
            calls.append(
                putGoogleAccounts.statement.call { values in
                    values.set(columns.googleSubject, accounts.map(\.subject))
                    values.set(columns.isDisabled, accounts.map(\.isDisabled))
                    values.set(columns.moment, accounts.map(\.moment))
                })
        }
        return calls
    }

    /// What removes what is kept of Google accounts whose persons are erased.
    static func forgetCalls(googleSubjects: Set<String>) -> [PostgresCall] {
        guard !googleSubjects.isEmpty else { return [] }
        let subjects = googleSubjects.sorted()
        return [clearGoogleEvents(subjects), removeGoogleAccounts(subjects)]
    }

    private static func call(_ grants: [GrantRecord]) -> PostgresCall {
        let columns = putGrants.columns
        return putGrants.statement.call { values in
            values.set(columns.id, grants.map(\.id))
            values.set(columns.accountID, grants.map(\.accountID))
            values.set(columns.oauthClientID, grants.map(\.oauthClientID))
            values.set(putGrants.app, grants.map(\.clientID))
            values.set(columns.scope, grants.map(\.scope))
            values.set(columns.createdAt, grants.map(\.createdAt))
            values.set(columns.consentedAt, grants.map(\.consentedAt))
            values.set(columns.authorizedAt, grants.map(\.authorizedAt))
            values.set(columns.googleSubject, grants.map(\.googleSubject))
        }
    }

    private static func call(_ lines: [TokenLine]) -> PostgresCall {
        let (columns, tokens) = (putLines.columns, lines.map(\.refreshToken))
        return putLines.statement.call { values in
            values.set(columns.id, lines.map(\.id))
            values.set(columns.grantID, lines.map(\.grantID))
            values.set(columns.isNative, lines.map(\.isNative))
            values.set(columns.scope, lines.map(\.scope))
            values.set(columns.authenticatedAt, lines.map(\.authenticatedAt))
            values.set(columns.authorizedAt, lines.map(\.authorizedAt))
            values.set(columns.createdAt, lines.map(\.createdAt))
            values.set(columns.expiresAt, lines.map(\.expiresAt))
            values.set(columns.lineSecretDigest, tokens.map { $0?.lineSecretDigest })
            values.set(columns.tokenDigest, tokens.map { $0?.digest })
            values.set(columns.generation, tokens.map { token in token.map { Int64($0.generation) } })
            values.set(columns.previousDigest, tokens.map { $0?.previous?.digest })
            values.set(columns.rotatedAt, tokens.map { $0?.previous?.rotatedAt })
            values.set(columns.doubleSHA512, tokens.map { $0?.doubleSHA512 })
            values.set(columns.googleSubject, lines.map(\.googleSubject))
        }
    }

    private static func call(_ codes: [CodeRecord]) -> PostgresCall {
        let columns = putCodes.columns
        return putCodes.statement.call { values in
            values.set(columns.digest, codes.map(\.digest))
            values.set(columns.grantID, codes.map(\.grantID))
            values.set(columns.redirectURI, codes.map(\.redirectURI))
            values.set(columns.challenge, codes.map(\.challenge?.text))
            values.set(columns.challengeIsPlain, codes.map(\.challenge?.isPlain))
            values.set(columns.scope, codes.map(\.scope))
            values.set(columns.nonce, codes.map(\.nonce))
            values.set(columns.authenticatedAt, codes.map(\.authenticatedAt))
            values.set(columns.authorizedAt, codes.map(\.authorizedAt))
            values.set(columns.issuedAt, codes.map(\.issuedAt))
            values.set(columns.expiresAt, codes.map(\.expiresAt))
            values.set(columns.redeemedAt, codes.map(\.redemption?.moment))
            values.set(columns.lineID, codes.map(\.redemption?.lineID))
        }
    }

    private static func call(_ deliveries: [SecurityEventDelivery]) -> PostgresCall {
        let columns = insertDeliveries.columns
        return insertDeliveries.statement.call { values in
            values.set(columns.id, deliveries.map(\.id))
            values.set(columns.oauthClientID, deliveries.map(\.oauthClientID))
            values.set(columns.doubleSHA512, deliveries.map(\.doubleSHA512))
            values.set(columns.createdAt, deliveries.map(\.createdAt))
            values.set(columns.attempts, deliveries.map(\.attempts))
            values.set(columns.nextAttemptAt, deliveries.map(\.nextAttemptAt))
        }
    }
}
