import AppleAccounts
import AuthorizationServer
import Cryptography
import GRDB
import SQLTables

/// Reads all of an account's grants with their dependent rows, and all or some of their codes.
final class StoredGrantRows {
    private let names: Names
    private let findGrants: KeyedSelect<AccountID, GrantColumns>
    private let findFamilies: KeyedSelect<AccountID, OAuthTokenFamilyTable>
    private let findCodes: KeyedSelect<AccountID, OAuthCodeColumns>
    private let findCode: KeyedSelect<SHA256Digest, OAuthCodeColumns>
    private let findGrant: PreparedStatement
    private let account: Parameter<AccountID>
    private let client: Parameter<OAuthClientID>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        findGrants = try KeyedSelect(in: database) {
            GrantColumns($0.add(OAuthGrantTable.self))
        } sql: {
            "SELECT \($0) FROM oauth_grant WHERE account_id = \($1) ORDER BY id"
        }
        var parameters = ParameterList()
        (account, client) = (parameters.add(AccountID.self), parameters.add(OAuthClientID.self))
        findGrant = try PreparedStatement(
            """
            SELECT \(OAuthGrantTable.names()) FROM oauth_grant
            WHERE account_id = \(account) AND oauth_client = \(client)
            """, in: database)
        findFamilies = try KeyedSelect(in: database) {
            $0.add(OAuthTokenFamilyTable.self, as: "l")
        } sql: {
            """
            SELECT \($0) FROM oauth_grant g CROSS JOIN oauth_token_family l ON l.grant_id = g.id
            WHERE g.account_id = \($1)
            """
        }
        findCodes = try KeyedSelect(in: database) {
            OAuthCodeColumns(&$0)
        } sql: {
            """
            SELECT \($0) FROM oauth_grant g CROSS JOIN oauth_code c ON c.grant_id = g.id
            WHERE g.account_id = \($1)
            """
        }
        findCode = try KeyedSelect(in: database) {
            OAuthCodeColumns(&$0)
        } sql: {
            "SELECT \($0) FROM oauth_code c JOIN oauth_grant g ON g.id = c.grant_id WHERE c.digest = \($1)"
        }
    }

    func grants(of account: AccountID) throws -> [GrantRecord] {
        try findGrants.all(account) { try $0.record($1, names) }
    }

    func grant(of account: AccountID, for client: OAuthClientID) throws -> GrantRecord? {
        findGrant.begin()
        findGrant.bind(account, to: self.account)
        findGrant.bind(client, to: self.client)
        defer { findGrant.finish() }
        return try findGrant.step() ? try findGrants.columns.record(findGrant, names) : nil
    }

    /// - Parameter codeDigests: The codes to read; `nil` for all of the accounts' codes.
    func load(
        _ accounts: [AccountID], codes codeDigests: [SHA256Digest]? = nil
    ) throws -> (grants: [GrantRecord], families: [TokenFamily], codes: [CodeRecord]) {
        var held: (grants: [GrantRecord], families: [TokenFamily], codes: [CodeRecord]) = ([], [], [])
        for account in accounts {
            let grants = try grants(of: account)
            guard !grants.isEmpty else { continue }
            held.grants += grants
            held.families += try findFamilies.all(account) { try $0.record($1) }
            if codeDigests == nil { held.codes += try findCodes.all(account) { try $0.record($1) } }
        }
        for digest in codeDigests ?? [] { held.codes += try findCode.all(digest) { try $0.record($1) } }
        return held
    }
}

/// Loads the context for a batch of grant commands, except the grants themselves.
final class GrantSelectionRows {
    private let byCode: KeyedSelect<SHA256Digest, Column<AccountID>>
    private let byFamily: KeyedSelect<UniqueID, Column<AccountID>>
    private let byGoogleSubject: KeyedSelect<String, Column<AccountID>>
    private let byToken: KeyedSelect<SHA512Digest, Column<AccountID>>
    private let findErasure: KeyedSelect<AccountID, Void>
    private let findEvent: KeyedSelect<String, Void>
    private let findGoogleAccount: KeyedSelect<String, GoogleAccountTable>
    private let findPaces: KeyedSelect<AccountID, OAuthGrantPaceTable>

    init(in database: Database) throws {
        func owner<Key>(_ condition: String) throws -> KeyedSelect<Key, Column<AccountID>> {
            try KeyedSelect(in: database) {
                $0.add("g.account_id", AccountID.self, as: "account_id")
            } sql: {
                "SELECT \($0) FROM \(condition) = \($1)"
            }
        }
        let families = "oauth_token_family l JOIN oauth_grant g ON g.id = l.grant_id"
        byCode = try owner("oauth_code c JOIN oauth_grant g ON g.id = c.grant_id WHERE c.digest")
        byFamily = try owner("\(families) WHERE l.id")
        byGoogleSubject = try owner("\(families) WHERE l.google_subject")
        byToken = try owner("\(families) WHERE l.double_sha512")
        findErasure = try KeyedSelect(in: database) { "SELECT 1 FROM erasure WHERE account_id = \($0)" }
        findEvent = try KeyedSelect(in: database) { "SELECT 1 FROM google_event WHERE jti = \($0)" }
        findPaces = try KeyedSelect(in: database, by: "account_id")
        findGoogleAccount = try KeyedSelect(in: database, by: "google_subject")
    }

    /// Returns the accounts that a batch names, in ID order.
    func accounts(_ question: GrantSelection) throws -> [AccountID] {
        var found = Set(question.accountIDs)
        func add<Key>(_ values: [Key], _ find: KeyedSelect<Key, Column<AccountID>>) throws {
            for value in values { found.formUnion(try find.all(value) { try $1.required($0) }) }
        }
        try add(question.codeDigests, byCode)
        try add(question.familyIDs, byFamily)
        try add(question.googleSubjects, byGoogleSubject)
        try add(question.tokenDigests, byToken)
        return found.sorted { $0.uniqueID < $1.uniqueID }
    }

    func wasErased(_ id: AccountID) throws -> Bool { try findErasure.hasRow(id) }

    func isKept(googleEvent jti: String) throws -> Bool { try findEvent.hasRow(jti) }

    func paces(of id: AccountID) throws -> [GrantPace] { try findPaces.all(id) { try $0.record($1) } }

    func googleAccount(_ subject: String) throws -> GoogleAccountRecord? {
        try findGoogleAccount.first(subject) { try $0.record($1) }
    }
}
