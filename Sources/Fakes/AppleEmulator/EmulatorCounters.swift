import StrictJSON

/// Counters since the start or the last reset, for tests.
public struct EmulatorCounters: Sendable, Equatable {
    /// All requests, with any response.
    public internal(set) var requests: [EmulatedEndpoint: Int] = [:]
    /// Requests to which a fault applied.
    public internal(set) var faults: [EmulatedEndpoint: Int] = [:]
    /// Requests that got an OAuth error.
    public internal(set) var refusals: [EmulatedEndpoint: Int] = [:]
    /// Requests for `/auth/keys` that got 304.
    public internal(set) var keySetNotModified = 0
    /// Requests to any endpoint that got `invalid_client`.
    public internal(set) var clientSecretsRefused = 0
    /// Sign-ins that users allowed on the page of `/auth/authorize`.
    public internal(set) var authorizations = 0
    /// Sign-ins that users cancelled on the page of `/auth/authorize`.
    public internal(set) var cancellations = 0
    /// Codes exchanged.
    public internal(set) var exchanges = 0
    /// Successful validations of refresh tokens.
    public internal(set) var refreshes = 0
    /// Throttled validations of refresh tokens.
    public internal(set) var refreshesThrottled = 0
    /// Successful `client_credentials` requests.
    public internal(set) var migrationGrants = 0
    /// Calls of `/auth/revoke` that ended a consent.
    public internal(set) var revocations = 0
    /// Attestations of App Attest.
    public internal(set) var attestations = 0
    /// Assertions of App Attest.
    public internal(set) var assertions = 0
    /// Receipts that were exchanged for a newer receipt.
    public internal(set) var receipts = 0
    /// Exchanges of receipts that got 304.
    public internal(set) var receiptsTooEarly = 0
    public internal(set) var identityTokens = 0
    /// Notifications that were created, delivered or not.
    public internal(set) var notifications = 0
    /// Notifications that were posted, with any response.
    public internal(set) var deliveries = 0
    /// Posted notifications that did not get a 200.
    public internal(set) var deliveriesRefused = 0

    public init() {}

    /// All requests for `/auth/keys`.
    public var keySetRequests: Int { requests[.keys, default: 0] }
    /// Requests for `/auth/keys` to which a fault applied.
    public var keySetFaults: Int { faults[.keys, default: 0] }
}

extension EmulatorCounters {
    var json: JSONObject {
        var json = JSONObject()
        func put(_ name: String, _ value: Int?) { json[name] = .integer(Int64(value ?? 0)) }
        for endpoint in EmulatedEndpoint.allCases {
            let name = endpoint == .keys ? "key_set" : endpoint.rawValue
            put("\(name)_faults", faults[endpoint])
            // Requests to the receiver are counted in `deliveries`.
            guard endpoint != .notifications else { continue }
            put("\(name)_requests", requests[endpoint])
            if endpoint != .keys, endpoint != .discovery { put("\(name)_refusals", refusals[endpoint]) }
        }
        put("key_set_not_modified", keySetNotModified)
        put("client_secrets_refused", clientSecretsRefused)
        put("authorizations", authorizations)
        put("cancellations", cancellations)
        put("exchanges", exchanges)
        put("refreshes", refreshes)
        put("refreshes_throttled", refreshesThrottled)
        put("migration_grants", migrationGrants)
        put("revocations", revocations)
        put("attestations", attestations)
        put("assertions", assertions)
        put("receipts", receipts)
        put("receipts_too_early", receiptsTooEarly)
        put("identity_tokens", identityTokens)
        put("notifications", notifications)
        put("deliveries", deliveries)
        put("deliveries_refused", deliveriesRefused)
        return json
    }
}
