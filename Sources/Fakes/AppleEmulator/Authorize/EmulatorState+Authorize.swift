import Cryptography
public import EmulatorServer
import Encodings
import StrictJSON
import Synchronization

extension EmulatorState {
    /// Replaces the redirect URIs of a client ID's app. Throws `.clientIDUnknown`, `.redirectURIRefused` and
    /// `.tooManyRedirectURIs`.
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

    /// Stores the request in a query, and returns the page name that the page's forms send back.
    func open(_ query: FormFields) throws(OAuthError) -> (page: String, request: AuthorizationRequest) {
        try world.withLock { world throws(OAuthError) in
            let request = try AuthorizationRequest(
                query, apps: world.apps, now: clock.now() + world.clockOffset)
            let page = Base64URL.encode(SecureRandom.bytes(count: 24))
            world.openPages.insert(page, request, of: request.clientID)
            return (page, request)
        }
    }

    func openPage(_ page: String) throws(OAuthError) -> AuthorizationRequest {
        try world.withLock { world throws(OAuthError) in
            try world.openPage(page, at: clock.now() + world.clockOffset)
        }
    }

    func isFirstAuthorization(of user: EmulatedUser, clientID: String) -> Bool {
        world.withLock { $0.isFirstAuthorization(of: user, clientID: clientID) }
    }

    func authorize(
        _ page: String, by subject: String, sharing: Sharing
    ) async throws(OAuthError) -> AuthorizationResponse {
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
            token = try? await sign(claims.object, with: basis.keys, forgery: Forgery())
        }
        return AuthorizationResponse(
            to: request, [("code", code), ("id_token", token), ("user", user(for: request, basis))])
    }

    /// Cancels the sign-in: closes the page.
    func cancel(_ page: String) throws(OAuthError) -> AuthorizationResponse {
        let request = try world.withLock { world throws(OAuthError) in
            let request = try world.openPage(page, at: clock.now() + world.clockOffset)
            world.openPages.remove(page)
            world.counters.cancellations += 1
            return request
        }
        return AuthorizationResponse(to: request, [("error", "user_cancelled_authorize")])
    }

    /// Returns Apple's unsigned `user` object with the members that `scope` requests; `nil` except at the
    /// first authorization.
    private func user(for request: AuthorizationRequest, _ basis: IdentityTokenBasis) -> String? {
        guard basis.isFirstAuthorization, request.wantsName || request.wantsEmail else { return nil }
        var user = FirstTimeUser(basis.user, shownTo: basis.identity)
        if !request.wantsName { (user.firstName, user.lastName) = (nil, nil) }
        if !request.wantsEmail { user.email = nil }
        return String(decoding: user.json(), as: UTF8.self)
    }
}

/// The web flow: open pages and their outcomes.
extension EmulatedWorld {
    /// Lifetime of an open page in milliseconds.
    static let pageLifetime: Int64 = 600_000

    /// Returns the request that opened a page. Throws `invalid_request` for a page that is already completed,
    /// too old, or unknown.
    func openPage(_ name: String, at now: Int64) throws(OAuthError) -> AuthorizationRequest {
        guard let request = openPages[name], now - request.openedAt <= Self.pageLifetime else {
            throw OAuthError(
                .invalidRequest, "this page is already completed, or too old; start the sign-in again")
        }
        return request
    }

    /// Returns true if the user has not authorized the app yet. The page then asks which values to share.
    func isFirstAuthorization(of user: EmulatedUser, clientID: String) -> Bool {
        guard let app = app(of: clientID) else { return true }
        return !user.apps.contains(app.primaryClientID)
    }

    /// Allows the sign-in: closes the page, stores the user's consent and issues a code.
    mutating func authorize(
        _ page: String, by subject: String, code: String, sharing: Sharing, now: Int64
    ) throws(OAuthError) -> (request: AuthorizationRequest, basis: IdentityTokenBasis) {
        let request = try openPage(page, at: now)
        guard let position = try? users.find(subject).position, !users[position].isDeleted,
            let app = app(of: request.clientID)
        else {
            throw OAuthError(.invalidRequest, "there is no such account")
        }
        guard let key = try? keys.signingKey() else {
            throw OAuthError(.serverError, "every signing key is retired")
        }
        let isFirst = users[position].apps.insert(app.primaryClientID).inserted
        if isFirst {
            if request.wantsName, let name = sharing.name {
                (users[position].firstName, users[position].lastName) = (name.first, name.last)
            }
            if request.wantsEmail {
                users[position].hidesEmail = sharing.hidesEmail ?? users[position].hidesEmail
            } else {
                users[position].emailWithheldFrom.insert(app.primaryClientID)
            }
        }
        openPages.remove(page)
        counters.authorizations += 1
        issueCode(
            code, to: position, clientID: request.clientID, nonce: request.nonce,
            redirectURI: request.redirectURI,
            authenticatedAt: now / 1000, now: now, isFromWeb: true)
        let user = users[position]
        let basis = IdentityTokenBasis(
            user: user, identity: user.identity(for: app.teamID), clientID: request.clientID,
            isFirstAuthorization: isFirst, sharesEmail: !user.emailWithheldFrom.contains(app.primaryClientID),
            isFromWeb: true,
            transferSubject: transferSubject(ofTokenFor: position, clientID: request.clientID, at: now),
            keys: SigningKeys(key: key, other: nil))
        return (request, basis)
    }
}

/// The user's choices on the page when an app is first authorized. `nil` means no change.
struct Sharing {
    var name: (first: String?, last: String?)?
    var hidesEmail: Bool?
}
