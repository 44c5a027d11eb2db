// OAuthLogin owns the native app of `siwa login` (RFC 8252): metadata, PKCE, the loopback address, the code
// exchange, the ID token checks, and the token file. It works with every server. It imports no module of
// siwa's server, so that the two do not share a bug. It does not own the command line.

import Encodings
import StrictJSON

/// Signs a user in at an authorization server as a native app (RFC 8252), and describes each step to the
/// user. Never prints a token, a code or a secret.
package struct LoginFlow: Sendable {
    let issuer: IssuerURL
    let client: ClientCredentials
    let scope: RequestedScope
    let redirectPath: String
    let file: TokenFile
    let transport: LoginTransport
    let now: @Sendable () -> Int64
    let openBrowser: (@Sendable (String) -> Bool)?
    let say: @Sendable (String) -> Void
    let responseLimit: Duration
    let usesDevice: Bool
    let clock: any Clock<Duration>

    /// - Parameters:
    ///   - redirectPath: The redirect URI's path: empty, or beginning with a slash.
    ///   - now: Returns the current time in seconds since 1970.
    ///   - openBrowser: Returns true if a browser was started; `nil` for a terminal without a browser.
    ///   - say: Writes a line for the user. The text contains no token, code or secret.
    ///   - responseLimit: Maximum time to wait for the browser.
    ///   - usesDevice: True to sign in with a code that the user enters in any browser (RFC 8628).
    ///   - clock: Clock for the pauses between polls.
    package init(
        issuer: IssuerURL, client: ClientCredentials, scope: RequestedScope, redirectPath: String,
        file: TokenFile, transport: LoginTransport, now: @escaping @Sendable () -> Int64,
        openBrowser: (@Sendable (String) -> Bool)?, say: @escaping @Sendable (String) -> Void,
        responseLimit: Duration = .seconds(600), usesDevice: Bool = false,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.usesDevice, self.clock) = (usesDevice, clock)
        (self.issuer, self.client, self.scope) = (issuer, client, scope)
        (self.redirectPath, self.file, self.transport) = (redirectPath, file, transport)
        (self.now, self.openBrowser, self.say) = (now, openBrowser, say)
        self.responseLimit = responseLimit
    }

    /// Refreshes stored tokens, or signs in.
    package func signIn() async throws(LoginError) {
        try await file.locked { () async throws(LoginError) in
            let old = try file.read()
            let server = try await metadata()
            if let old, old.requestedScope == scope.text {
                if try await refresh(old, at: server) { return }
            } else if old != nil {
                say("The kept tokens are for another --scope, so a new sign-in begins.")
            }
            if usesDevice {
                try await signInByDevice(at: server)
            } else {
                try await signInByBrowser(at: server)
            }
        }
    }

    /// Revokes the stored tokens at the server (RFC 7009), then removes the token file. If the server
    /// refuses, keeps the file, so that the user can repeat the command.
    package func signOut() async throws(LoginError) {
        try await file.locked { () async throws(LoginError) in
            guard let old = try file.read() else {
                say("There are no tokens of \(client.id) at \(issuer.text).")
                return try file.remove()
            }
            let server = try await metadata()
            if let endpoint = server.revocationEndpoint {
                try await revoke(old.refreshToken, or: old.accessToken, at: endpoint, of: server)
                say("The tokens are revoked at \(endpoint).")
            } else {
                say("The server has no revocation endpoint: the tokens are good until they expire.")
            }
            try file.remove()
            say("Removed \(file.path).")
        }
    }

    private func metadata() async throws(LoginError) -> ServerMetadata {
        for url in issuer.metadataURLs {
            let response = try await transport.get(url)
            guard response.status == 200 else {
                // A 4xx status, or a redirect to a page, makes the client try the next URL. A 5xx status
                // means that the server has failed.
                guard (300..<500).contains(response.status) else {
                    throw LoginError(
                        .serverUnreachable, "\(url) answered with status \(response.status); try again later")
                }
                continue
            }
            let metadata = try ServerMetadata(parsing: response.body, of: issuer)
            say("Metadata from \(url): the issuer is the same.")
            return metadata
        }
        throw LoginError(
            .metadataMissing,
            "\(issuer.text) has no metadata: \(issuer.metadataURLs.joined(separator: " and ")) do not exist; check --issuer"
        )
    }

    /// Refreshes the tokens. Returns false if the user must sign in again.
    private func refresh(_ old: KeptTokens, at server: ServerMetadata) async throws(LoginError) -> Bool {
        guard let token = old.refreshToken else {
            guard let end = old.expiresAt, end > now() + 60 else { return false }
            say("The kept access token is still good, and there is no refresh token.")
            report(old)
            return true
        }
        let form = client.authenticate(
            [("grant_type", "refresh_token"), ("refresh_token", token)], at: server.tokenEndpoint, of: server)
        do throws(LoginError) {
            let received = try await transport.post(form)
            let response = try TokenResponse(status: received.status, body: received.body)
            // Does not verify the signature, because the rotated refresh token would be lost if fetching the
            // key set failed. The ID token comes directly from the server (OpenID Connect Core §12.2,
            // §3.1.3.7, rule 6).
            if let idToken = response.idToken {
                try check(IDToken(parsing: idToken), nonce: nil, response, subject: old.subject)
            }
            let kept = KeptTokens(
                response, issuer: issuer.text, clientID: client.id, requestedScope: scope.text,
                subject: old.subject, replacing: old, at: now())
            try file.write(kept)
            say("Refreshed the kept tokens at \(server.tokenEndpoint).")
            report(kept)
            return true
        } catch  where error.code == .grantInvalid {
            say("The kept refresh token is not accepted any more, so a new sign-in begins.")
            return false
        }
    }

    private func signInByBrowser(at server: ServerMetadata) async throws(LoginError) {
        let secrets = LoginSecrets()
        let listener = try await CallbackListener.open(
            path: redirectPath,
            expecting: AuthorizationResponse.Expectation(
                state: secrets.state, issuer: issuer.text, promisesIssuer: server.promisesIssuer))
        do throws(LoginError) {
            say("Listening on \(listener.redirectURI) for the answer.")
            let url = AuthorizationURL(
                endpoint: server.authorizationEndpoint, clientID: client.id,
                redirectURI: listener.redirectURI, scope: scope, secrets: secrets
            ).text
            invite(to: url)
            let code = try await listener.code(within: responseLimit)
            if listener.otherStates > 0 {
                say("Refused \(listener.otherStates) requests with another state.")
            }
            let issuerWords = server.promisesIssuer ? " and the right issuer" : ""
            say("The answer has the right state\(issuerWords), and a code.")
            let response = try await redeem(code, secrets, redirectURI: listener.redirectURI, at: server)
            try await keep(response, nonce: secrets.nonce, at: server)
            await listener.show(.signedIn)
            await listener.close()
        } catch {
            await listener.show(.failed(error.message))
            await listener.close()
            throw error
        }
    }

    /// Verifies and stores the tokens.
    ///
    /// - Parameter nonce: The request's nonce; `nil` for a sign-in without an authorization request.
    func keep(
        _ response: TokenResponse, nonce: String?, at server: ServerMetadata
    ) async throws(LoginError) {
        do throws(LoginError) {
            let subject = try await subject(of: response, nonce: nonce, at: server)
            let kept = KeptTokens(
                response, issuer: issuer.text, clientID: client.id, requestedScope: scope.text,
                subject: subject, at: now())
            try file.write(kept)
            report(kept)
        } catch {
            // Revokes tokens that could not be stored, because they must not remain valid.
            if let endpoint = server.revocationEndpoint {
                try? await revoke(
                    response.refreshToken, or: response.accessToken, at: endpoint, of: server)
            }
            throw error
        }
    }

    private func invite(to url: String) {
        if let openBrowser, openBrowser(url) {
            say("Opened the browser. If no window appears, open this address:\n\n  \(url)\n")
        } else {
            say("Open this address in a browser on this machine:\n\n  \(url)\n")
        }
    }

    private func redeem(
        _ code: String, _ secrets: LoginSecrets, redirectURI: String, at server: ServerMetadata
    ) async throws(LoginError) -> TokenResponse {
        let form = client.authenticate(
            [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI),
                ("code_verifier", secrets.verifier),
            ], at: server.tokenEndpoint, of: server)
        let received = try await transport.post(form)
        let response = try TokenResponse(status: received.status, body: received.body)
        say("Exchanged the code and the PKCE verifier for tokens at \(server.tokenEndpoint).")
        return response
    }

    /// Returns the ID token's `sub`; `nil` if there is no ID token.
    private func subject(
        of response: TokenResponse, nonce: String?, at server: ServerMetadata
    ) async throws(LoginError) -> String? {
        guard let text = response.idToken else {
            guard !scope.hasOpenID else {
                throw LoginError(
                    .idTokenRefused,
                    "the scope has openid, but the server sent no ID token; check the client's scopes there")
            }
            return nil
        }
        let token = try IDToken(parsing: text)
        try check(token, nonce: nonce, response)
        let algorithm = token.algorithm.forTerminal(limit: 16)
        let words = nonce == nil ? "" : ", nonce"
        switch try await verdict(on: token, at: server) {
        case .verified:
            say("The ID token is right: issuer, audience, time\(words), and its \(algorithm) signature.")
        case .unchecked:
            say("The ID token is right: issuer, audience, time\(words). Its \(algorithm) signature is")
            say("not checked, because the token comes directly from the server.")
        }
        return token.subject
    }

    private func check(
        _ token: IDToken, nonce: String?, _ response: TokenResponse, subject: String? = nil
    ) throws(LoginError) {
        try IDTokenCheck(
            issuer: issuer.text, clientID: client.id, nonce: nonce, accessToken: response.accessToken,
            subject: subject
        ).check(token, at: now())
    }

    private func verdict(
        on token: IDToken, at server: ServerMetadata
    ) async throws(LoginError) -> IDTokenSignature.Verdict {
        guard IDTokenSignature.isVerifiable(token) else {
            return try IDTokenSignature.check(token, keySet: [])
        }
        guard let url = server.keySetURL else { return .unchecked }
        let response = try await transport.get(url)
        guard response.status == 200 else {
            throw LoginError(
                .serverUnreachable, "\(url) answered with status \(response.status); try again later")
        }
        return try IDTokenSignature.check(token, keySet: response.body)
    }

    /// Revokes the refresh token, which also ends its access tokens. Without a refresh token, revokes the
    /// access token (RFC 7009 §2.1).
    private func revoke(
        _ refreshToken: String?, or accessToken: String, at endpoint: String, of server: ServerMetadata
    ) async throws(LoginError) {
        let fields = [
            (name: "token", value: refreshToken ?? accessToken),
            ("token_type_hint", refreshToken == nil ? "access_token" : "refresh_token"),
        ]
        let response = try await transport.post(client.authenticate(fields, at: endpoint, of: server))
        guard response.status != 200 else { return }
        do throws(LoginError) {
            throw TokenResponse.failure(status: response.status, try? JSONValue(parsing: response.body))
        } catch  where error.code == .tokenInvalid {
            // Google sends this error if the token is already invalid, although the standard requires 200.
        }
    }

    private func report(_ tokens: KeptTokens) {
        say("Signed in.")
        if let subject = tokens.subject { say("  sub            \(subject.forTerminal())") }
        say(
            "  scope          \(tokens.scope?.forTerminal(limit: 2048) ?? "what the server gives this client")"
        )
        let end = tokens.expiresAt.map { "until \(RFC3339.text(milliseconds: $0 * 1000))" }
        say("  access token   Bearer, \(end ?? "the server does not say until when")")
        say("  refresh token  \(tokens.refreshToken == nil ? "none" : "kept")")
        say("  file           \(file.path)")
    }
}
