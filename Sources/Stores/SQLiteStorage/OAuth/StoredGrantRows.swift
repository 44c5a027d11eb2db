import AppleAccounts
import AuthorizationServer
import Cryptography
import GRDB
import SQLTables

/// Reads all grants of an account with their dependent rows, or with some of the codes.
final class StoredGrantRows {
    private let names: Names
    private let findGrants: KeyedSelect<AccountID>
    private let findFamilies: KeyedSelect<AccountID>
    private let findCodes: KeyedSelect<AccountID>
    private let grant: GrantColumns
    private let family: OAuthTokenFamilyTable
    private let code: OAuthCodeTable
    private let clientOfCode: Column<OAuthClientID>
    private let accountOfCode: Column<AccountID>
    private let findCode: KeyedSelect<SHA256Digest>
    private let findGrant: PreparedStatement
    private let account: Parameter<AccountID>
    private let client: Parameter<OAuthClientID>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        var grants = SelectList()
        grant = GrantColumns(grants.add(OAuthGrantTable.self))
        findGrants = try KeyedSelect(in: database) {
            "SELECT \(grants) FROM oauth_grant WHERE account_id = \($0) ORDER BY id"
        }
        var parameters = ParameterList()
        (account, client) = (parameters.add(AccountID.self), parameters.add(OAuthClientID.self))
        findGrant = try PreparedStatement(
            "SELECT \(grants) FROM oauth_grant WHERE account_id = \(account) AND oauth_client = \(client)",
            in: database)
        var families = SelectList()
        family = families.add(OAuthTokenFamilyTable.self, as: "l")
        findFamilies = try KeyedSelect(in: database) {
            """
            SELECT \(families) FROM oauth_grant g CROSS JOIN oauth_token_family l ON l.grant_id = g.id
            WHERE g.account_id = \($0)
            """
        }
        var codes = SelectList()
        code = codes.add(OAuthCodeTable.self, as: "c")
        clientOfCode = codes.add("g.oauth_client", OAuthClientID.self, as: "oauth_client")
        accountOfCode = codes.add("g.account_id", AccountID.self, as: "account_id")
        findCodes = try KeyedSelect(in: database) {
            """
            SELECT \(codes) FROM oauth_grant g CROSS JOIN oauth_code c ON c.grant_id = g.id
            WHERE g.account_id = \($0)
            """
        }
        findCode = try KeyedSelect(in: database) {
            "SELECT \(codes) FROM oauth_code c JOIN oauth_grant g ON g.id = c.grant_id WHERE c.digest = \($0)"
        }
    }

    func grants(of account: AccountID) throws -> [GrantRecord] {
        var records: [GrantRecord] = []
        try findGrants.forEach(account) { records.append(try grant.record($0, names)) }
        return records
    }

    func grant(of account: AccountID, for client: OAuthClientID) throws -> GrantRecord? {
        findGrant.begin()
        findGrant.bind(account, to: self.account)
        findGrant.bind(client, to: self.client)
        defer { findGrant.finish() }
        return try findGrant.step() ? try grant.record(findGrant, names) : nil
    }

    /// - Parameter codeDigests: The codes to read; `nil` for all codes of the accounts.
    func load(
        _ accounts: [AccountID], codes codeDigests: [SHA256Digest]? = nil
    ) throws -> (grants: [GrantRecord], families: [TokenFamily], codes: [CodeRecord]) {
        var held: (grants: [GrantRecord], families: [TokenFamily], codes: [CodeRecord]) = ([], [], [])
        for account in accounts {
            let grants = try grants(of: account)
            guard !grants.isEmpty else { continue }
            held.grants += grants
            try findFamilies.forEach(account) { held.families.append(try family.record($0)) }
            if codeDigests == nil { try findCodes.forEach(account) { held.codes.append(try record($0)) } }
        }
        for digest in codeDigests ?? [] { try findCode.forEach(digest) { held.codes.append(try record($0)) } }
        return held
    }

    private func record(_ row: PreparedStatement) throws -> CodeRecord {
        try code.record(row, (row.required(accountOfCode), row.required(clientOfCode)))
    }
}

/// Loads the context of a batch of grant commands, except the grants themselves.
final class GrantSelectionRows {
    private let byCode: KeyedSelect<SHA256Digest>
    private let byFamily: KeyedSelect<UniqueID>
    private let byGoogleSubject: KeyedSelect<String>
    private let byToken: KeyedSelect<SHA512Digest>
    private let findErasure: KeyedSelect<AccountID>
    private let findEvent: KeyedSelect<String>
    private let findGoogleAccount: KeyedSelect<String>
    private let account: Column<AccountID>
    private let googleAccount: GoogleAccountTable
    private let findPaces: KeyedSelect<AccountID>
    private let pace: OAuthGrantPaceTable

    init(in database: Database) throws {
        var list = SelectList()
        account = list.add("g.account_id", AccountID.self, as: "account_id")
        byCode = try KeyedSelect(in: database) {
            "SELECT \(list) FROM oauth_code c JOIN oauth_grant g ON g.id = c.grant_id WHERE c.digest = \($0)"
        }
        byFamily = try KeyedSelect(in: database) {
            "SELECT \(list) FROM oauth_token_family l JOIN oauth_grant g ON g.id = l.grant_id WHERE l.id = \($0)"
        }
        byGoogleSubject = try KeyedSelect(in: database) {
            """
            SELECT \(list) FROM oauth_token_family l JOIN oauth_grant g ON g.id = l.grant_id
            WHERE l.google_subject = \($0)
            """
        }
        byToken = try KeyedSelect(in: database) {
            """
            SELECT \(list) FROM oauth_token_family l JOIN oauth_grant g ON g.id = l.grant_id
            WHERE l.double_sha512 = \($0)
            """
        }
        findErasure = try KeyedSelect(in: database) { "SELECT 1 FROM erasure WHERE account_id = \($0)" }
        findEvent = try KeyedSelect(in: database) { "SELECT 1 FROM google_event WHERE jti = \($0)" }
        var paces = SelectList()
        pace = paces.add(OAuthGrantPaceTable.self)
        findPaces = try KeyedSelect(in: database) {
            "SELECT \(paces) FROM oauth_grant_pace WHERE account_id = \($0)"
        }
        var accounts = SelectList()
        googleAccount = accounts.add(GoogleAccountTable.self)
        findGoogleAccount = try KeyedSelect(in: database) {
            "SELECT \(accounts) FROM google_account WHERE google_subject = \($0)"
        }
    }

    /// Returns the accounts that the names in a question belong to, in the order of their IDs.
    func accounts(_ question: GrantSelection) throws -> [AccountID] {
        var found = Set(question.accountIDs)
        func add(_ row: PreparedStatement) throws { found.insert(try row.required(account)) }
        for digest in question.codeDigests { try byCode.forEach(digest, add) }
        for id in question.familyIDs { try byFamily.forEach(id, add) }
        for subject in question.googleSubjects { try byGoogleSubject.forEach(subject, add) }
        for digest in question.tokenDigests { try byToken.forEach(digest, add) }
        return found.sorted { $0.uniqueID < $1.uniqueID }
    }

    func wasErased(_ id: AccountID) throws -> Bool { try findErasure.first(id) { _ in true } ?? false }

    func isKept(googleEvent jti: String) throws -> Bool { try findEvent.first(jti) { _ in true } ?? false }

    func forEachPace(of id: AccountID, _ body: (GrantPace) -> Void) throws {
        try findPaces.forEach(id) { body(try pace.record($0)) }
    }

    func googleAccount(_ subject: String) throws -> GoogleAccountRecord? {
        try findGoogleAccount.first(subject) { try googleAccount.record($0) }
    }
}
