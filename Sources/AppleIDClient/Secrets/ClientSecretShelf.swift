/// Which client secrets are at hand and which of them to try first. Decides; signs nothing and reads no clock.
struct ClientSecretShelf {
    /// How long a secret is good for, in seconds. Apple allows half a year; an hour makes a stolen one worth little.
    static let life: Int64 = 3600
    /// The issuing moment is put this many seconds into the past: Apple refuses one in the future, and clocks differ.
    static let backdating: Int64 = 60
    /// A secret with less life than this many seconds left is not used again, so that none ends on its way, also when the
    /// clock is behind.
    static let reserve: Int64 = 900

    private struct Entry {
        let key: ClientSigningKey
        let clientID: String
        let secret: ClientSecret
        let issuedAt: Int64
    }

    private var entries: [Entry] = []
    /// By client ID: keys belong to a primary App ID at Apple, and a team can have several.
    private var acceptedKeyIDs: [String: String] = [:]

    /// The keys in the order in which to try them: the one that Apple took last, then the newest first.
    func order(_ keys: [ClientSigningKey], for clientID: String) -> [ClientSigningKey] {
        guard let accepted = acceptedKeyIDs[clientID] else { return keys }
        return keys.filter { $0.keyID == accepted } + keys.filter { $0.keyID != accepted }
    }

    /// A secret that can still be used. A clock that was set back makes one unusable, because it would be from the future.
    func secret(of key: ClientSigningKey, for clientID: String, at now: Int64) -> ClientSecret? {
        let entry = entries.first { $0.clientID == clientID && $0.key == key }
        guard let entry, now >= entry.issuedAt, now - entry.issuedAt < Self.life - Self.reserve else {
            return nil
        }
        return entry.secret
    }

    /// Replaces the client ID's secrets of this key, and drops those of keys that it no longer has.
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
