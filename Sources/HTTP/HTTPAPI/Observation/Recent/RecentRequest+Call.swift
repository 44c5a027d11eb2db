import NIOHTTP1

/// Facts of the declared call of a request, for a command that sends it again.
extension RecentRequest {
    /// The proof of who asks, as the request needs it.
    package enum Credential: Sendable, Equatable {
        case none
        case apiKey
        /// ID and secret of an OAuth client, by HTTP Basic.
        case clientSecret
        case accessToken
    }

    /// The call that the request has reached; `nil` where no call matches.
    private var endpoint: Endpoint? {
        let method = HTTPMethod(rawValue: method)
        return Endpoint.all.first { $0.path.description == route && $0.method.isMeant(by: method) }
    }

    package var credential: Credential {
        guard let endpoint else { return .none }
        return switch endpoint.caller {
        case .apiKey, .metricsReader: .apiKey
        case .anyone: .none
        case .oauthClient: clientCredential(at: endpoint)
        }
    }

    private func clientCredential(at endpoint: Endpoint) -> Credential {
        // Introspection accepts an API key too.
        if caller != nil { return .apiKey }
        if endpoint === Endpoint.getUserInfo || endpoint === Endpoint.postUserInfo { return .accessToken }
        // The signature in the body proves who sends an event.
        if endpoint.body == .securityEventToken { return .none }
        if let exchange {
            guard let authorization = exchange.authorization else { return .none }
            return authorization.lowercased().hasPrefix("bearer ") ? .accessToken : .clientSecret
        }
        // Only a secret proves a client. A public client has none, and one that is sent for it is refused.
        let isRefusedAsUnknown = ["client_not_authenticated", "invalid_client"].contains(reason ?? code ?? "")
        return isProven || isRefusedAsUnknown ? .clientSecret : .none
    }

    /// The media type of the body that the call reads; `nil` for a call without a body.
    package var bodyType: String? {
        switch endpoint?.body {
        case BodyFormat.none?, nil: nil
        case .json?: "application/json"
        case .form?, .pageForm?, .oauthForm?: "application/x-www-form-urlencoded"
        case .securityEventToken?: "application/secevent+jwt"
        }
    }
}
