import JOSE
import StrictJSON
import Synchronization

/// Signs client secrets when they are needed, and caches them for most of their lifetime: one for each client
/// ID and key.
public final class SignedClientSecrets: ClientSecretSource {
    private let teams: [String: String]
    private let keys: any SigningKeySource
    private let audience: String
    private let secondsSince1970: @Sendable () -> Int64
    private let cache = Mutex(ClientSecretCache())

    /// - Parameters:
    ///   - teams: The team of each client ID.
    ///   - secondsSince1970: The wall clock, because Apple compares the times with its own.
    public init(
        teams: [String: String], keys: any SigningKeySource,
        secondsSince1970: @escaping @Sendable () -> Int64, audience: String = "https://appleid.apple.com"
    ) {
        (self.teams, self.keys, self.audience) = (teams, keys, audience)
        self.secondsSince1970 = secondsSince1970
    }

    public func secrets(for clientID: String) throws(AppleCallError) -> [ClientSecret] {
        guard let team = teams[clientID] else { throw AppleCallError(.noSigningKey, detail: "no team") }
        let keys = keys.keys(ofTeam: team)
        guard !keys.isEmpty else { throw AppleCallError(.noSigningKey) }
        let now = secondsSince1970()
        // Signing takes 0.1 ms and happens rarely, so one lock for all client IDs is enough.
        return try cache.withLock { cache throws(AppleCallError) in
            var secrets: [ClientSecret] = []
            for key in cache.order(keys, for: clientID) {
                if let secret = cache.secret(of: key, for: clientID, at: now) {
                    secrets.append(secret)
                } else {
                    let secret = try sign(with: key, team: team, clientID: clientID, at: now)
                    cache.put(secret, of: key, for: clientID, at: now, keys: keys)
                    secrets.append(secret)
                }
            }
            return secrets
        }
    }

    public func accepted(_ secret: ClientSecret, for clientID: String) {
        cache.withLock { $0.accept(keyID: secret.keyID, for: clientID) }
    }

    private func sign(
        with key: ClientSigningKey, team: String, clientID: String, at now: Int64
    ) throws(AppleCallError) -> ClientSecret {
        let issuedAt = now.subtractingReportingOverflow(ClientSecretCache.backdating)
        let expiresAt = now.addingReportingOverflow(ClientSecretCache.life)
        guard !issuedAt.overflow, !expiresAt.overflow else {
            throw AppleCallError(.signingFailed, detail: "clock")
        }
        let claims = JSONObject([
            ("iss", .string(team)), ("iat", .integer(issuedAt.partialValue)),
            ("exp", .integer(expiresAt.partialValue)), ("aud", .string(audience)), ("sub", .string(clientID)),
        ])
        do throws(JOSEError) {
            return ClientSecret(text: try key.sign(claims), keyID: key.keyID)
        } catch {
            throw AppleCallError(.signingFailed, detail: error.detail)
        }
    }
}
