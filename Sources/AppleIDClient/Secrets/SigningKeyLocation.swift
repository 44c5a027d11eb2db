/// Where a team's signing keys are.
public enum SigningKeyLocation: Sendable, Equatable {
    case key(ClientSigningKey)
    /// One key in a file. Without an ID the file is named as Apple names it: `AuthKey_<KEYID>.p8`.
    case file(path: String, keyID: String?)
    /// Every file in it that is named `AuthKey_<KEYID>.p8`; others are not looked at.
    case directory(path: String)

    /// The key ID in the name of a file, as Apple names it.
    public static func keyID(inFileName path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        let keyID = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
        return ClientSigningKey.isKeyID(keyID) ? keyID : nil
    }
}
