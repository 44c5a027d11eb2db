public import AppleAccounts

/// One sentence that must be true of every `AccountStore`, with the code that finds out. Each gets an empty
/// store.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
    public let name: String
    public let run: @Sendable (any AccountStore) async throws -> Void

    init(_ name: String, run: @escaping @Sendable (any AccountStore) async throws -> Void) {
        (self.name, self.run) = (name, run)
    }

    public var description: String { name }

    public static let all =
        accounts + profiles + credentials + deletions + notifications + nonces + events + batches
}
