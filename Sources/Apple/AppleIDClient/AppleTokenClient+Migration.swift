import StrictJSON
import Synchronization

extension AppleTokenClient {
    public func transferSubject(of subject: String, to recipientTeam: String, clientID: String)
        async throws(AppleCallError) -> String
    {
        let fields = [(name: "sub", value: subject), (name: "target", value: recipientTeam)]
        return try await migrate(fields, clientID: clientID) { response throws(AppleCallError) in
            guard let transferSubject = try response.json()["transfer_sub"]?.string,
                (1...255).contains(transferSubject.utf8.count)
            else { throw AppleCallError(.responseUnusable, detail: "no transfer_sub") }
            return transferSubject
        }
    }

    public func recipient(ofTransferSubject transferSubject: String, clientID: String)
        async throws(AppleCallError) -> MigratedUser
    {
        try await migrate(
            [(name: "transfer_sub", value: transferSubject)], clientID: clientID, read: MigratedUser.init)
    }

    private func migrate<Result: Sendable>(
        _ fields: [(name: String, value: String)], clientID: String,
        read: (AppleResponse) throws(AppleCallError) -> Result
    ) async throws(AppleCallError) -> Result {
        try await repeating { () async throws(AppleCallError) in
            if let held = migrationAccess.withLock({ $0.token(for: clientID, at: uptime()) }) {
                do throws(AppleCallError) {
                    return try await call(.migration, fields, clientID: clientID, bearer: held, read: read)
                } catch {
                    // Apple has no separate error for an access token that has expired early. So the call is
                    // made again with a new token; if the refusal concerned the user, Apple repeats it.
                    guard error.code == .rejected,
                        [.invalidClient, .invalidGrant, .other].contains(error.appleError)
                    else { throw error }
                    migrationAccess.withLock { $0.drop(held, for: clientID) }
                }
            }
            let token = try await migrationToken(for: clientID)
            return try await call(.migration, fields, clientID: clientID, bearer: token, read: read)
        }
    }

    /// Requests a new access token for the migration endpoint (`client_credentials`).
    private func migrationToken(for clientID: String) async throws(AppleCallError) -> String {
        let fields = [
            (name: "grant_type", value: "client_credentials"), (name: "scope", value: "user.migration"),
        ]
        let token = try await call(.token, fields, clientID: clientID, read: AppleTokenResponse.init)
        migrationAccess.withLock { $0.put(token, for: clientID, at: uptime()) }
        return token.accessToken
    }
}

/// The cached access tokens for the migration endpoint, by client ID.
struct MigrationAccess {
    private var held: [String: (token: String, until: Duration)] = [:]

    /// Returns a token that does not expire soon.
    func token(for clientID: String, at now: Duration) -> String? {
        guard let entry = held[clientID], now < entry.until else { return nil }
        return entry.token
    }

    /// Caches a token for 90% of its lifetime, so that none expires during a call.
    mutating func put(_ token: AppleTokenResponse, for clientID: String, at now: Duration) {
        held[clientID] = (token.accessToken, now + token.expiresIn * 9 / 10)
    }

    mutating func drop(_ token: String, for clientID: String) {
        if held[clientID]?.token == token { held[clientID] = nil }
    }
}
