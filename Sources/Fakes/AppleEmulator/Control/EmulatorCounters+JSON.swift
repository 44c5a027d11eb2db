import StrictJSON

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
