import HTTPEngine

/// The calls of OAuth 2.0 for backends and Google.
extension Endpoint {
    static let answerAppFlip = Endpoint(
        "answerAppFlip", .post, "/v1/oauth/app-flip", of: \.oauth?.grants, caller: .apiKey, body: .json,
        errors: .problem, priority: .ordinary, wait: .keys, fields: .oauth
    ) { try $0.appFlip($1) }

    static let promptAppFlip = Endpoint(
        "promptAppFlip", .post, "/v1/oauth/app-flip/prompt", of: \.oauth?.grants, caller: .apiKey,
        body: .json, errors: .problem, priority: .ordinary, fields: .oauth
    ) { try $0.appFlipPrompt($1) }

    static let listGrants = Endpoint(
        "listGrants", .get, "/v1/accounts/{id}/grants", of: \.oauth?.grants, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary, fields: .oauth
    ) { try $0.list($1) }

    static let endGrant = Endpoint(
        "endGrant", .delete, "/v1/accounts/{id}/grants/{grant_id}", of: \.oauth?.grants, caller: .apiKey,
        body: .none, errors: .problem, priority: .ordinary, fields: .oauth
    ) { try $0.end($1) }

    static let endGrants = Endpoint(
        "endGrants", .delete, "/v1/accounts/{id}/grants", of: \.oauth?.grants, caller: .apiKey,
        body: .none, errors: .problem, priority: .ordinary, fields: .oauth
    ) { try $0.endAll($1) }

    static let receiveGoogleEvent = Endpoint(
        "receiveGoogleEvent", .post, "/v1/google/security-events", of: \.oauth?.grants, caller: .oauthClient,
        body: .securityEventToken, errors: .problem, priority: .notification, wait: .keys, fields: .oauth
    ) { try $0.receiveEvent($1) }
}
