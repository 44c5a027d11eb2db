import AppleAccounts
public import KeySets

/// Stores the last valid key set in the database, so that the service can restart while Apple is unreachable.
/// All replicas share it.
public struct SQLKeySetSnapshotStore: KeySetSnapshotStore {
    private static let find = SQLStatement<KeySetSnapshotTable>(rows: "load_key_set") { _ in
        "WHERE id = 1"
    }
    /// Keeps a newer set of another replica, so that a slow replica does not overwrite it. A stored time in
    /// the future is ignored, so that a replica whose clock ran ahead does not block all others.
    private static let save = SQLInsertion<KeySetSnapshotTable>("save_key_set") { dialect in
        let replace = """
            ON CONFLICT (id)
            DO UPDATE SET \(KeySetSnapshotTable.names(.values).assigned(from: "excluded"))
            """
        return switch dialect {
        case .sqlite: replace
        case .postgres:
            """
            \(replace) WHERE key_set_snapshot.fetched_at <= excluded.fetched_at
                OR key_set_snapshot.fetched_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
            """
        }
    }

    private let store: any SQLStore

    public init(_ store: any SQLStore) {
        self.store = store
    }

    public func load() async throws -> KeySetSnapshot? { try await store.snapshot { try Self.load(in: $0) } }

    public func save(_ snapshot: KeySetSnapshot) async throws {
        try await store.run(Self.save { $0.write(snapshot, to: $1) })
    }

    public static func load(in session: any SQLSession) throws -> KeySetSnapshot? {
        try session.records(find).first
    }
}
