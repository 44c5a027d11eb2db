import AppleAccounts

/// A sentence that must be true of every store, with the code that checks it. Each check gets an empty store.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
    public let name: String
    public let run: @Sendable (any ConformingStore) async throws -> Void

    init(_ name: String, run: @escaping @Sendable (any ConformingStore) async throws -> Void) {
        (self.name, self.run) = (name, run)
    }

    public var description: String { name }

    public static let all: [ConformanceCheck] =
        accountChecks + appleGrants + oauth + appCheckHours + appReceipts + receivers + streams + audit
        + inspection + serviceHours

    /// Checks for a store that was opened without sealing.
    public static let withoutSealing = unsealed

    private static let accountChecks: [ConformanceCheck] =
        accounts + profiles + credentials + deletions + notifications + nonces + appAttest + events
        + eventScope
        + batches + disabling + searches + histories

    /// Checks of Apple codes and Apple tokens.
    private static let appleGrants: [ConformanceCheck] =
        codes + exchanges + dailyChecks + backlog + erasures + erasureScope + erasureTokens + sealing
        + tickets
        + transfers + lengths + random

    /// Checks of the service's own codes and tokens as an authorization server.
    private static let oauth: [ConformanceCheck] =
        authorizing + redeeming + devices + deviceTable + exchanging + refreshing + revoking + credentialEnds
        + googleReports
        + suspending + google
        + keeping
        + oauthAtRandom
}
