/// Stores one snapshot of the last good set, so that a restart during an outage of Apple works, and so that
/// processes with a common store share one fetch.
///
/// It is read at the start and before each fetch, never during a request whose key is cached. The wait for it
/// is limited, and a failure of either call only counts in `KeySetHealth`.
public protocol KeySetSnapshotStore: Sendable {
    /// Returns `nil` when no snapshot was saved.
    func load() async throws -> KeySetSnapshot?
    /// Replaces the saved snapshot.
    func save(_ snapshot: KeySetSnapshot) async throws
}

/// The last good set as received, to be stored. It is checked again when it is restored.
public struct KeySetSnapshot: Sendable, Equatable {
    /// The JSON Web Key Set, byte for byte.
    public let body: [UInt8]
    public let entityTag: String?
    /// Time at which Apple last sent or confirmed the set, in milliseconds since 1970.
    public let fetchedAt: Int64
    /// In milliseconds since 1970.
    public let freshUntil: Int64

    public init(body: [UInt8], entityTag: String?, fetchedAt: Int64, freshUntil: Int64) {
        self.body = body
        self.entityTag = entityTag
        self.fetchedAt = fetchedAt
        self.freshUntil = freshUntil
    }
}
