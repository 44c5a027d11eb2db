/// What the emulator did since it was started or reset, for tests that count.
public struct EmulatorCounters: Sendable, Equatable {
    /// Requests, however they were answered.
    public internal(set) var requests: [EmulatedEndpoint: Int] = [:]
    /// Those of them that met a fault.
    public internal(set) var faults: [EmulatedEndpoint: Int] = [:]
    /// Those of them that got an OAuth error.
    public internal(set) var refusals: [EmulatedEndpoint: Int] = [:]
    /// Requests for `/auth/keys` that got 304.
    public internal(set) var keySetNotModified = 0
    /// Requests of any endpoint that got `invalid_client`.
    public internal(set) var clientSecretsRefused = 0
    /// Sign-ins that were allowed on the page of `/auth/authorize`.
    public internal(set) var authorizations = 0
    /// Those that were cancelled there.
    public internal(set) var cancellations = 0
    /// Codes exchanged.
    public internal(set) var exchanges = 0
    /// Refresh grants answered.
    public internal(set) var refreshes = 0
    /// Refresh grants that came too soon.
    public internal(set) var refreshesThrottled = 0
    /// `client_credentials` grants answered.
    public internal(set) var migrationGrants = 0
    /// Calls of `/auth/revoke` that ended a consent.
    public internal(set) var revocations = 0
    public internal(set) var identityTokens = 0
    /// Notifications built, delivered or not.
    public internal(set) var notifications = 0
    /// Notifications posted, however they were answered.
    public internal(set) var deliveries = 0
    /// Those of them that got no 200.
    public internal(set) var deliveriesRefused = 0

    public init() {}

    /// Requests for `/auth/keys`, however they were answered.
    public var keySetRequests: Int { requests[.keys, default: 0] }
    /// Those of them that met a fault.
    public var keySetFaults: Int { faults[.keys, default: 0] }
}
