import StrictJSON

extension UserGrants {
    var json: JSONObject {
        JSONObject([
            ("client_id", .string(clientID)), ("codes", .integer(Int64(codes))),
            ("refresh_tokens", .integer(Int64(refreshTokens))), ("exchanges", .integer(Int64(exchanges))),
            ("refreshes", .integer(Int64(refreshes))), ("throttled", .integer(Int64(throttled))),
        ])
    }
}
