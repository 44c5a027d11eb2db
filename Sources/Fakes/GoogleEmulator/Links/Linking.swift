import Cryptography
import EmulatorServer
import Encodings
import StrictJSON

/// Values for a new link. Missing values have defaults from the configuration.
struct LinkRequest: Sendable {
    var mode = AccountLink.Mode.browser
    var scope: String?
    var userLocale: String?
    var loginHint: String?
    /// True if Google sends a PKCE challenge, which Google's newest documentation requires for agents.
    var usesPKCE = true
    /// Redirect URI to use instead of the emulator's, for tests.
    var redirectURI: String?
}

/// The start of a link: the URL to open in the browser, or as a universal link.
struct LinkStart: Sendable {
    let url: String
    let begun: BegunLink
}

/// Creates links and uses them.
struct Linking: Sendable {
    let state: GoogleState
    let client: ServerClient

    init(state: GoogleState) {
        self.state = state
        client = ServerClient(state: state)
    }

    /// Starts a link. Throws `.serverMissing` if no server is configured.
    func begin(_ request: LinkRequest) throws(EmulatorError) -> LinkStart {
        let server = try state.server()
        let uris = state.redirectURIs
        let begun = BegunLink(
            state: Base64URL.encode(SecureRandom.bytes(count: 24)), mode: request.mode,
            redirectURI: request.redirectURI ?? uris[request.mode == .appFlip ? 1 : 0],
            scope: request.scope ?? state.configuration.scopes.joined(separator: " "),
            userLocale: request.userLocale, loginHint: request.loginHint,
            verifier: request.usesPKCE ? Base64URL.encode(SecureRandom.bytes(count: 32)) : nil)
        let base = state.update { world in
            world.links.begin(begun)
            return world.baseURL
        }
        let fields = FormEncoding.encode(parameters(of: begun))
        let url: String
        switch request.mode {
        case .browser, .streamlined:
            url = server.authorizationURL + (server.authorizationURL.contains("?") ? "&" : "?") + fields
        case .appFlip: url = "\(base)/app/link?\(fields)"
        }
        state.record(
            .authorizationRequest,
            request.mode == .appFlip
                ? "Google opens the app's universal link" : "Google opens the authorization URL",
            request: "GET \(ShownText.url(url))", response: "in the browser, or in the app")
        return LinkStart(url: url, begun: begun)
    }

    private func parameters(of begun: BegunLink) -> [(name: String, value: String)] {
        var fields = [
            (name: "client_id", value: state.configuration.clientID), ("redirect_uri", begun.redirectURI),
            ("state", begun.state),
        ]
        if !begun.scope.isEmpty { fields.append(("scope", begun.scope)) }
        if begun.mode != .appFlip { fields.append(("response_type", "code")) }
        if let locale = begun.userLocale { fields.append(("user_locale", locale)) }
        if let hint = begun.loginHint { fields.append(("login_hint", hint)) }
        if let verifier = begun.verifier {
            fields.append(("code_challenge", Base64URL.encode(SHA256Digest.hash(verifier))))
            fields.append(("code_challenge_method", "S256"))
        }
        return fields
    }

    /// Receives the authorization response at a redirect URI, and exchanges the code in it.
    ///
    /// Throws `.stateUnknown` if no link was begun with this state, and `.serverMissing` if no server is
    /// configured. `fields` are the query's fields.
    func receiveResponse(_ fields: [(name: String, value: String)], at uri: String)
        async throws(EmulatorError)
        -> AccountLink
    {
        func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        guard let begun = state.update({ $0.links.takeBegun(value("state") ?? "") }) else {
            throw EmulatorError(
                .stateUnknown, detail: "the answer belongs to no link that was begun here; link again")
        }
        state.record(
            .authorizationResponse, "The answer at the redirect URI",
            request: "GET \(uri)\n\(ShownText.fields(fields))",
            response: value("code") == nil ? "an error" : "a code, which is exchanged next")
        guard uri.isByteEqual(to: begun.redirectURI), let code = value("code"), value("error") == nil else {
            return fail(begun.mode, value("error") ?? "wrong_redirect_uri")
        }
        return try await exchange(code, begun)
    }

    private func exchange(_ code: String, _ begun: BegunLink) async throws(EmulatorError) -> AccountLink {
        var fields = [
            (name: "grant_type", value: "authorization_code"), ("code", code),
            ("redirect_uri", begun.redirectURI),
        ]
        if let verifier = begun.verifier { fields.append(("code_verifier", verifier)) }
        let response = await client.post(
            .codeExchange, "Google exchanges the code", try state.server().tokenURL,
            .form(fields + clientFields), at: .token)
        guard response.status == 200, let tokens = response.json.flatMap({ LinkTokens($0) }) else {
            return fail(begun.mode, response.error)
        }
        return add(begun.mode, tokens)
    }

    /// Adds a link with the tokens from a response.
    func add(_ mode: AccountLink.Mode, _ tokens: LinkTokens, subject: String? = nil) -> AccountLink {
        let now = state.now
        return state.update { world in
            let id = world.links.add(mode, .linked).id
            world.links.change(id) { link in
                link.subject = subject
                link.update(with: tokens, at: now)
            }
            return world.links.links[world.links.links.count - 1]
        }
    }

    func fail(_ mode: AccountLink.Mode, _ error: String) -> AccountLink {
        state.update { $0.links.add(mode, .failed(error: String(error.prefix(Self.longestError)))) }
    }

    /// Maximum number of characters stored per error.
    private static let longestError = 200

    /// The client's credentials, which Google sends in the body (RFC 6749 §2.3.1).
    var clientFields: [(name: String, value: String)] {
        [
            ("client_id", state.configuration.clientID), ("client_secret", state.configuration.clientSecret),
        ]
    }
}

extension Linking {
    /// Gets a new access token. The error `invalid_grant` ends the link on Google's side.
    ///
    /// If `id` is `nil`, refreshes the newest link. Throws `.linkNotFound`, and `.tokenMissing` if the link
    /// has no refresh token.
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

    /// Unlinks in the Google app, which makes Google revoke the refresh token (RFC 7009).
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

/// One way in which Google uses a link, under the name that forms and the control API give it.
package struct LinkAction: Sendable {
    package let name: String
    let summary: String
    /// Title of a button.
    package let title: String
    /// The action as a verb in the past.
    package let past: String
    package let isPossible: @Sendable (AccountLink) -> Bool
    let carryOut: @Sendable (Linking, _ id: String?) async throws(EmulatorError) -> ServerClient.Response

    package static let all = [
        LinkAction(
            name: "refresh", summary: "Refreshes the access token of a link.", title: "Refresh",
            past: "refreshed", isPossible: { $0.refreshToken != nil },
            carryOut: { linking, id throws(EmulatorError) in try await linking.refresh(id) }),
        LinkAction(
            name: "call", summary: "Calls the app's API with the token of a link.",
            title: "Use the access token", past: "used", isPossible: { $0.expiresAt != nil },
            carryOut: { linking, id throws(EmulatorError) in try await linking.call(id) }),
        LinkAction(
            name: "unlink", summary: "Revokes the token of a link.", title: "Unlink at Google",
            past: "unlinked", isPossible: { $0.status == .linked },
            carryOut: { linking, id throws(EmulatorError) in try await linking.unlink(id) }),
    ]
}
