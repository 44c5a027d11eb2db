public import AppAttestation
public import AppleAccounts
import GRDB
import SQLTables

extension SQLiteAccountStore: AppAttestStore {
    public func attestedKey(_ id: AttestedKeyID) async throws -> AttestedKeyRecord? {
        try await read { try $0.attestedKeys().find(id) }
    }

    public func attestedKeyWithoutWaiting(_ id: AttestedKeyID) -> AttestedKeyRecord? {
        readWithoutWaiting { try $0.attestedKeys().find(id) } ?? nil
    }
}

/// Reads and writes App Attest keys and each app's key count. Statements are prepared at first use. Must stay
/// on its connection's queue, and must not be used again after an error.
final class AttestedKeyRows {
    private let database: Database
    private let findKey: KeyedSelect<AttestedKeyID, AppAttestKeyTable>
    private let findCount: KeyedSelect<AppID, Void>
    /// The statement is prepared at first use, because only the writing connection needs it.
    private var raise: PreparedStatement?

    init(in database: Database) throws {
        self.database = database
        findKey = try KeyedSelect(in: database, by: "key_id")
        findCount = try KeyedSelect(in: database) {
            "SELECT key_count FROM app_attest_count WHERE app_id = \($0)"
        }
    }

    private static let raised: BoundColumns<AppAttestKeyTable> = {
        var parameters = ParameterList()
        return parameters.add(columnsOf: AppAttestKeyTable.self, .use)
    }()

    private static let raising = """
        UPDATE app_attest_key SET
            counter = \(raised[raised.columns.counter]), used_at = \(raised[raised.columns.usedAt]),
            validation_category = \(raised[raised.columns[\.facts.validationCategory]]),
            bundle_version = \(raised[raised.columns[\.facts.bundleVersion]])
        WHERE key_id = \(raised[raised.columns.id]) AND counter < \(raised[raised.columns.counter])
        """

    func find(_ id: AttestedKeyID) throws -> AttestedKeyRecord? {
        try findKey.first(id) { try $0.record($1) }
    }

    /// Returns the number of keys that an app has.
    func count(of app: AppID) throws -> Int64 {
        (try findCount.first(app) { $1.onlyValue(as: Int64.self) } ?? nil) ?? 0
    }

    /// Saves new keys, key counts and raised counters.
    func save(_ set: WorkingSet) throws {
        for record in set.newAttestedKeys {
            try Insertion<AppAttestKeyTable>(in: database)() { $0.write(record, to: $1) }
        }
        for (app, count) in set.changedKeyCounts {
            let put = try Insertion<AppAttestCountTable>(
                conflict: "ON CONFLICT (app_id) DO UPDATE SET key_count = excluded.key_count", in: database)
            try put {
                $1.set($0.appID, app)
                $1.set($0.keyCount, count)
            }
        }
        let raised = set.raisedAttestedKeys
        guard !raised.isEmpty else { return }
        let raise = try raise ?? PreparedStatement(Self.raising, in: database)
        self.raise = raise
        for record in raised {
            raise.begin()
            Self.raised.columns.write(record, to: raise)
            try raise.execute()
            // The update must find the row, because the row was read in this transaction and no other
            // connection writes.
            guard database.changesCount == 1 else {
                throw StorageError(
                    .corrupted,
                    detail: "expected a key with a lower counter, found none; restore a backup")
            }
        }
    }
}
