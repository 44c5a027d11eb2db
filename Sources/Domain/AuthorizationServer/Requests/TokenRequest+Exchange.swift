import Encodings

extension TokenRequest.ExchangeGrant {
    /// Reads the parameters of RFC 8693 §2.1, and the parameters of a sign-in with Apple.
    init(_ parameters: TokenParameters) throws(OAuthError) {
        let reader = parameters.reader
        subjectToken = try reader.required(.subjectToken)
        guard try reader.required(.subjectTokenType) == TokenTypeIdentifier.idToken.rawValue else {
            throw reader.refusal(.subjectTokenType, "must be \(TokenTypeIdentifier.idToken.rawValue)")
        }
        if let requested = try reader.text(.requestedTokenType),
            requested != TokenTypeIdentifier.accessToken.rawValue
        {
            throw reader.refusal(
                .requestedTokenType,
                "must be \(TokenTypeIdentifier.accessToken.rawValue) or absent")
        }
        // No client acts for another party. A client that sends an actor expects a claim `act` in its token.
        for parameter in [RequestParameter.actorToken, .actorTokenType]
        where reader.parameters[parameter.rawValue] != .absent {
            throw reader.refusal(parameter, "is not supported; leave it out")
        }
        let audiences = reader.parameters.all(RequestParameter.audience.rawValue)
        guard audiences.allSatisfy({ $0?.isByteEqual(to: parameters.client.audience) ?? false }) else {
            throw OAuthError(
                .invalidTarget, "The audience must be the audience of this client; leave audience out.")
        }
        nonce = try reader.required(.nonce)
        authorizationCode = try reader.text(.authorizationCode)
        user = try reader.text(.user)
        scope = try parameters.scope()
    }
}
