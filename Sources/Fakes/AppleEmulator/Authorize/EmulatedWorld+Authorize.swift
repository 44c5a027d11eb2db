import Cryptography
import Encodings

/// The web flow: open pages, and their results.
extension EmulatedWorld {
    /// Milliseconds for which a page may stay open.
    static let pageLifetime: Int64 = 600_000

    /// Stores the request and returns the name that the page's forms send back.
    mutating func open(_ request: AuthorizationRequest) -> String {
        let name = Base64URL.encode(SecureRandom.bytes(count: 24))
        openPages.insert(name, request, of: request.clientID)
        return name
    }

    /// Throws `invalid_request` for a page that is already completed, too old, or unknown.
    func openPage(_ name: String, at now: Int64) throws(OAuthError) -> AuthorizationRequest {
        guard let request = openPages[name], now - request.openedAt <= Self.pageLifetime else {
            throw OAuthError(
                .invalidRequest, "this page is already completed, or too old; start the sign-in again")
        }
        return request
    }

    /// True if the user has not authorized the app yet. The page then asks what to share.
    func isFirstAuthorization(of position: Int, clientID: String) -> Bool {
        guard let app = app(of: clientID) else { return true }
        return !users[position].apps.contains(app.primaryClientID)
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

    /// Cancels the sign-in: closes the page.
    mutating func cancel(_ page: String, at now: Int64) throws(OAuthError) -> AuthorizationRequest {
        let request = try openPage(page, at: now)
        openPages.remove(page)
        counters.cancellations += 1
        return request
    }
}

/// The choices of a user on the page when they authorize an app for the first time. `nil` means no change.
struct Sharing: Equatable {
    struct Name: Equatable {
        let first: String?
        let last: String?
    }

    var name: Name?
    var hidesEmail: Bool?
}
