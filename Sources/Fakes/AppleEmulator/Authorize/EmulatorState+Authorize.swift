public import EmulatorServer
import StrictJSON
import Synchronization

extension EmulatorState {
    /// Replaces the redirect URIs of the app that a client ID belongs to. Throws `.clientIDUnknown`,
    /// `.redirectURIRefused` and `.tooManyRedirectURIs`.
    public func setRedirectURIs(_ uris: [String], of clientID: String) throws(EmulatorError) {
        for uri in uris { try RedirectURI.check(uri) }
        guard uris.count <= 100 else { throw EmulatorError(.tooManyRedirectURIs, detail: "at most 100") }
        try world.withLock { world throws(EmulatorError) in
            guard let index = world.apps.firstIndex(where: { $0.clientIDs.contains(clientID) }) else {
                throw EmulatorError(.clientIDUnknown)
            }
            world.apps[index].redirectURIs = uris
        }
    }

    func open(_ query: FormFields) throws(OAuthError) -> (page: String, request: AuthorizationRequest) {
        try world.withLock { world throws(OAuthError) in
            let request = try AuthorizationRequest(
                query, apps: world.apps, now: clock.now() + world.clockOffset)
            return (world.open(request), request)
        }
    }

    func openPage(_ page: String) throws(OAuthError) -> AuthorizationRequest {
        try world.withLock { world throws(OAuthError) in
            try world.openPage(page, at: clock.now() + world.clockOffset)
        }
    }

    func isFirstAuthorization(of user: EmulatedUser, clientID: String) -> Bool {
        world.withLock { world in
            guard let position = try? world.users.find(user.subject).position else { return true }
            return world.isFirstAuthorization(of: position, clientID: clientID)
        }
    }

    func authorize(
        _ page: String, by subject: String, sharing: Sharing
    ) throws(OAuthError) -> AuthorizationResponse {
        let code = BoundSecret.made.value(prefix: "c") ?? ""
        let now = now
        let (request, basis) = try world.withLock { world throws(OAuthError) in
            try world.authorize(page, by: subject, code: code, sharing: sharing, now: now)
        }
        var token: String?
        if request.wantsIdentityToken {
            let claims = IdentityTokenClaims(
                basis: basis, nonce: request.nonce, authorizationCode: code, accessToken: nil,
                issuedAt: now / 1000, expiresAt: now / 1000 + TokenTimes().lifetime,
                authenticatedAt: now / 1000)
            token = try? sign(claims.object, with: basis.keys, forgery: Forgery())
        }
        return AuthorizationResponse(
            to: request, [("code", code), ("id_token", token), ("user", user(for: request, basis))])
    }

    func cancel(_ page: String) throws(OAuthError) -> AuthorizationResponse {
        let request = try world.withLock { world throws(OAuthError) in
            try world.cancel(page, at: clock.now() + world.clockOffset)
        }
        return AuthorizationResponse(to: request, [("error", "user_cancelled_authorize")])
    }

    /// Apple's unsigned `user` object with the members that `scope` requests. Only for the first
    /// authorization.
    private func user(for request: AuthorizationRequest, _ basis: IdentityTokenBasis) -> String? {
        guard basis.isFirstAuthorization, request.wantsName || request.wantsEmail else { return nil }
        var json = FirstTimeUser(basis.user, shownTo: basis.identity).json
        if !request.wantsName { json["name"] = nil }
        if !request.wantsEmail { json["email"] = nil }
        return String(decoding: JSONValue.object(json).serialized(), as: UTF8.self)
    }
}
