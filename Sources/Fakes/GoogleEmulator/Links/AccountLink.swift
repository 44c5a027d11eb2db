import EmulatorServer
import StrictJSON

/// A link between a Google account and an account in the app, or a failed attempt to link them.
public struct AccountLink: Sendable, Equatable, Codable {
    /// The way that the accounts are linked.
    public enum Mode: String, Sendable, CaseIterable, Codable {
        case browser
        case appFlip = "app_flip"
        case streamlined
    }

    public enum Status: Sendable, Equatable, Codable {
        case linked
        /// Value of `error` in the authorization response, or in the token endpoint's response.
        case failed(error: String)
        /// The user unlinked in the Google app.
        case unlinkedByGoogle
        /// The server's security event reported that the refresh token has ended.
        case unlinkedByService
        /// The token endpoint returned `invalid_grant`.
        case refused

        /// The state's name in the control API.
        package var word: String {
            switch self {
            case .linked: "linked"
            case .failed: "failed"
            case .unlinkedByGoogle: "unlinked_by_google"
            case .unlinkedByService: "unlinked_by_service"
            case .refused: "refused"
            }
        }
    }

    public let id: String
    public let mode: Mode
    public internal(set) var status: Status
    /// The Google account, which is the `sub` of the ID token in streamlined linking.
    public internal(set) var subject: String?
    public internal(set) var scope: String?
    public internal(set) var accessToken: String?
    /// Expiry of the access token in seconds since 1970.
    public internal(set) var expiresAt: Int64?
    public internal(set) var refreshToken: String?
    /// State of the access token, as last reported by the app's API.
    public internal(set) var isActive: Bool?
    /// The account in the app, which is the `sub` in the introspection response.
    public internal(set) var account: String?

    /// True if Google continues in the browser after this App Flip error.
    public var goesOnInBrowser: Bool {
        guard case .failed(let error) = status, mode == .appFlip else { return false }
        return error == "cancelled" || error == "invalid_request"
    }
}

/// A started link, with the values of Google's authorization request.
struct BegunLink: Sendable, Equatable, Codable {
    let state: String
    let mode: AccountLink.Mode
    /// Redirect URI, which the token request must repeat.
    let redirectURI: String
    let scope: String
    let userLocale: String?
    let loginHint: String?
    /// Value of `code_verifier` (RFC 7636 §4.1); `nil` if the link does not use PKCE.
    let verifier: String?
}

/// All links. Drops the oldest links to stay within its limit, and does no I/O.
struct LinkBook: Sendable, Codable {
    static let capacity = 100

    private(set) var links: [AccountLink] = []
    private var begun: [BegunLink] = []
    private var lastID = 0

    mutating func begin(_ link: BegunLink) {
        if begun.count >= Self.capacity { begun.removeFirst() }
        begun.append(link)
    }

    /// Removes and returns the started link with this `state`.
    mutating func takeBegun(_ state: String) -> BegunLink? {
        begun.firstIndex { $0.state == state }.map { begun.remove(at: $0) }
    }

    func begun(_ state: String) -> BegunLink? { begun.first { $0.state == state } }

    /// Adds a link with a new ID.
    @discardableResult
    mutating func add(_ mode: AccountLink.Mode, _ status: AccountLink.Status) -> AccountLink {
        lastID += 1
        if links.count >= Self.capacity { links.removeFirst() }
        let link = AccountLink(id: String(lastID), mode: mode, status: status)
        links.append(link)
        return link
    }

    /// - Parameter id: ID of the link; `nil` for the newest link.
    func link(_ id: String?) throws(EmulatorError) -> AccountLink {
        guard let link = id == nil ? links.last : links.first(where: { $0.id == id }) else {
            throw EmulatorError(.linkNotFound, detail: id == nil ? "there is no link yet" : "")
        }
        return link
    }

    /// Changes a link. Does nothing if the link is no longer stored.
    mutating func change(_ id: String, _ body: (inout AccountLink) -> Void) {
        guard let index = links.firstIndex(where: { $0.id == id }) else { return }
        body(&links[index])
    }

    mutating func clear() { (links, begun) = ([], []) }
}

/// The tokens in a token endpoint response (RFC 6749 §5.1). Their sizes are limited, because they are stored.
struct LinkTokens: Sendable, Equatable {
    /// Maximum token size in bytes.
    static let longestToken = 16 * 1024
    /// Maximum scope size in bytes.
    static let longestScope = 2048

    let accessToken: String
    let refreshToken: String?
    let scope: String?
    /// Lifetime in seconds. It is limited to a century, so that later time arithmetic cannot overflow.
    let lifetime: Int64?

    /// Reads a response. Returns `nil` if it has no access token or its values are too long.
    init?(_ json: JSONValue) {
        guard let token = json["access_token"]?.string, (1...Self.longestToken).contains(token.utf8.count)
        else { return nil }
        (accessToken, refreshToken) = (token, json["refresh_token"]?.string)
        scope = json["scope"]?.string
        lifetime = json["expires_in"]?.integer.map { min(max(0, $0), 3_155_760_000) }
        guard refreshToken?.utf8.count ?? 0 <= Self.longestToken, scope?.utf8.count ?? 0 <= Self.longestScope
        else { return nil }
    }
}

extension AccountLink {
    /// - Parameter now: Seconds since 1970.
    mutating func update(with tokens: LinkTokens, at now: Int64) {
        accessToken = tokens.accessToken
        expiresAt = tokens.lifetime.map { now + $0 }
        refreshToken = tokens.refreshToken ?? refreshToken
        scope = tokens.scope ?? scope
    }
}
