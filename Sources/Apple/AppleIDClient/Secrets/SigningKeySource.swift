/// Provides the keys that sign client secrets.
public protocol SigningKeySource: Sendable {
    /// Returns the current keys of a team, the newest first; empty when there is none. It may read local
    /// files, but does nothing slower.
    func keys(ofTeam team: String) -> [ClientSigningKey]
}

/// The location of a team's signing keys.
public enum SigningKeyLocation: Sendable, Equatable {
    case key(ClientSigningKey)
    /// One key in a file. Without a key ID, the file must have Apple's name: `AuthKey_<KEYID>.p8`.
    case file(path: String, keyID: String?)
    /// All files in a directory with a name like `AuthKey_<KEYID>.p8`; other files are ignored.
    case directory(path: String)

    /// Returns the key ID in a file name like `AuthKey_<KEYID>.p8`.
    public static func keyID(inFileName path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        let keyID = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
        return ClientSigningKey.isKeyID(keyID) ? keyID : nil
    }
}
