import EmulatorServer
import StrictJSON

extension Linking {
    /// Gets a new access token. `invalid_grant` ends the link at Google.
    ///
    /// - Parameter id: `nil` for the newest link. Throws `.linkNotFound` and `.tokenMissing`.
    func refresh(_ id: String?) async throws(EmulatorError) -> ServerClient.Response {
        let link = try link(id)
        guard let token = link.refreshToken else { throw EmulatorError(.tokenMissing) }
        let response = await client.post(
            .refresh, "Google refreshes the access token", try state.server().tokenURL,
            .form([("grant_type", "refresh_token"), ("refresh_token", token)] + clientFields), at: .token)
        let now = state.now
        if response.status == 200, let tokens = response.json.flatMap({ LinkTokens($0) }) {
            change(link) { $0.update(with: tokens, at: now) }
        } else if response.error == "invalid_grant", link.status == .linked {
            change(link) { $0.status = .refused }
        }
        return response
    }

    /// Calls the app's API with the access token. The API asks the authorization server for the token's state
    /// (RFC 7662).
    func call(_ id: String?) async throws(EmulatorError) -> ServerClient.Response {
        let link = try link(id)
        guard let token = link.accessToken else { throw EmulatorError(.tokenMissing) }
        let key = state.configuration.apiKey
        let response = await client.post(
            .introspection, "The app's API asks whether the access token is good",
            try state.server().introspectionURL,
            .form([("token", token)] + (key == nil ? clientFields : [])), bearer: key)
        let json = response.json
        change(link) { link in
            link.isActive = json?["active"]?.bool
            if let account = json?["sub"]?.string, account.utf8.count <= 255 { link.account = account }
        }
        return response
    }

    /// Unlinks in the Google app: Google revokes the refresh token (RFC 7009).
    func unlink(_ id: String?) async throws(EmulatorError) -> ServerClient.Response {
        let link = try link(id)
        guard let token = link.refreshToken ?? link.accessToken else {
            throw EmulatorError(.tokenMissing)
        }
        let hint = link.refreshToken == nil ? "access_token" : "refresh_token"
        let response = await client.post(
            .revocation, "Google revokes the token, because the user unlinks",
            try state.server().revocationURL,
            .form([("token", token), ("token_type_hint", hint)] + clientFields))
        if response.status == 200 { change(link) { $0.status = .unlinkedByGoogle } }
        return response
    }

    func link(_ id: String?) throws(EmulatorError) -> AccountLink {
        let found: Result<AccountLink, EmulatorError> = state.update { world in
            Result { () throws(EmulatorError) in try world.links.link(id) }
        }
        return try found.get()
    }

    private func change(_ link: AccountLink, _ body: (inout AccountLink) -> Void) {
        state.update { $0.links.change(link.id, body) }
    }
}
