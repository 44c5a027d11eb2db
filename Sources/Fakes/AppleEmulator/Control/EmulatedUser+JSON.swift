import StrictJSON

extension EmulatedUser {
    var json: JSONObject {
        var json = JSONObject([
            ("sub", .string(subject)),
            ("identities", .array(identities.map { .object($0.json) })),
            ("email_verified", .bool(isEmailVerified)), ("hide_email", .bool(hidesEmail)),
            ("email_forwarding", .string(forwardsEmail ? "enabled" : "disabled")),
            ("is_deleted", .bool(isDeleted)), ("apps", .array(apps.sorted().map { .string($0) })),
        ])
        json["email"] = email.map { .string($0) }
        json["first_name"] = firstName.map { .string($0) }
        json["last_name"] = lastName.map { .string($0) }
        json["real_user_status"] = realUserStatus.map { .integer($0) }
        return json
    }
}

extension TeamIdentity {
    fileprivate var json: JSONObject {
        JSONObject([
            ("team_id", .string(teamID)), ("sub", .string(subject)), ("relay_email", .string(relayAddress)),
        ])
    }
}

extension UserGrants {
    var json: JSONObject {
        JSONObject([
            ("client_id", .string(clientID)), ("codes", .integer(Int64(codes))),
            ("refresh_tokens", .integer(Int64(refreshTokens))), ("exchanges", .integer(Int64(exchanges))),
            ("refreshes", .integer(Int64(refreshes))), ("throttled", .integer(Int64(throttled))),
        ])
    }
}
