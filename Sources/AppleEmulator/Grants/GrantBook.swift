import Encodings
import StrictJSON

/// Every code and token that is alive. What is used up, expired for good or revoked is not kept: an unknown token and a
/// dead one get the same answer.
struct GrantBook: Codable {
    /// One client's use of one consent.
    struct Session: Hashable, Codable {
        let consent: Consent
        let clientID: String
    }

    /// How often a client asked for what, for tests that count.
    struct Usage: Equatable, Codable {
        var exchanges = 0
        var refreshes = 0
        var throttled = 0
    }

    private(set) var codes = TokenTable<Consent, IssuedCode>(capacity: 20_000)
    private(set) var refreshTokens = TokenTable<Consent, Authorization>(capacity: 100_000)
    private(set) var accessTokens = TokenTable<Consent, IssuedAccessToken>(capacity: 20_000)
    private(set) var migrationTokens = TokenTable<String, MigrationToken>(capacity: 1000)
    /// When the refresh grant last answered, in milliseconds. One person is throttled for one client, whatever token.
    private var refreshedAt: [Session: Int64] = [:]
    private var usage: [Session: Usage] = [:]

    mutating func issue(_ code: IssuedCode, as secret: String) {
        codes.insert(secret, code, of: code.authorization.consent)
    }

    /// Uses the code up. Throws `invalid_grant`, and leaves a code alone that another client asks for.
    mutating func takeCode(
        _ secret: String, clientID: String, redirectURI: String?, lifetime: Int64, now: Int64
    ) throws(OAuthRefusal) -> Authorization {
        guard let code = codes[secret] else {
            throw OAuthRefusal(.invalidGrant, "the code is unknown, used or revoked")
        }
        guard code.authorization.clientID.isByteEqual(to: clientID) else {
            throw OAuthRefusal(.invalidGrant, "the code was issued to another client_id")
        }
        guard Self.areEqual(code.redirectURI, redirectURI) else {
            throw OAuthRefusal(.invalidGrant, "redirect_uri is not the one that the code was issued with")
        }
        codes.remove(secret)
        guard now - code.issuedAt <= lifetime else {
            throw OAuthRefusal(.invalidGrant, "the code has expired")
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

    /// Validates a session, at most once in `interval` milliseconds. Throws `invalid_grant` and `throttled`.
    mutating func refresh(
        _ token: String, clientID: String, interval: Int64, now: Int64
    ) throws(OAuthRefusal) -> Authorization {
        guard let authorization = refreshTokens[token] else {
            throw OAuthRefusal(.invalidGrant, "the refresh token is unknown or revoked")
        }
        guard authorization.clientID.isByteEqual(to: clientID) else {
            throw OAuthRefusal(.invalidGrant, "the refresh token was issued to another client_id")
        }
        let session = Session(consent: authorization.consent, clientID: clientID)
        if let last = refreshedAt[session], now - last < interval {
            usage[session, default: Usage()].throttled += 1
            throw OAuthRefusal(
                .throttled, "this person was validated less than \(interval / 1000) s ago",
                retryAfter: (interval - (now - last) + 999) / 1000)
        }
        refreshedAt[session] = now
        usage[session, default: Usage()].refreshes += 1
        return authorization
    }

    /// The consent that a token hangs on, when it is this client's. A token of a person, of either kind.
    func consent(of token: String, clientID: String) -> Consent? {
        if let authorization = refreshTokens[token] {
            return authorization.clientID.isByteEqual(to: clientID) ? authorization.consent : nil
        }
        guard let access = accessTokens[token], access.clientID.isByteEqual(to: clientID) else { return nil }
        return accessTokens.owner(of: token)
    }

    /// Ends codes and tokens alike. The throttle outlives them: a new consent does not make Apple more patient.
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
        default: false
        }
    }

    /// In the form of Apple's.
    private static func secret(_ prefix: Character) -> String {
        BoundSecret.made.value(prefix: prefix) ?? ""
    }
}
