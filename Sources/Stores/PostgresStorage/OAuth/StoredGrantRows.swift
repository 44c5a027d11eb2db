import AppleAccounts
import AuthorizationServer
import Cryptography
import SQLTables

/// Reads all of the accounts' grants with their dependent rows.
struct StoredGrantRows {
    private static let findGrants = TypedQuery<GrantColumns, [AccountID]>("oauth_grants") {
        GrantColumns($0.add(OAuthGrantTable.self))
    } sql: { list, accounts in
        "SELECT \(list) FROM oauth_grant WHERE account_id = ANY (\(accounts)) ORDER BY id"
    }
    private static let findFamilies = TypedQuery<OAuthTokenFamilyTable, [AccountID]>("oauth_token_families") {
        $0.add(OAuthTokenFamilyTable.self, as: "l")
    } sql: { list, accounts in
        """
        SELECT \(list) FROM (SELECT id FROM oauth_grant WHERE account_id = ANY (\(accounts)) OFFSET 0) AS g
        CROSS JOIN LATERAL (
            SELECT \(OAuthTokenFamilyTable.names()) FROM oauth_token_family WHERE grant_id = g.id OFFSET 0) AS l
        """
    }
    private static let findCodes = TypedQuery<OAuthCodeColumns, [AccountID]>("oauth_codes") {
        OAuthCodeColumns(&$0)
    } sql: { list, accounts in
        """
        SELECT \(list)
        FROM (
            SELECT id, account_id, oauth_client FROM oauth_grant WHERE account_id = ANY (\(accounts))
            OFFSET 0) AS g
        CROSS JOIN LATERAL (
            SELECT \(OAuthCodeTable.names()) FROM oauth_code WHERE grant_id = g.id OFFSET 0) AS c
        """
    }

    let grants: [GrantRecord]
    let families: [TokenFamily]
    let codes: [CodeRecord]

    static func calls(for accounts: [AccountID]) -> [PostgresCall] {
        [findGrants.statement(accounts), findFamilies.statement(accounts), findCodes.statement(accounts)]
    }

    static func grants(of account: AccountID, in session: PostgresSession) throws -> [GrantRecord] {
        let rows = try session.run(findGrants.statement([account]))
        return try rows.map { try findGrants.columns.record($0, session.names, in: session) }
    }

    /// - Parameter results: The results of `calls`.
    init(
        _ results: ArraySlice<PostgresRows>, _ names: PostgresNames, in session: PostgresSession
    ) throws {
        var results = results
        guard let grants = results.popFirst(), let families = results.popFirst(),
            let codes = results.popFirst()
        else { throw StorageError(.unavailable, detail: "expected the results of three statements") }
        self.grants = try grants.map { try Self.findGrants.columns.record($0, names, in: session) }
        self.families = try families.map { try Self.findFamilies.columns.record($0) }
        self.codes = try codes.map { try Self.findCodes.columns.record($0) }
    }
}

/// Loads the context for a batch of grant commands, except the grants themselves.
enum GrantSelectionRows {
    /// "siwo" in ASCII: the first of the two numbers that name an advisory lock.
    private static let space = 0x7369_776F
    /// Number of locks that all Google accounts and events share.
    private static let lockCount: UInt64 = 256

    // Google's accounts and events have no account row to lock, and new accounts, events and devices have no
    // row yet. So the first statement of a transaction locks all of them by number, in one order.
    private static let lock = TypedStatement<[Int64]>("oauth_lock_google") { numbers in
        "SELECT pg_advisory_xact_lock(\(space), k.number::integer) FROM unnest(\(numbers)) AS k (number)"
    }

    private static let findOwners = TypedQuery<
        Column<AccountID>, [SHA256Digest], [UniqueID], [String], [SHA512Digest]
    >("oauth_find_owners") {
        $0.add("g.account_id", AccountID.self, as: "account_id")
    } sql: { list, codes, families, subjects, tokens in
        """
        SELECT \(list) FROM oauth_code c JOIN oauth_grant g ON g.id = c.grant_id
        WHERE c.digest = ANY (\(codes))
        UNION ALL
        SELECT \(list) FROM oauth_token_family l JOIN oauth_grant g ON g.id = l.grant_id
        WHERE l.id = ANY (\(families))
        UNION ALL
        SELECT \(list) FROM oauth_token_family l JOIN oauth_grant g ON g.id = l.grant_id
        WHERE l.google_subject = ANY (\(subjects)) AND l.google_subject IS NOT NULL
        UNION ALL
        SELECT \(list) FROM oauth_token_family l JOIN oauth_grant g ON g.id = l.grant_id
        WHERE l.double_sha512 = ANY (\(tokens)) AND l.double_sha512 IS NOT NULL
        """
    }
    private static let findGoogleAccounts = TypedQuery<GoogleAccountTable, [String]>(
        rows: "oauth_google_accounts"
    ) { "WHERE google_subject = ANY (\($0))" }
    private static let findEvents = TypedQuery<Column<String>, [String]>("oauth_google_events") {
        $0.add("jti", String.self, as: "jti")
    } sql: { list, identifiers in
        "SELECT \(list) FROM google_event WHERE jti = ANY (\(identifiers))"
    }
    private static let findPaces = TypedQuery<OAuthGrantPaceTable, [AccountID]>(rows: "oauth_grant_paces") {
        "WHERE account_id = ANY (\($0))"
    }
    private static let findErased = TypedQuery<Column<AccountID>, [AccountID]>("oauth_erased") {
        $0.add("account_id", AccountID.self, as: "account_id")
    } sql: { list, accounts in
        "SELECT \(list) FROM erasure WHERE account_id = ANY (\(accounts))"
    }

    /// Returns the transaction's first calls.
    static func ownerCalls(_ question: GrantSelection) -> [PostgresCall] {
        let find = findOwners.statement(
            question.codeDigests, question.familyIDs, question.googleSubjects,
            question.tokenDigests)
        // Only one transaction at a time holds the lock, so counting and adding devices is atomic.
        let names =
            question.googleSubjects.map { "s" + $0 } + question.eventIdentifiers.map { "e" + $0 }
            + (question.newDevicesOf.isEmpty ? [] : ["d"])
        let locks = names.isEmpty ? [] : [lock(Set(names.map(lockNumber)).sorted())]
        return locks + [DeviceRows.lockCall(question), find].compactMap(\.self)
    }

    /// - Parameter owners: The result of the last of the `ownerCalls`.
    static func accounts(_ question: GrantSelection, _ owners: PostgresRows) throws -> [AccountID] {
        var ids = Set(question.accountIDs)
        for row in owners { ids.insert(try row.required(findOwners.columns)) }
        return ids.sorted { $0.uniqueID < $1.uniqueID }
    }

    /// Returns the calls that follow once the accounts are locked.
    static func calls(_ question: GrantSelection, _ accounts: [AccountID]) -> [PostgresCall] {
        [
            findErased.statement(question.accountIDs), findGoogleAccounts.statement(question.googleSubjects),
            findEvents.statement(question.eventIdentifiers),
            findPaces.statement(question.accountsOfPaces(among: accounts)),
        ]
    }

    /// - Parameter results: The results of `calls`.
    static func load(_ results: ArraySlice<PostgresRows>, into set: inout GrantWorkingSet) throws {
        var results = results
        guard let erased = results.popFirst(), let accounts = results.popFirst(),
            let events = results.popFirst(), let paces = results.popFirst()
        else { throw StorageError(.unavailable, detail: "expected the results of four statements") }
        for row in erased { set.load(erased: try row.required(findErased.columns)) }
        for row in accounts { set.load(try findGoogleAccounts.columns.record(row)) }
        for row in paces { set.load(try findPaces.columns.record(row)) }
        for row in events { set.load(googleEvent: try row.required(findEvents.columns)) }
    }

    /// Returns a number that is the same in every replica of every version.
    private static func lockNumber(of name: String) -> Int64 {
        Int64(SHA256Digest.hash(name).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } % lockCount)
    }
}
