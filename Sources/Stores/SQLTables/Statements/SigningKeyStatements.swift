public import AppleAccounts
public import AuthorizationServer

/// Statements for the token-signing keys, which all replicas share; for both databases.
private enum SigningKeyStatements {
    static let find = SQLStatement<SigningKeyTable>(rows: "signing_keys") { _ in
        "ORDER BY created_at DESC, key_id DESC"
    }
    static let insert = SQLInsertion<SigningKeyTable>("insert_signing_key")
    static let isThere = SQLStatement<Void, String, String, Moment>("find_young_signing_key") {
        _, key, algorithm, moment in
        """
        SELECT 1 FROM signing_key
        WHERE key_id = \(key) OR algorithm = \(algorithm) AND created_at >= \(moment) LIMIT 1
        """
    }
    static let reseal = SQLStatement<Void, String, SealedSecret, SealedSecret>("reseal_signing_key") {
        _, keyID, old, new in
        "UPDATE signing_key SET sealed = \(new) WHERE key_id = \(keyID) AND sealed = \(old)"
    }
    static let removeOne = SQLStatement<Void, String, SealedSecret>("remove_signing_key") {
        _, keyID, sealed in
        "DELETE FROM signing_key WHERE key_id = \(keyID) AND sealed = \(sealed)"
    }
    static let remove = SQLStatement<Column<String>, Moment>("remove_signing_keys") {
        $0.add("key_id", String.self, as: "key_id")
    } sql: { _, list, moment in
        "DELETE FROM signing_key WHERE retires_at < \(moment) RETURNING \(list)"
    }
}

extension SQLReader {
    public func signingKeys() async throws -> [SigningKeyRecord] {
        try await snapshot { try $0.records(SigningKeyStatements.find) }
    }
}

extension AuthorizationStore where Self: SQLStore {
    public func offerSigningKey(
        _ key: SigningKeyRecord, unlessMadeAfter moment: Moment
    ) async throws -> [SigningKeyRecord] {
        try await transaction { session in
            // If several replicas offer a key concurrently, the later replicas see the first replica's key.
            try session.lock(SigningKeyTable.self)
            let isThere = SigningKeyStatements.isThere(key.keyID, key.algorithm, moment)
            guard try session.value(isThere, as: Int64.self) == nil else { return }
            try session.run(SigningKeyStatements.insert { $0.write(key, to: $1) })
            try session.appendAudit([key.auditEntry])
        }
        return try await signingKeys()
    }

    public func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool {
        try await run(SigningKeyStatements.reseal(key.keyID, key.sealed, sealed)) > 0
    }

    public func removeSigningKey(
        _ key: SigningKeyRecord, by origin: AuditOrigin, at moment: Moment
    ) async throws -> Bool {
        try await transaction { session in
            let isRemoved = try session.run(SigningKeyStatements.removeOne(key.keyID, key.sealed)) > 0
            if isRemoved {
                try session.appendAudit([
                    SigningKeyRecord.removalEntry(of: [key.keyID], by: origin, at: moment)
                ])
            }
            return isRemoved
        }
    }

    public func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int {
        try await transaction { session in
            let keyIDs = try session.rows(SigningKeyStatements.remove(moment)) {
                try $0.required(SigningKeyStatements.remove.columns)
            }
            if !keyIDs.isEmpty {
                try session.appendAudit([SigningKeyRecord.removalEntry(of: keyIDs, at: moment)])
            }
            return keyIDs.count
        }
    }
}
