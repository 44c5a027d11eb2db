/// The cached client secrets, and the order in which to try them. The type only decides: it signs nothing and
/// reads no clock.
struct ClientSecretCache {
    /// The lifetime of a secret in seconds. Apple allows half a year; an hour limits the use of a stolen
    /// secret.
    static let life: Int64 = 3600
    /// `iat` is set this many seconds into the past, because Apple refuses an `iat` in the future, and clocks
    /// differ.
    static let backdating: Int64 = 60
    /// A secret that expires in less than this many seconds is not used any more, so that none expires during
    /// a call, even when the clock is behind.
    static let reserve: Int64 = 900

    private struct Entry {
        let key: ClientSigningKey
        let clientID: String
        let secret: ClientSecret
        let issuedAt: Int64
    }

    private var entries: [Entry] = []
    /// Accepted key by client ID, because Apple assigns a key to a primary App ID, and a team can have
    /// several.
    private var acceptedKeyIDs: [String: String] = [:]

    /// Returns the keys in the order in which to try them: first the key that Apple accepted last, then the
    /// newest.
    func order(_ keys: [ClientSigningKey], for clientID: String) -> [ClientSigningKey] {
        guard let accepted = acceptedKeyIDs[clientID] else { return keys }
        return keys.filter { $0.keyID == accepted } + keys.filter { $0.keyID != accepted }
    }

    /// Returns a cached secret that can still be used. After the clock was set back, a cached secret would be
    /// from the future and is not used.
    func secret(of key: ClientSigningKey, for clientID: String, at now: Int64) -> ClientSecret? {
        let entry = entries.first { $0.clientID == clientID && $0.key == key }
        guard let entry, now >= entry.issuedAt, now - entry.issuedAt < Self.life - Self.reserve else {
            return nil
        }
        return entry.secret
    }

    /// Replaces the client ID's secret of this key, and drops the secrets of keys that are no longer in
    /// `keys`.
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
