import Encodings
import StrictJSON

/// All valid codes and tokens. Used, expired and revoked codes and tokens are not stored, because they get
/// the same response as an unknown value.
struct GrantRegistry: Codable {
    /// A consent, with one of the client IDs that use it.
    struct Session: Hashable, Codable {
        let consent: Consent
        let clientID: String
    }

    /// Number of requests from a client, by kind, for tests.
    struct Usage: Equatable, Codable {
        var exchanges = 0
        var refreshes = 0
        var throttled = 0
    }

    private(set) var codes = TokenTable<Consent, IssuedCode>(capacity: 20_000)
    private(set) var refreshTokens = TokenTable<Consent, Authorization>(capacity: 100_000)
    private(set) var accessTokens = TokenTable<Consent, IssuedAccessToken>(capacity: 20_000)
    private(set) var migrationTokens = TokenTable<String, MigrationToken>(capacity: 1000)
    /// Time of the last successful refresh token validation, in milliseconds since 1970. Apple throttles by
    /// user and client, not by token.
    private var refreshedAt: [Session: Int64] = [:]
    private var usage: [Session: Usage] = [:]

    mutating func issue(_ code: IssuedCode, as secret: String) {
        codes.insert(secret, code, of: code.authorization.consent)
    }

    /// Redeems a code, only once. Throws `invalid_grant` if the code is unknown or expired, or was issued to
    /// another client or redirect URI. In the latter two cases it stays valid.
    mutating func redeemCode(
        _ secret: String, clientID: String, redirectURI: String?, lifetime: Int64, now: Int64
    ) throws(OAuthError) -> Authorization {
        guard let code = codes[secret] else {
            throw OAuthError(.invalidGrant, "the code is unknown, used or revoked")
        }
        guard code.authorization.clientID.isByteEqual(to: clientID) else {
            throw OAuthError(.invalidGrant, "the code was issued to another client_id")
        }
        guard Self.areEqual(code.redirectURI, redirectURI) else {
            throw OAuthError(
                .invalidGrant, "redirect_uri differs from the one of the authorization request")
        }
        codes.remove(secret)
        guard now - code.issuedAt <= lifetime else {
            throw OAuthError(.invalidGrant, "the code has expired")
        }
        usage[Session(consent: code.authorization.consent, clientID: clientID), default: Usage()].exchanges +=
            1
        return code.authorization
    }

    mutating func issueTokens(for authorization: Authorization, at now: Int64) -> (
        access: String, refresh: String
    ) {
        let refresh = Self.secret("r")
        refreshTokens.insert(refresh, authorization, of: authorization.consent)
        return (issueAccessToken(for: authorization, at: now), refresh)
    }

    mutating func issueAccessToken(for authorization: Authorization, at now: Int64) -> String {
        let access = Self.secret("a")
        let issued = IssuedAccessToken(clientID: authorization.clientID, issuedAt: now)
        accessTokens.insert(access, issued, of: authorization.consent)
        return access
    }

    mutating func issueMigrationToken(teamID: String, clientID: String, at now: Int64) -> String {
        let token = Self.secret("a")
        migrationTokens.insert(
            token, MigrationToken(teamID: teamID, clientID: clientID, issuedAt: now), of: teamID)
        return token
    }

    /// Validates a refresh token. Throws `invalid_grant` if the token is unknown or another client's, and
    /// `throttled` if less than `interval` milliseconds have passed since the last validation.
    mutating func refresh(
        _ token: String, clientID: String, interval: Int64, now: Int64
    ) throws(OAuthError) -> Authorization {
        guard let authorization = refreshTokens[token] else {
            throw OAuthError(.invalidGrant, "the refresh token is unknown or revoked")
        }
        guard authorization.clientID.isByteEqual(to: clientID) else {
            throw OAuthError(.invalidGrant, "the refresh token was issued to another client_id")
        }
        let session = Session(consent: authorization.consent, clientID: clientID)
        if let last = refreshedAt[session], now - last < interval {
            usage[session, default: Usage()].throttled += 1
            throw OAuthError(
                .throttled, "this user was validated less than \(interval / 1000) s ago",
                retryAfter: (interval - (now - last) + 999) / 1000)
        }
        refreshedAt[session] = now
        usage[session, default: Usage()].refreshes += 1
        return authorization
    }

    /// Returns the consent behind a refresh or access token, if the token was issued to this client.
    func consent(of token: String, clientID: String) -> Consent? {
        if let authorization = refreshTokens[token] {
            return authorization.clientID.isByteEqual(to: clientID) ? authorization.consent : nil
        }
        guard let access = accessTokens[token], access.clientID.isByteEqual(to: clientID) else { return nil }
        return accessTokens.owner(of: token)
    }

    /// Removes all codes and tokens that belong to a consent. As at Apple, throttling continues, even after a
    /// new consent.
    mutating func end(_ consent: Consent) {
        codes.removeAll(of: consent)
        refreshTokens.removeAll(of: consent)
        accessTokens.removeAll(of: consent)
    }

    mutating func end(where isGone: (Consent) -> Bool) {
        codes.removeAll(where: isGone)
        refreshTokens.removeAll(where: isGone)
        accessTokens.removeAll(where: isGone)
    }

    func usage(of consent: Consent, clientID: String) -> Usage {
        usage[Session(consent: consent, clientID: clientID)] ?? Usage()
    }

    func codes(of consent: Consent, clientID: String) -> Int {
        codes.values(of: consent).count { $0.authorization.clientID == clientID }
    }

    func refreshTokens(of consent: Consent, clientID: String) -> Int {
        refreshTokens.values(of: consent).count { $0.clientID == clientID }
    }

    mutating func forgetUsage() { usage = [:] }

    private static func areEqual(_ lhs: String?, _ rhs: String?) -> Bool {
        switch (lhs, rhs) {
        case (nil, nil): true
        case (let lhs?, let rhs?): lhs.isByteEqual(to: rhs)
        case (nil, _?), (_?, nil): false
        }
    }

    /// Returns a random secret in Apple's format.
    private static func secret(_ prefix: Character) -> String {
        BoundSecret.made.value(prefix: prefix) ?? ""
    }
}

/// The sign-in that a code and its tokens come from.
struct Authorization: Equatable, Codable {
    let consent: Consent
    /// The client ID that the code was issued to. No other client ID may use the code.
    let clientID: String
    let nonce: String?
    /// Value of `auth_time`, in seconds since 1970.
    let authenticatedAt: Int64
    /// True if the user signed in on a web page; `nil` if loaded from an old state file.
    var isFromWeb: Bool?
}

/// One user's consent to one app. Codes and tokens belong to a consent, and end with it.
struct Consent: Hashable, Codable {
    /// The user's position in the directory.
    let position: Int
    /// The app's primary client ID.
    let app: String
}

/// An Apple code that has not been exchanged yet.
struct IssuedCode: Equatable, Codable {
    let authorization: Authorization
    /// The web flow's redirect URI; `nil` for a native app.
    let redirectURI: String?
    /// Issue time in milliseconds since 1970.
    let issuedAt: Int64
}

/// A user's access token. Apple accepts it only at `/auth/revoke`.
struct IssuedAccessToken: Equatable, Codable {
    let clientID: String
    /// Issue time in milliseconds since 1970.
    let issuedAt: Int64
}

/// A team's access token, from the `client_credentials` grant, for `/auth/usermigrationinfo`.
struct MigrationToken: Equatable, Codable {
    let teamID: String
    let clientID: String
    /// Issue time in milliseconds since 1970.
    let issuedAt: Int64
}
