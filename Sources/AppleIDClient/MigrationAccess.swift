/// The access tokens for the migration endpoint, by client ID.
struct MigrationAccess {
    private var held: [String: (token: String, until: Duration)] = [:]

    /// A token that will be good for a while.
    func token(for clientID: String, at now: Duration) -> String? {
        guard let entry = held[clientID], now < entry.until else { return nil }
        return entry.token
    }

    /// Keeps a token for all but a tenth of its life, so that none ends on its way.
    mutating func put(_ grant: TokenGrant, for clientID: String, at now: Duration) {
        held[clientID] = (grant.accessToken, now + grant.expiresIn * 9 / 10)
    }

    mutating func drop(_ token: String, for clientID: String) {
        if held[clientID]?.token == token { held[clientID] = nil }
    }
}
