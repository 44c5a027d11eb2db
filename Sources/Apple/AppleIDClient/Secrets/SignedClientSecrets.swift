import JOSE
import StrictJSON
import Synchronization

/// Signs client secrets on demand, one per client ID and key, and caches them for most of their lifetime.
public final class SignedClientSecrets: ClientSecretSource {
    private let teams: [String: String]
    private let keys: any SigningKeySource
    private let audience: String
    private let secondsSince1970: @Sendable () -> Int64
    private let cache = Mutex(ClientSecretCache())

    /// - Parameters:
    ///   - teams: The team ID for each client ID.
    ///   - secondsSince1970: The wall clock, because Apple compares the times with its own clock.
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
        // Signing takes 0.1 ms and happens rarely, so a single lock for all client IDs is enough.
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

/// Provides client secrets.
public protocol ClientSecretSource: Sendable {
    /// Returns valid secrets for a client ID, one for each of its team's keys, in the order to try them.
    /// Never empty. Throws `.noSigningKey` if the team has no key, and `.signingFailed` if signing fails.
    func secrets(for clientID: String) throws(AppleCallError) -> [ClientSecret]

    /// Reports that Apple accepted this secret, so that later calls try its key first.
    func accepted(_ secret: ClientSecret, for clientID: String)
}

/// A client secret: the JWT that authenticates a team and client ID to Apple. Its descriptions show the key
/// ID, never the JWT.
public struct ClientSecret: Sendable, Equatable {
    /// The compact JWT.
    public let text: String
    /// The ID of the key that signed the secret.
    public let keyID: String

    public init(text: String, keyID: String) {
        (self.text, self.keyID) = (text, keyID)
    }
}

extension ClientSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "client secret of key \(keyID)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}

/// The cached client secrets, and the order to try them. The cache only decides: it signs nothing and reads
/// no clock.
struct ClientSecretCache {
    /// Lifetime of a secret, in seconds. Apple allows half a year, but an hour limits the use of a stolen
    /// secret.
    static let life: Int64 = 3600
    /// `iat` is set back by this many seconds, because clocks differ and Apple refuses an `iat` in the
    /// future.
    static let backdating: Int64 = 60
    /// Remaining lifetime, in seconds, below which a cached secret is no longer used, so that no secret
    /// expires during a call even if the clock is behind.
    static let reserve: Int64 = 900

    private struct Entry {
        let key: ClientSigningKey
        let clientID: String
        let secret: ClientSecret
        let issuedAt: Int64
    }

    private var entries: [Entry] = []
    /// The accepted key for each client ID. A team can have several
    /// keys, because Apple assigns each one to a primary App ID.
    private var acceptedKeyIDs: [String: String] = [:]

    /// Returns the keys in the order to try them: first the key that Apple accepted last, then the newest
    /// keys.
    func order(_ keys: [ClientSigningKey], for clientID: String) -> [ClientSigningKey] {
        guard let accepted = acceptedKeyIDs[clientID] else { return keys }
        return keys.filter { $0.keyID == accepted } + keys.filter { $0.keyID != accepted }
    }

    /// Returns a cached secret that can still be used; `nil` if there is none. A secret from the future,
    /// which exists after the clock was set back, is not used.
    func secret(of key: ClientSigningKey, for clientID: String, at now: Int64) -> ClientSecret? {
        let entry = entries.first { $0.clientID == clientID && $0.key == key }
        guard let entry, now >= entry.issuedAt, now - entry.issuedAt < Self.life - Self.reserve else {
            return nil
        }
        return entry.secret
    }

    /// Replaces this key's secret for the client ID, and drops secrets whose keys are no longer in `keys`.
    mutating func put(
        _ secret: ClientSecret, of key: ClientSigningKey, for clientID: String, at now: Int64,
        keys: [ClientSigningKey]
    ) {
        entries.removeAll { entry in
            entry.clientID == clientID && (entry.key.keyID == key.keyID || !keys.contains(entry.key))
        }
        entries.append(Entry(key: key, clientID: clientID, secret: secret, issuedAt: now))
    }

    mutating func accept(keyID: String, for clientID: String) {
        acceptedKeyIDs[clientID] = keyID
    }
}
