public import StrictJSON

extension MintedIdentityToken {
    var json: JSONObject {
        var json = JSONObject([
            ("identity_token", .string(identityToken)), ("sub", .string(subject)),
            ("client_id", .string(clientID)),
        ])
        json["nonce"] = nonce.map { .string($0) }
        json["authorization_code"] = authorizationCode.map { .string($0) }
        json["access_token"] = accessToken.map { .string($0) }
        json["user"] = user.map { .object($0.json) }
        return json
    }

    /// The body of a sign-in request to this project's service.
    public var signIn: JSONObject {
        var json = JSONObject([("identity_token", .string(identityToken))])
        json["authorization_code"] = authorizationCode.map { .string($0) }
        json["user"] = user.map { .object($0.json) }
        return json
    }
}

extension FirstTimeUser {
    /// Uses Apple's member names, because clients forward the object unchanged.
    var json: JSONObject {
        var name = JSONObject()
        name["firstName"] = firstName.map { .string($0) }
        name["lastName"] = lastName.map { .string($0) }
        var json = JSONObject()
        if !name.members.isEmpty { json["name"] = .object(name) }
        json["email"] = email.map { .string($0) }
        return json
    }
}
