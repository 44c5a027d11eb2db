/// The cached access tokens for the migration endpoint, by client ID.
struct MigrationAccess {
    private var held: [String: (token: String, until: Duration)] = [:]

    /// Returns a token that does not expire soon.
    func token(for clientID: String, at now: Duration) -> String? {
        guard let entry = held[clientID], now < entry.until else { return nil }
        return entry.token
    }

    /// Caches a token for 90% of its lifetime, so that none expires during a call.
    mutating func put(_ grant: TokenGrant, for clientID: String, at now: Duration) {
        held[clientID] = (grant.accessToken, now + grant.expiresIn * 9 / 10)
    }

    mutating func drop(_ token: String, for clientID: String) {
        if held[clientID]?.token == token { held[clientID] = nil }
    }
}
