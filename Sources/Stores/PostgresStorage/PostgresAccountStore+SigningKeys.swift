public import AppleAccounts
public import AuthorizationServer
import SQLTables

// Keys that sign tokens.
extension PostgresAccountStore {
    public func signingKeys() async throws -> [SigningKeyRecord] {
        try await pool.run { try SigningKeyRows.all(in: $0) }
    }

    public func offerSigningKey(
        _ key: SigningKeyRecord, unlessMadeAfter moment: Moment
    ) async throws -> [SigningKeyRecord] {
        try await pool.run { session in
            try SigningKeyRows.offer(key, unlessMadeAfter: moment, in: session)
            return try SigningKeyRows.all(in: session)
        }
    }

    public func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool {
        try await pool.run { try SigningKeyRows.replaceSealed(key, with: sealed, in: $0) }
    }

    public func removeSigningKey(
        _ key: SigningKeyRecord, by origin: AuditOrigin, at moment: Moment
    ) async throws -> Bool {
        try await pool.run { try SigningKeyRows.remove(key, by: origin, at: moment, in: $0) }
    }

    public func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int {
        try await pool.run { try SigningKeyRows.remove(retiredBefore: moment, in: $0) }
    }
}

/// Keys that sign tokens, shared by all replicas.
enum SigningKeyRows {
    private static let find = TypedQuery<SigningKeyTable>("signing_keys") {
        $0.add(SigningKeyTable.self)
    } sql: { list in
        "SELECT \(list) FROM signing_key ORDER BY created_at DESC, key_id DESC"
    }
    private static let insert = TableWrite<SigningKeyTable>(
        inserting: "insert_signing_key", "ON CONFLICT (key_id) DO NOTHING")
    // If several replicas offer a key at once, later replicas see the key of the first.
    private static let lock = PostgresCall(
        PostgresStatement(
            "lock_signing_keys", "LOCK TABLE signing_key IN SHARE ROW EXCLUSIVE MODE"))
    private static let isThere = TypedStatement<String, Moment>("find_young_signing_key") {
        algorithm, moment in
        """
        SELECT EXISTS (
            SELECT 1 FROM signing_key WHERE algorithm = \(algorithm) AND created_at >= \(moment))
        """
    }
    private static let reseal = TypedStatement<String, SealedSecret, SealedSecret>("reseal_signing_key") {
        keyID, old, new in
        "UPDATE signing_key SET sealed = \(new) WHERE key_id = \(keyID) AND sealed = \(old)"
    }
    private static let removeOne = TypedStatement<String, SealedSecret>("remove_signing_key") {
        keyID, sealed in
        "DELETE FROM signing_key WHERE key_id = \(keyID) AND sealed = \(sealed)"
    }
    private static let remove = TypedQuery<Column<String>, Moment>("remove_signing_keys") {
        $0.add("key_id", String.self, as: "key_id")
    } sql: { list, moment in
        "DELETE FROM signing_key WHERE retires_at < \(moment) RETURNING \(list)"
    }

    /// Returns the keys, newest first.
    static func all(in session: PostgresSession) throws -> [SigningKeyRecord] {
        try session.run(find.statement()).map { try find.columns.key($0) }
    }

    static func offer(
        _ key: SigningKeyRecord, unlessMadeAfter moment: Moment, in session: PostgresSession
    ) throws {
        let results = try session.pipeline([.begin, lock, isThere(key.algorithm, moment)])
        guard results[2].onlyValue(as: Bool.self) != true else { return try session.rollBack() }
        let call = insert.statement.call([key]) { insert.columns.write($0, to: $1) }
        _ = try session.pipeline([call] + AuditAppending([key.auditEntry]).calls + [.commit])
    }

    static func replaceSealed(
        _ key: SigningKeyRecord, with sealed: SealedSecret, in session: PostgresSession
    ) throws -> Bool {
        try session.run(reseal(key.keyID, key.sealed, sealed)).affected > 0
    }

    static func remove(
        _ key: SigningKeyRecord, by origin: AuditOrigin, at moment: Moment, in session: PostgresSession
    ) throws -> Bool {
        let results = try session.pipeline([.begin, removeOne(key.keyID, key.sealed)])
        guard results[1].affected > 0 else {
            try session.rollBack()
            return false
        }
        let entry = SigningKeyRecord.removalEntry(of: [key.keyID], by: origin, at: moment)
        _ = try session.pipeline(AuditAppending([entry]).calls + [.commit])
        return true
    }

    static func remove(retiredBefore moment: Moment, in session: PostgresSession) throws -> Int {
        let rows = try session.pipeline([.begin, remove.statement(moment)])[1]
        let keyIDs = try rows.map { try $0.required(remove.columns) }
        // Called again and again, mostly for nothing.
        guard !keyIDs.isEmpty else {
            try session.rollBack()
            return 0
        }
        let entry = SigningKeyRecord.removalEntry(of: keyIDs, at: moment)
        _ = try session.pipeline(AuditAppending([entry]).calls + [.commit])
        return keyIDs.count
    }
}
