import JOSE

extension EmulatorCounters {
    var json: JSONObject {
        JSONObject([
            ("key_set_requests", .integer(Int64(keySetRequests))),
            ("key_set_not_modified", .integer(Int64(keySetNotModified))),
            ("key_set_faults", .integer(Int64(keySetFaults))),
            ("identity_tokens", .integer(Int64(identityTokens))),
            ("notifications", .integer(Int64(notifications))), ("deliveries", .integer(Int64(deliveries))),
            ("deliveries_refused", .integer(Int64(deliveriesRefused))),
        ])
    }
}
