import AppleAccounts

/// One sentence that must be true of every store, with the code that finds out. Each gets an empty
/// store.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
    public let name: String
    public let run: @Sendable (any ConformingStore) async throws -> Void

    init(_ name: String, run: @escaping @Sendable (any ConformingStore) async throws -> Void) {
        (self.name, self.run) = (name, run)
    }

    public var description: String { name }

    public static let all =
        accounts + profiles + credentials + deletions + notifications + nonces + events + eventScope + batches
        + grants

    /// For a store that was opened without sealing.
    public static let withoutSealing = unsealed

    private static let grants =
        codes + exchanges + dailyChecks + erasures + erasureScope + erasureGrants + sealing + tickets
        + transfers + lengths + random
}
