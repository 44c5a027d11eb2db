import AppleAccounts
import AuthorizationServer
import Cryptography
import GRDB
import SQLTables

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
        try findPaces.forEach(id) { body(try pace.pace($0)) }
    }

    func googleAccount(_ subject: String) throws -> GoogleAccountRecord? {
        try findGoogleAccount.first(subject) { try googleAccount.account($0) }
    }
}
