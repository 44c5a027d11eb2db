import StrictJSON

extension AccountLink {
    /// The link with its tokens, which the control API may show because it is for tests.
    var json: JSONObject {
        var json = JSONObject([
            ("id", .string(id)), ("mode", .string(mode.rawValue)), ("status", .string(status.word)),
        ])
        if case .failed(let error) = status {
            json["error"] = .string(error)
            json["goes_on_in_browser"] = .bool(goesOnInBrowser)
        }
        json["sub"] = subject.map { .string($0) }
        json["account"] = account.map { .string($0) }
        json["scope"] = scope.map { .string($0) }
        json["access_token"] = accessToken.map { .string($0) }
        json["expires_at"] = expiresAt.map { .integer($0) }
        json["refresh_token"] = refreshToken.map { .string($0) }
        json["active"] = isActive.map { .bool($0) }
        return json
    }
}

extension ServerClient.Response {
    /// The authorization server's response, unchanged.
    var asJSON: JSONObject {
        var object = JSONObject()
        object["status"] = status.map { .integer(Int64($0)) }
        if let json {
            object["body"] = json
        } else if !body.isEmpty {
            object["text"] = .string(String(decoding: body.prefix(4096), as: UTF8.self))
        }
        return object
    }
}
