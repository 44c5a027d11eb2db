public import StrictJSON

/// Counters since startup or the last reset, for tests.
public struct EmulatorCounters: Sendable, Equatable {
    /// Number of all requests, with any response.
    public internal(set) var requests: [EmulatedEndpoint: Int] = [:]
    /// Number of requests that a fault applied to.
    public internal(set) var faults: [EmulatedEndpoint: Int] = [:]
    /// Number of requests that got an OAuth error.
    public internal(set) var refusals: [EmulatedEndpoint: Int] = [:]
    /// Number of requests for `/auth/keys` that got 304.
    public internal(set) var keySetNotModified = 0
    /// Number of requests to any endpoint that got `invalid_client`.
    public internal(set) var clientSecretsRefused = 0
    /// Number of sign-ins that users allowed on the `/auth/authorize` page.
    public internal(set) var authorizations = 0
    /// Number of sign-ins that users cancelled on the `/auth/authorize` page.
    public internal(set) var cancellations = 0
    /// Number of exchanged codes.
    public internal(set) var exchanges = 0
    /// Number of successful refresh token validations.
    public internal(set) var refreshes = 0
    /// Number of throttled refresh token validations.
    public internal(set) var refreshesThrottled = 0
    /// Number of successful `client_credentials` requests.
    public internal(set) var migrationGrants = 0
    /// Number of `/auth/revoke` calls that ended a consent.
    public internal(set) var revocations = 0
    /// Number of App Attest attestations.
    public internal(set) var attestations = 0
    /// Number of App Attest assertions.
    public internal(set) var assertions = 0
    /// Number of receipts that were exchanged for a newer receipt.
    public internal(set) var receipts = 0
    /// Number of receipt exchanges that got 304.
    public internal(set) var receiptsTooEarly = 0
    public internal(set) var identityTokens = 0
    /// Number of created notifications, delivered or not.
    public internal(set) var notifications = 0
    /// Number of posted notifications, with any response.
    public internal(set) var deliveries = 0
    /// Number of posted notifications that did not get a 200.
    public internal(set) var deliveriesRefused = 0

    public init() {}

    /// Number of all requests for `/auth/keys`.
    public var keySetRequests: Int { requests[.keys, default: 0] }
    /// Number of requests for `/auth/keys` that a fault applied to.
    public var keySetFaults: Int { faults[.keys, default: 0] }
}

extension EmulatorCounters: JSONMember {
    public static var schema: JSONSchema {
        .component("EmulatorCounters") {
            let named = EmulatorCounters().named
            return .object(
                required: named.map { .string($0.name) },
                properties: named.map { ($0.name, .object(Int.schema.keywords)) }, components: [])
        }
    }

    public func write(into json: inout JSONWriter) {
        json.beginObject()
        for (name, value) in named {
            json.name(name)
            json.value(value)
        }
        json.endObject()
    }

    /// All counters by their names in the control API.
    var named: [(name: String, value: Int)] {
        var named: [(name: String, value: Int)] = []
        func put(_ name: String, _ value: Int?) { named.append((name, value ?? 0)) }
        for endpoint in EmulatedEndpoint.allCases {
            let name = endpoint == .keys ? "key_set" : endpoint.rawValue
            put("\(name)_faults", faults[endpoint])
            // Notifications are skipped, because `deliveries` already counts the requests to the receiver.
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
        return named
    }
}
